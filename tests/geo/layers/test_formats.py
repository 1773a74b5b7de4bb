"""The same three features out of every format, and a plain word where a file cannot be read."""

import gzip
import shutil
from pathlib import Path

import geopandas as gpd
import pytest
import shapely

from foresail.geo.errors import LayerReadError
from foresail.geo.layers.formats import read_features
from foresail.geo.layers.spec import LayerSpec

SHAPES = [shapely.box(0, 0, 1, 1), shapely.box(2, 2, 3, 4), shapely.box(-5, -5, -4, -4)]


@pytest.fixture
def features() -> gpd.GeoDataFrame:
    return gpd.GeoDataFrame({"name": ["a", "b", "c"]}, geometry=SHAPES, crs="EPSG:4326")


def spec_of(file: Path, **more: object) -> LayerSpec:
    return LayerSpec(name="zones", kind="zone", file=file, **more)


@pytest.mark.parametrize("name", ["z.geojson", "z.gpkg", "z.shp", "z.parquet", "z.geoparquet", "z.fgb"])
def test_every_format_gives_the_same_features(tmp_path: Path, features: gpd.GeoDataFrame, name: str) -> None:
    file = tmp_path / name
    features.to_parquet(file) if "parquet" in name else features.to_file(file)
    read = read_features(spec_of(file)).sort_values("name")
    assert list(read["name"]) == ["a", "b", "c"]
    assert shapely.equals(read.geometry.to_numpy(), SHAPES).all()
    assert read.crs == "EPSG:4326"


def test_a_packed_geojson_is_unpacked(tmp_path: Path, features: gpd.GeoDataFrame) -> None:
    file = tmp_path / "z.geojson.gz"
    file.write_bytes(gzip.compress(features.to_json().encode()))
    assert len(read_features(spec_of(file))) == 3


def test_a_zipped_shapefile_is_read(tmp_path: Path, features: gpd.GeoDataFrame) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    features.to_file(folder / "z.shp")
    assert len(read_features(spec_of(Path(shutil.make_archive(str(tmp_path / "z"), "zip", folder))))) == 3


@pytest.mark.parametrize(
    "text",
    [
        "name,lon,lat\nBrest,-4.5,48.4\n",
        "name;Latitude;Longitude\nBrest;48.4;-4.5\n",
        "\ufeffname\tLAT\tLON\nBrest\t48.4\t-4.5\n",
    ],
)
def test_a_table_of_points_is_in_degrees_when_its_columns_say_so(tmp_path: Path, text: str) -> None:
    file = tmp_path / "ports.csv"
    file.write_text(text, encoding="utf-8")
    read = read_features(spec_of(file))
    assert (read.geometry.x[0], read.geometry.y[0]) == (-4.5, 48.4)
    assert read.crs == "EPSG:4326"


def test_a_table_of_wkt_has_no_reference_system_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "zones.csv"
    file.write_text('name,wkt\nbox,"POLYGON ((0 0, 1 0, 1 1, 0 0))"\n', encoding="utf-8")
    read = read_features(spec_of(file))
    assert read.geometry[0].geom_type == "Polygon"
    assert read.crs is None


def test_lines_of_wkt_may_have_names(tmp_path: Path) -> None:
    file = tmp_path / "zones.wkt"
    file.write_text("# two places\nharbour; POINT (1 2)\nPOINT (3 4)\n", encoding="utf-8")
    assert list(read_features(spec_of(file))["name"].fillna("-")) == ["harbour", "-"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("z.geojson", '{"type": "FeatureCollection", "features": []}', "holds no features"),
        ("z.csv", "name,lon,lat\n", "holds no features"),
        ("z.csv", "name,lon,lat\na,west,3\n", "column 'lon' holds 'west' in row 2, not a number"),
        ("z.csv", "name,east,north\na,1,3\n", "no columns for longitude and latitude"),
        ("z.wkt", "POLYGON ((0 0, 1", "row 1 is not WKT"),
        ("z.geojson", '{"type": "Feature', "cannot be read as .geojson"),
        ("z.gpkg", "nothing of the kind", "cannot be read as .gpkg"),
        ("z.parquet", "nothing of the kind", "cannot be read as .parquet"),
        ("z.kml", "<kml/>", "unknown format '.kml'"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, content: str, said: str) -> None:
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    with pytest.raises(LayerReadError) as fault:
        read_features(spec_of(file))
    assert str(fault.value).startswith(f"layer 'zones' ({name}): ")
    assert said in str(fault.value)


def test_a_missing_file_is_told() -> None:
    with pytest.raises(LayerReadError, match="does not exist"):
        read_features(spec_of(Path("/nowhere/z.geojson")))


def test_one_of_several_tables_must_be_chosen(tmp_path: Path, features: gpd.GeoDataFrame) -> None:
    file = tmp_path / "z.gpkg"
    features.to_file(file, layer="first")
    features.to_file(file, layer="second")
    with pytest.raises(LayerReadError, match=r"several tables \(first, second\)"):
        read_features(spec_of(file))
    assert len(read_features(spec_of(file, table="second"))) == 3
    with pytest.raises(LayerReadError, match="no table 'third'"):
        read_features(spec_of(file, table="third"))
