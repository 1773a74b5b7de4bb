import json
from pathlib import Path

import geopandas as gpd
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import foresail as fs


@pytest.fixture
def layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    point = {"type": "Feature", "properties": {"NAME": "Hov"}, "geometry": {"type": "Point", "coordinates": [10, 55]}}
    (tmp_path / "ports.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [point]}))
    file = tmp_path / "layers.yaml"
    file.write_text("layers:\n- {name: ports, kind: port, file: ports.geojson, name_column: NAME, radius_m: 1000}\n")
    return file


EVENTS = pd.DataFrame(
    {
        "track": "a",
        "time": pd.date_range("2024-01-01", periods=3, freq="10min", tz="UTC"),
        "lon": [10.0, 10.5, None],
        "lat": [55.0, 55.0, 55.0],
    },
    index=[7, 8, 9],
)


def test_frames_of_every_kind_get_the_columns_of_layers(layers: Path) -> None:
    enriched = fs.enrich(EVENTS, layers)
    assert list(enriched.columns) == [*EVENTS.columns, "in_port", "port_name", "port_distance_m"]
    assert list(enriched.index) == [7, 8, 9]
    assert list(enriched["in_port"])[:2] == [True, False]
    assert enriched["in_port"].isna().tolist() == [False, False, True]
    table = fs.enrich(pa.Table.from_pandas(EVENTS, preserve_index=False), layers)
    assert table["port_name"].to_pylist() == ["Hov", "Hov", None]
    assert fs.enrich(pl.from_pandas(EVENTS), layers)["port_distance_m"][0] == 0
    points = gpd.GeoDataFrame(
        EVENTS[["track", "time"]], geometry=gpd.points_from_xy(EVENTS["lon"], EVENTS["lat"]), crs=4326
    )
    assert fs.enrich(points.iloc[:2], layers)["in_port"].tolist() == [True, False]


def test_what_enrich_gives_can_be_looked_in(layers: Path) -> None:
    leaving = fs.pattern("leaving", "[in_port] ; [port_distance_m > 1000]")
    assert fs.find(fs.enrich(EVENTS, layers), leaving)["index"].tolist() == [2]


def test_faults_are_told(layers: Path) -> None:
    with pytest.raises(fs.InputError, match="already have 'in_port'"):
        fs.enrich(EVENTS.assign(in_port=True), layers)
    with pytest.raises(fs.InputError, match="no column 'lon'"):
        fs.enrich(EVENTS.drop(columns="lon"), layers)
    with pytest.raises(fs.InputError, match=r"nowhere.yaml"):
        fs.enrich(EVENTS, "nowhere.yaml")
