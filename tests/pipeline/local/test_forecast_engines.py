"""The same models, forecasts and ids whether Spark, plain processes or a frame in memory are asked."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import foresail as fs
from foresail.models.store import ModelStore
from foresail.patterns.catalog.loader import Catalog, read_text
from foresail.pipeline.jobs.evaluate import EvaluateRequest, run_evaluate
from foresail.pipeline.jobs.forecast import run_forecast
from foresail.pipeline.jobs.forecast_request import ForecastRequest
from foresail.pipeline.jobs.train import TrainRequest, run_train
from foresail.pipeline.local.forecast_job import run_local_forecast
from foresail.pipeline.local.forecasting import frame_events
from foresail.pipeline.local.frames import open_frame
from foresail.pipeline.local.layers import LayersAtHand, layers_at_hand
from foresail.pipeline.local.sorted_events import Named, sort_events
from foresail.pipeline.progress import SILENT
from foresail.pipeline.settings import ForecastSettings
from foresail.pipeline.stages.layout import by_track, write_layout
from foresail.pipeline.training.learning import Learning, learn_models

pytestmark = pytest.mark.spark
QUICK = ForecastSettings(max_order=3, train_sample_events=1500, boosting_iterations=5)
PATTERNS = """patterns:
- {name: learned, says: s, where: {out: port_km >= 5, near: port_km < 5}, pattern: "out ; near",
   features: {learn: {attributes: [port_km, speed_kn, kind], leaves: 8}},
   forecast: {order: 2, horizon: 12, within: 5, per: kind}}
- {name: when, says: s, where: {out: port_km >= 5, near: port_km < 5}, pattern: "out{2,} ; near", max_gap: 30min,
   forecast: {order: 1, horizon: 15, kind: interval, threshold: 0.5}}
- {name: soon, says: s, where: {out: port_km >= 5, near: port_km < 5}, pattern: "out ; near",
   forecast: {model: hazard, order: 1, horizon: 12, within: 5}}
- {name: approach, says: s, for_each: {layer: ports, as: port}, where: {out: port.distance_m >= 6000,
   inside: port.distance_m < 6000}, pattern: "out ; inside", forecast: {order: 2, horizon: 10, within: 4}}
"""
CATALOG = Catalog(read_text(PATTERNS, "patterns"))


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layers")
    shape = {"type": "Point", "coordinates": [-4.5, 48.0]}
    features = [{"type": "Feature", "properties": {"NAME": "Westport"}, "geometry": shape}]
    (folder / "ports.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    file = folder / "layers.yaml"
    file.write_text("layers:\n- {name: ports, kind: port, file: ports.geojson, name_column: NAME, radius_m: 5000}\n")
    return file


def to_and_fro(tracks: int = 10, events: int = 250) -> pa.Table:
    random = np.random.default_rng(11)
    rows = []
    for track in range(tracks):
        pace, place, way = random.uniform(0.3, 0.9), random.uniform(2, 12), -1.0
        for event in range(events):
            place += way * pace * random.uniform(0.8, 1.2)
            way = 1.0 if place < 1 else -1.0 if place > 12 else way
            kind = None if event % 9 == 0 else "ferry" if track % 2 else "tug"
            time = 1_772_409_600_000_000 + event * 60_000_000 + int(random.integers(0, 9)) * 1_000_000
            rows.append((f"v{track}", time, place, pace * 20 + random.normal(), kind, -4.5 + place / 80, 48.0))
    names = ["track", "time", "port_km", "speed_kn", "kind", "lon", "lat"]
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    table = table.set_column(1, "time", table["time"].cast(pa.timestamp("us", tz="UTC")))
    table = table.append_column("offset", pa.array(range(len(rows)), pa.int64()))
    return table.take(pa.array(random.permutation(len(rows))))


EVENTS = to_and_fro()


@pytest.fixture(scope="module")
def trained(
    spark: SparkSession, layers: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[dict[str, Any]]]:
    """Models that Spark has counted, from a folder of Parquet."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "events").mkdir()
    pq.write_table(EVENTS, folder / "events" / "part-0.parquet")
    request = TrainRequest(
        [str(folder / "events")],
        CATALOG,
        folder / "models",
        layers=layers,
        layer_cache=folder / "cache",
        settings=QUICK,
    )
    return folder, run_train(spark, request, SILENT)["patterns"]


