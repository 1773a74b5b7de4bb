"""A pattern family through training, forecasting and evaluation: one model, forecasts for each port."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foresail.patterns.catalog.loader import Catalog, built_in_catalog
from foresail.pipeline.progress import SILENT
from foresail.pipeline.settings import ForecastSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
PORTS = {"Westport": -5.0, "Eastport": -4.5}
METRES_PER_DEGREE = 111_320.0 * np.cos(np.radians(48.0))
START_US = 1_772_409_600_000_000
QUICK = ForecastSettings(max_order=4, boosting_iterations=5)


def write_layers(folder: Path) -> Path:
    features = [
        {"type": "Feature", "properties": {"NAME": name}, "geometry": {"type": "Point", "coordinates": [lon, 48.0]}}
        for name, lon in PORTS.items()
    ]
    (folder / "ports.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    file = folder / "layers.yaml"
    file.write_text("layers: [{name: ports, kind: port, file: ports.geojson, name_column: NAME, radius_m: 5000}]\n")
    return file


def write_ferries(folder: Path, tracks: int = 10, events: int = 500) -> str:
    """Vessels that go to and fro between the two ports."""
    random = np.random.default_rng(3)
    rows: dict[str, list[Any]] = {"track": [], "time": [], "offset": [], "lon": [], "lat": [], "speed_kn": []}
    for track in range(tracks):
        knots, lon, way = random.uniform(8, 16), random.uniform(-5.0, -4.5), 1.0
        for event in range(events):
            lon += way * knots * 1852 / 60 / METRES_PER_DEGREE
            way = -1.0 if lon > -4.5 else 1.0 if lon < -5.0 else way
            values = (f"v{track}", START_US + event * 60_000_000, event, lon, 48.0, knots + random.normal(0, 0.2))
            for name, value in zip(rows, values, strict=True):
                rows[name].append(value)
    table = pa.table(rows)
    times = table.column("time").cast(pa.timestamp("us", tz="UTC"))
    folder.mkdir()
    pq.write_table(table.set_column(1, "time", times), folder / "part.parquet")
    return str(folder)


def test_a_family_has_one_model_and_forecasts_for_each_port(spark: "SparkSession", tmp_path: Path) -> None:
    from foresail.pipeline.jobs.evaluate import EvaluateRequest, run_evaluate
    from foresail.pipeline.jobs.forecast import run_forecast
    from foresail.pipeline.jobs.forecast_request import ForecastRequest
    from foresail.pipeline.jobs.train import TrainRequest, run_train

    events, catalog = write_ferries(tmp_path / "events"), Catalog((built_in_catalog()["port_entry"],))
    shared: dict[str, Any] = {"layers": write_layers(tmp_path), "layer_cache": tmp_path / "cache"}
    train = TrainRequest([events], catalog, tmp_path / "models", settings=QUICK, **shared)
    (trained,) = run_train(spark, train, SILENT)["patterns"]
    assert trained["matches"] >= 20
    assert any("port.distance_m" in feature["text"] for feature in trained["features"])
    out = tmp_path / "forecasts"
    told = run_forecast(spark, ForecastRequest([events], catalog, tmp_path / "models", out, "jsonl", **shared), SILENT)
    rows = [json.loads(line) for line in Path(told["output"]).read_text().splitlines()]
    assert {row["instance"] for row in rows} == set(PORTS)
    assert len({row["forecast_id"] for row in rows}) == len(rows)
    positive = [row for row in rows if row["positive"]]
    outside = [abs(row["lon"] - PORTS[row["instance"]]) * METRES_PER_DEGREE > 5000 for row in positive]
    assert positive
    assert np.mean(outside) > 0.9
    judged = EvaluateRequest([events], catalog, tmp_path / "judged", folds=2, orders=(1, 4), settings=QUICK, **shared)
    f1 = {row["model"]: row["f1"] for row in run_evaluate(spark, judged, SILENT)["rows"] if row["fold"] == "all"}
    assert f1["order 4"] > f1["order 1"]
    assert f1["learned"] > f1["order 1"]
