"""One model per kind of vessel, or per track, through the whole line: counted, learned, kept, asked and judged."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foresail.patterns.catalog.loader import Catalog, read_text
from foresail.patterns.errors import UnknownAttributeError
from foresail.pipeline.errors import InputError
from foresail.pipeline.progress import SILENT
from foresail.pipeline.settings import ForecastSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from foresail.pipeline.jobs.train import TrainRequest

pytestmark = pytest.mark.spark
ENTRY = """
name: stop
domain: maritime
says: A fast vessel becomes slow.
where: {fast: speed_kn >= 6, slow: speed_kn < 2}
pattern: fast ; slow
features: {hurried: speed_kn >= 8}
forecast: {order: 2, horizon: 10, within: 3, threshold: 0.3}
"""
QUICK = ForecastSettings(max_order=3, train_sample_events=1000, boosting_iterations=5, min_group_matches=5)
KINDS = ("ferry", "tug", None, "ferry", "tug", "ferry", "yacht")


def write_events(folder: Path, kinds: tuple[str | None, ...] = KINDS, events: int = 150) -> str:
    """Ferries change speed often, tugs seldom, and the yacht is never fast."""
    random = np.random.default_rng(7)
    rows: dict[str, list[Any]] = {"track": [], "time": [], "speed_kn": [], "vessel_type": []}
    for track, kind in enumerate(kinds):
        speed = 1.0
        for event in range(events):
            if random.random() < {"ferry": 0.7, "tug": 0.4}.get(kind or "", 0.5):
                speed = float(random.uniform(0, 5 if kind == "yacht" else 10))
            stated = None if event % 9 == 0 else kind
            for name, value in zip(rows, (f"v{track}", event * 60_000, speed, stated), strict=True):
                rows[name].append(value)
    folder.mkdir(parents=True)
    table = pa.table({**rows, "vessel_type": pa.array(rows["vessel_type"], pa.string())})
    pq.write_table(table, folder / "events.parquet")
    return str(folder)


def catalog() -> Catalog:
    return Catalog(tuple(read_text(ENTRY, "test.yaml")))


def wanted(events: str, models: Path, **others: Any) -> "TrainRequest":
    from foresail.pipeline.jobs.train import TrainRequest

    return TrainRequest([events], catalog(), models, settings=QUICK, **others)


def forecast(spark: "SparkSession", events: str, models: Path, out: Path) -> tuple[dict[str, Any], list[Any]]:
    from foresail.pipeline.jobs.forecast import run_forecast
    from foresail.pipeline.jobs.forecast_request import ForecastRequest

    summary = run_forecast(spark, ForecastRequest([events], catalog(), models, out, form="jsonl"), SILENT)
    with Path(summary["output"]).open(encoding="utf-8") as lines:
        return summary, [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_events(tmp_path_factory.mktemp("groups") / "events")


@pytest.fixture(scope="module")
def trained(
    spark: "SparkSession", events: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    from foresail.pipeline.jobs.train import run_train

    models = tmp_path_factory.mktemp("models")
    (row,) = run_train(spark, wanted(events, models, per="vessel_type"), SILENT)["patterns"]
    return models, row


def test_each_track_is_forecast_by_the_model_of_its_kind(
    spark: "SparkSession", events: str, trained: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    from foresail.pipeline.jobs.train import run_train

    models, row = trained
    assert (row["per"], row["groups"]) == ("vessel_type", ["ferry", "tug"])
    summary, rows = forecast(spark, events, models, tmp_path / "out")
    by_track = {track: {r["model_version"] for r in rows if r["track"] == track} for track in ("v0", "v1", "v2", "v6")}
    names = summary["patterns"][0]["group_models"]
    assert by_track["v0"] == {names["ferry"]}
    assert by_track["v1"] == {names["tug"]}
    assert by_track["v2"] == by_track["v6"] == {row["model_version"]}
    ferries = write_events(tmp_path / "ferries", events=150)
    table = pq.read_table(Path(ferries) / "events.parquet")
    kept = pa.compute.is_in(table.column("track"), pa.array(["v0", "v3", "v5"]))
    pq.write_table(table.filter(kept), Path(ferries) / "events.parquet")
    run_train(spark, wanted(ferries, tmp_path / "alone"), SILENT)
    _, expected = forecast(spark, ferries, tmp_path / "alone", tmp_path / "out_alone")
    told = ("track", "index", "state", "chain_state", "probability", "positive", "earliest", "latest", "most_likely_s")
    mine = [r for r in rows if r["track"] in ("v0", "v3", "v5")]
    assert sorted([r[name] for name in told] for r in mine) == sorted([r[name] for name in told] for r in expected)


def test_events_that_do_not_tell_the_group_are_forecast_by_the_model_of_all_tracks(
    spark: "SparkSession", events: str, trained: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    table = pq.read_table(Path(events) / "events.parquet").drop_columns(["vessel_type"])
    (tmp_path / "bare").mkdir()
    pq.write_table(table, tmp_path / "bare" / "events.parquet")
    summary, rows = forecast(spark, str(tmp_path / "bare"), trained[0], tmp_path / "out")
    assert {row["model_version"] for row in rows} == {trained[1]["model_version"]}
    (warning,) = summary["warnings"]
    assert "has models per vessel_type, which these events lack" in warning


def test_counts_by_group_are_added_to_and_count_no_more_than_those_of_all(
    spark: "SparkSession", events: str, tmp_path: Path
) -> None:
    from foresail.models.store import ModelStore
    from foresail.pipeline.jobs.train import run_train

    run_train(spark, wanted(events, tmp_path, per="track"), SILENT)
    (row,) = run_train(spark, wanted(events, tmp_path, per="track", add=True), SILENT)["patterns"]
    assert "v0" in row["groups"]
    assert "v6" not in row["groups"]
    store = ModelStore(tmp_path)
    grouped, whole = store.counts_by_group("stop", "track"), store.counts("stop")
    assert grouped is not None
    assert whole is not None
    assert grouped.together().as_dictionary() == whole.as_dictionary()
    assert whole.events == 2 * 7 * 150
    with pytest.raises(InputError, match=r"did not count per vessel_type.*without --add"):
        run_train(spark, wanted(events, tmp_path, per="vessel_type", add=True), SILENT)


def test_an_attribute_that_events_lack_is_refused_with_those_they_have(
    spark: "SparkSession", events: str, tmp_path: Path
) -> None:
    from foresail.pipeline.jobs.train import run_train

    with pytest.raises(UnknownAttributeError, match=r"stop.forecast.per.*vesel_type.*Did you mean 'vessel_type'"):
        run_train(spark, wanted(events, tmp_path, per="vesel_type"), SILENT)


def test_an_evaluation_judges_them_beside_the_model_of_all_tracks(
    spark: "SparkSession", events: str, tmp_path: Path
) -> None:
    from foresail.pipeline.jobs.evaluate import EvaluateRequest, run_evaluate

    request = EvaluateRequest([events], catalog(), tmp_path, folds=2, orders=(0, 2), settings=QUICK)
    rows = run_evaluate(spark, replace(request, per="vessel_type"), SILENT)["rows"]
    f1 = {row["model"]: row["f1"] for row in rows if row["fold"] == "all"}
    assert {"order 2", "order 2 per vessel_type", "learned per vessel_type"} <= set(f1)
    brier = {row["model"]: row["brier"] for row in rows if row["fold"] == "all"}
    assert brier["order 2 per vessel_type"] < brier["order 2"]