def test_both_learn_the_same_models_from_the_same_sample(
    trained: tuple[Path, list[dict[str, Any]]], layers: Path, tmp_path: Path
) -> None:
    folder, expected = trained
    at_hand: LayersAtHand = layers_at_hand(layers, folder / "cache")
    events = frame_events(CATALOG, sort_events(open_frame(EVENTS), Named()), at_hand)
    learning = Learning(CATALOG, tuple(at_hand.by_name), settings=QUICK)
    summary = learn_models(events, learning, ModelStore(tmp_path / "models"), SILENT)
    assert summary["sample_events"] < EVENTS.num_rows
    assert [row | {"seconds": 0} for row in summary["patterns"]] == [row | {"seconds": 0} for row in expected]


def rows_of(summary: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(summary["output"]).read_text(encoding="utf-8").splitlines()]


SAME = ("events", "forecasts", "positive", "patterns", "step_s", "warnings", "rows_read", "rejected", "skipped")


@pytest.mark.parametrize("form", ["by track", "in any order", "csv"])
@pytest.mark.parametrize("emission", ["all", "changes"])
def test_both_engines_write_the_same_forecasts(
    spark: SparkSession, trained: tuple[Path, Any], layers: Path, tmp_path: Path, form: str, emission: Any
) -> None:
    given = tmp_path / "events"
    if form == "by track":
        write_layout(by_track(spark.createDataFrame(EVENTS.to_pandas()), 2), given, 2)
    elif form == "csv":
        given = tmp_path / "events.csv"
        EVENTS.to_pandas().to_csv(given, index=False)
    else:
        given = trained[0] / "events"
    written = []
    for name in ("spark", "local"):
        request = ForecastRequest(
            [str(given)], CATALOG, trained[0] / "models", tmp_path / f"out-{name}", "jsonl", emission,
            layers=layers, layer_cache=trained[0] / "cache",
        )  # fmt: skip
        written.append(run_forecast(spark, request, SILENT) if name == "spark" else run_local_forecast(request, SILENT))
    on_spark, here = written
    assert {key: here[key] for key in SAME} == {key: on_spark[key] for key in SAME}
    assert here["forecasts"] > 100
    key = "forecast_id"
    assert sorted(rows_of(here), key=lambda r: r[key]) == sorted(rows_of(on_spark), key=lambda r: r[key])


def test_a_frame_of_spark_is_trained_forecast_and_evaluated_by_spark(
    spark: SparkSession, trained: tuple[Path, Any], tmp_path: Path
) -> None:
    pattern = CATALOG["when"]
    frame = spark.createDataFrame(EVENTS.to_pandas())
    on_spark, here = fs.train(frame, pattern), fs.train(EVENTS, pattern)
    assert [row["model_version"] for row in on_spark.trained] == [row["model_version"] for row in here.trained]
    forecasts = fs.forecast(frame, pattern, on_spark)
    assert type(forecasts) is type(frame)
    expected = fs.forecast(EVENTS, pattern, here).to_pylist()
    found = forecasts.toArrow().to_pylist()
    key = "forecast_id"
    assert sorted(found, key=lambda row: row[key]) == sorted(expected, key=lambda row: row[key])
    request = EvaluateRequest(
        [str(trained[0] / "events")], Catalog((pattern,)), tmp_path / "scores", folds=2, orders=(0, 1)
    )
    job = run_evaluate(spark, request, SILENT)["rows"]
    scored = fs.evaluate(EVENTS, pattern, folds=2, orders=(0, 1)).to_json()["rows"]
    assert [row | {"seconds": 0} for row in scored] == [row | {"seconds": 0} for row in job]
