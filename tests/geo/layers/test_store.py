"""The cache of layers: the same content is read once, any change makes a new version."""

from pathlib import Path

import geopandas as gpd
import numpy as np
import pytest
import shapely

from foresail.geo.errors import LayerReadError
from foresail.geo.layers.spec import LayerSpec
from foresail.geo.layers.store import read_layer, read_layers


def spec_in(folder: Path, shapes: list, **more: object) -> LayerSpec:
    file = folder / "zones.geojson"
    gpd.GeoDataFrame({"name": list("abcdef")[: len(shapes)]}, geometry=shapes, crs=4326).to_file(file)
    return LayerSpec(name="zones", kind="zone", file=file, **more)


def test_a_layer_is_read_once_and_found_again(tmp_path: Path) -> None:
    spec = spec_in(tmp_path, [shapely.box(0, 0, 1, 1)])
    said: list[str] = []
    first = read_layer(spec, tmp_path / "cache", said.append)
    again = read_layer(spec, tmp_path / "cache", said.append)
    assert first == again
    assert said == ["reading layer 'zones' (zones.geojson)"]
    assert list(gpd.read_parquet(first.folder / "features.parquet")["name"]) == ["a"]


def test_the_version_follows_content_and_declaration_not_the_path(tmp_path: Path) -> None:
    spec = spec_in(tmp_path, [shapely.box(0, 0, 1, 1)])
    version = read_layer(spec, tmp_path / "cache").version
    moved = tmp_path / "elsewhere.geojson"
    moved.write_bytes(spec.file.read_bytes())
    assert read_layer(spec.model_copy(update={"file": moved}), tmp_path / "cache").version == version
    assert read_layer(spec.model_copy(update={"radius_m": 5.0}), tmp_path / "cache").version != version
    assert read_layer(spec_in(tmp_path, [shapely.box(0, 0, 1, 2)]), tmp_path / "cache").version != version


def test_a_stored_index_answers_like_a_fresh_one(tmp_path: Path) -> None:
    layer = read_layer(spec_in(tmp_path, [shapely.box(0, 0, 1, 1), shapely.Point(3, 3)]), tmp_path / "cache")
    answer = layer.index.answer(np.array([0.5, 2.9]), np.array([0.5, 3.0]))
    assert answer.feature.tolist() == [0, 1]
    assert answer.inside.tolist() == [True, False]
    assert layer.size_bytes > 0


def test_a_shapefile_without_its_projection_changes_version_and_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "z.shp"
    gpd.GeoDataFrame({"name": ["a"]}, geometry=[shapely.box(0, 0, 1, 1)], crs=4326).to_file(file)
    spec = LayerSpec(name="zones", kind="zone", file=file)
    assert read_layer(spec, tmp_path / "cache").report.features == 1
    file.with_suffix(".prj").unlink()
    with pytest.raises(Exception, match="does not say its coordinate reference system"):
        read_layer(spec, tmp_path / "cache")


def test_a_refused_layer_leaves_nothing_in_the_cache(tmp_path: Path) -> None:
    file = tmp_path / "z.geojson"
    file.write_text('{"type": "FeatureCollection", "features": []}', encoding="utf-8")
    with pytest.raises(LayerReadError, match="holds no features"):
        read_layer(LayerSpec(name="z", kind="z", file=file), tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.shared_data
def test_the_real_layers_load_with_their_known_sizes(tmp_path: Path, shared_data: Path) -> None:
    layers = shared_data / "layers"
    (tmp_path / "layers.yaml").write_text(
        f"""layers:
- {{name: ports, kind: port, file: {layers}/wpi_UpdatedPub150.csv.gz, name_column: Main Port Name, radius_m: 5000}}
- {{name: anchorages, kind: anchorage, file: {layers}/gfw_anchorage_overrides.csv.gz, name_column: label}}
- {{name: coast, kind: coast, file: {layers}/ne_50m_coastline.geojson.gz, radius_m: 300}}
- {{name: land, kind: land, file: {layers}/ne_50m_land.geojson.gz}}
""",
        encoding="utf-8",
    )
    ports, anchorages, coast, land = read_layers(tmp_path / "layers.yaml", tmp_path / "cache")
    assert ports.report.features == 3768
    assert anchorages.report.features + anchorages.report.off_earth == 60_410
    assert coast.report.vertices > 60_000
    assert land.index.answer(np.array([2.35, -30.0, 0.0]), np.array([48.85, 40.0, -85.0])).inside.tolist() == [
        True,
        False,
        True,
    ]
