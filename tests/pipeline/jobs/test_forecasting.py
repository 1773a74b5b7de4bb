"""Train, forecast and evaluate on Spark, on simulated vessels that go to and fro before a port."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foresail.models.errors import ModelError, ModelFileError, OtherPatternError
from foresail.patterns.catalog.loader import Catalog, read_text
from foresail.pipeline.errors import InputError
from foresail.pipeline.progress import SILENT, Progress
from foresail.pipeline.settings import ForecastSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from foresail.pipeline.jobs.train import TrainRequest

pytestmark = pytest.mark.spark
ENTRY = """
name: entry
domain: maritime
says: A vessel outside the port comes inside it.
where:
  out: port_km >= 5
  in_port: port_km < 5
pattern: out ; out ; in_port
max_gap: 1h
features:
  ring_5_7: 5 <= port_km < 7
  ring_7_9: 7 <= port_km < 9
forecast: {order: 2, horizon: 20, kind: within, within: 6, threshold: auto}
"""
LEARNED = ENTRY.replace("name: entry", "name: learned_entry").replace(
    "forecast:", "  learn: {attributes: [port_km, speed_kn], leaves: 12}\nforecast:"
)
UNCOUNTED = """
name: uncounted
domain: maritime
says: Two conditions are said to exclude each other, and do not.
where:
  near: port_km < 5
  slow: speed_kn < 12
pattern: near ; slow
exclusive: [[near, slow]]
forecast: {order: 1, horizon: 5, threshold: 0.2}
"""
QUICK = ForecastSettings(max_order=3, train_sample_events=1000, boosting_iterations=5)
DAYS_MS = 1_772_409_600_000


def write_events(
    folder: Path, tracks: int = 8, events: int = 300, step_s: int = 60, seed: int = 4, start_ms: int = DAYS_MS
) -> str:
    random = np.random.default_rng(seed)
    rows: dict[str, list[Any]] = {
        "track": [],
        "time": [],
        "port_km": [],
        "speed_kn": [],
        "lon": [],
        "lat": [],
        "course_deg": [],
    }
    for track in range(tracks):
        pace, place, way = random.uniform(0.3, 0.9), random.uniform(2, 12), -1.0
        for event in range(events):
            place += way * pace * random.uniform(0.8, 1.2)
            way = 1.0 if place < 1 else -1.0 if place > 12 else way
            values = (f"v{track}", start_ms + event * step_s * 1000, place, pace * 20, -4.5 + place / 100, 48.0, None)
            for name, value in zip(rows, values, strict=True):
                rows[name].append(value)
    folder.mkdir(parents=True)
    table = pa.table({**rows, "course_deg": pa.array(rows["course_deg"], pa.float64())})
    pq.write_table(table, folder / "events.parquet")
    return str(folder)


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_events(tmp_path_factory.mktemp("forecasting") / "events")


def catalog(*texts: str) -> Catalog:
    return Catalog(tuple(entry for text in texts for entry in read_text(text, "test.yaml")))


def request(events: str, models: Path, *texts: str, **others: Any) -> "TrainRequest":
    from foresail.pipeline.jobs.train import TrainRequest

    return TrainRequest([events], catalog(*(texts or (ENTRY,))), models, settings=QUICK, **others)


@pytest.fixture(scope="module")
def trained(
    spark: "SparkSession", events: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    from foresail.pipeline.jobs.train import run_train

    models = tmp_path_factory.mktemp("models")
    return models, run_train(spark, request(events, models, ENTRY, LEARNED), SILENT)


def forecast(spark: "SparkSession", events: str, models: Path, out: Path, *texts: str, **others: Any) -> dict[str, Any]:
    from foresail.pipeline.jobs.forecast import run_forecast
    from foresail.pipeline.jobs.forecast_request import ForecastRequest

    return run_forecast(spark, ForecastRequest([events], catalog(*(texts or (ENTRY,))), models, out, **others), SILENT)


def rows_of(summary: dict[str, Any]) -> list[dict[str, Any]]:
    with Path(summary["output"]).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_training_tells_of_each_model_what_it_is(trained: tuple[Path, dict[str, Any]]) -> None:
    models, summary = trained
    plain, learned = summary["patterns"]
    fixed = "pattern model_version order symbols contexts chain_states events seconds"
    assert set(fixed.split()) <= set(plain)
    assert plain["events"] == 8 * 300
    assert plain["model_version"].startswith("entry-v1-0001-")
    assert 0 < plain["threshold"] < 1
    assert plain["scores"]["f1"] > 0.3
    assert learned["symbols"] > plain["symbols"]
    assert any("speed_kn" in feature["text"] for feature in learned["features"])
    assert (models / "entry" / "counts.npz").exists()


def test_forecasts_have_a_row_per_event_that_is_not_a_match_and_stable_ids(
    spark: "SparkSession", events: str, trained: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    first = forecast(spark, events, trained[0], tmp_path / "a", form="jsonl")
    rows = rows_of(first)
    fixed = "track time index pattern model_version state kind probability positive earliest latest most_likely"
    assert set(fixed.split()) <= set(rows[0])
    assert first["events"] == 2400
    assert len(rows) == first["forecasts"] < 2400
    assert len({row["forecast_id"] for row in rows}) == len(rows)
    spark.conf.set("spark.sql.shuffle.partitions", "5")
    try:
        again = rows_of(forecast(spark, events, trained[0], tmp_path / "b", form="jsonl"))
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "2")
    assert again == rows


def test_positive_forecasts_are_those_from_the_threshold_on(
    spark: "SparkSession", events: str, trained: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    summary = forecast(spark, events, trained[0], tmp_path / "out", LEARNED, form="jsonl", emission="positive")
    threshold = summary["patterns"][0]["threshold"]
    rows = rows_of(summary)
    assert rows
    assert all(row["positive"] and row["probability"] >= threshold for row in rows)
    assert summary["positive"] == len(rows)


def test_an_interval_has_its_spread_and_no_interval_has_no_probability(
    spark: "SparkSession", events: str, tmp_path: Path
) -> None:
    from foresail.pipeline.jobs.train import run_train

    when = ENTRY.replace("kind: within, within: 6, threshold: auto", "kind: interval, threshold: 0.6")
    run_train(spark, request(events, tmp_path / "models", when), SILENT)
    rows = rows_of(forecast(spark, events, tmp_path / "models", tmp_path / "out", when, form="jsonl"))
    none = [row for row in rows if row["earliest"] is None]
    assert 0 < len(none) < len(rows)
    assert all(row["probability"] is None and row["spread"] is None for row in none)
    assert all(row["spread"] == row["latest"] - row["earliest"] for row in rows if row["earliest"] is not None)


def test_one_pattern_s_fault_leaves_the_training_of_the_others_alone(
    spark: "SparkSession", events: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One fails by a fault of ours, one because events do not fit it, one while it is learned; one is trained."""
    from foresail.pipeline.jobs import train
    from foresail.pipeline.training import learning

    def failing(p: Any, *others: Any) -> Any:
        if p.name == "unchosen":
            msg = "y_prob contains values greater than 1"
            raise ValueError(msg)
        return choose(p, *others)

    def unlearned(pattern: Any, *others: Any) -> Any:
        if pattern.name == "unlearned":
            msg = "unlearned: too large"
            raise ModelError(msg)
        return build(pattern, *others)

    choose, build = learning.choose, learning.build
    monkeypatch.setattr(learning, "choose", failing)
    monkeypatch.setattr(learning, "build", unlearned)
    named = [ENTRY.replace("name: entry", f"name: {name}") for name in ("unchosen", "unlearned")]
    summary = train.run_train(spark, request(events, tmp_path, *named, ENTRY, UNCOUNTED), SILENT)
    assert [row["pattern"] for row in summary["patterns"]] == ["entry"]
    assert set(summary["skipped"]) == {"unchosen", "unlearned", "uncounted"}
    assert (
        "ValueError: y_prob contains values greater than 1. This is a fault of the program"
        in (summary["skipped"]["unchosen"])
    )
    assert summary["skipped"]["unlearned"] == "unlearned: too large"
    assert "near, slow held on one event, but `exclusive` says that they cannot" in summary["skipped"]["uncounted"]
    with pytest.raises(InputError, match="none of the patterns can be trained: ValueError"):
        train.run_train(spark, request(events, tmp_path, named[0]), SILENT)


def test_one_pattern_s_fault_leaves_the_evaluation_of_the_others_alone(
    spark: "SparkSession", events: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from foresail.pipeline.training import evaluating

    def failing(p: Any, *others: Any) -> Any:
        if p.name == "odd":
            msg = "y_prob contains values greater than 1"
            raise ValueError(msg)
        return evaluated(p, *others)

    evaluated = evaluating._evaluated
    monkeypatch.setattr(evaluating, "_evaluated", failing)
    summary = evaluate(spark, events, tmp_path, ENTRY.replace("name: entry", "name: odd"), ENTRY)
    assert {row["pattern"] for row in summary["rows"]} == {"entry"}
    assert "y_prob contains values greater than 1" in summary["skipped"]["odd"]


def test_a_full_disk_is_no_pattern_s_fault(
    spark: "SparkSession", events: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from foresail.pipeline.jobs import train
    from foresail.pipeline.training import learning

    def full(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(learning, "build", full)
    with pytest.raises(OSError, match="No space left"):
        train.run_train(spark, request(events, tmp_path), SILENT)


def test_adding_counts_goes_on_from_those_of_the_store(spark: "SparkSession", events: str, tmp_path: Path) -> None:
    from foresail.pipeline.jobs.train import run_train

    once = run_train(spark, request(events, tmp_path, LEARNED), SILENT)["patterns"][0]
    twice = run_train(spark, request(events, tmp_path, LEARNED, add=True), SILENT)["patterns"][0]
    assert twice["events"] == 2 * once["events"]
    assert twice["symbols"] == once["symbols"]
    assert any("may now count twice" in warning for warning in twice["warnings"])
    assert twice["model_version"] != once["model_version"]
    anew = run_train(spark, request(events, tmp_path, LEARNED), SILENT)["patterns"][0]
    assert anew["events"] == once["events"]


def test_events_at_another_step_than_trained_on_are_told_with_both_steps(
    spark: "SparkSession", trained: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    slower = write_events(tmp_path / "slower", tracks=2, events=50, step_s=600)
    (warning,) = forecast(spark, slower, trained[0], tmp_path / "out")["warnings"]
    assert "every 600 s" in warning
    assert "60 s" in warning


def test_a_model_of_another_version_of_the_pattern_is_refused(
    spark: "SparkSession", events: str, trained: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    with pytest.raises(OtherPatternError, match=r"version 1, not entry version 2.*foresail train"):
        forecast(spark, events, trained[0], tmp_path / "out", ENTRY + "version: 2\n")


def test_a_model_file_that_is_cut_short_is_refused(spark: "SparkSession", events: str, tmp_path: Path) -> None:
    from foresail.pipeline.jobs.train import run_train

    run_train(spark, request(events, tmp_path / "models"), SILENT)
    (file,) = (tmp_path / "models").glob("entry/models/*/model.npz")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(ModelFileError, match=r"cut short.*Train it anew"):
        forecast(spark, events, tmp_path / "models", tmp_path / "out")


def test_without_a_match_to_learn_from_the_model_says_so_and_forecasts_nothing(
    spark: "SparkSession", events: str, tmp_path: Path
) -> None:
    from foresail.pipeline.jobs.train import run_train

    never = LEARNED.replace("port_km < 5", "port_km < -5").replace("port_km >= 5", "port_km >= 0")
    (row,) = run_train(spark, request(events, tmp_path / "models", never), SILENT)["patterns"]
    assert any("no match" in note for note in row["notes"])
    assert any("no match" in warning for warning in row["warnings"])
    assert forecast(spark, events, tmp_path / "models", tmp_path / "out", never)["positive"] == 0


def test_one_short_track_and_a_longer_order_still_give_a_model(spark: "SparkSession", tmp_path: Path) -> None:
    from foresail.pipeline.jobs.train import run_train

    one = write_events(tmp_path / "one", tracks=1, events=3)
    (row,) = run_train(spark, request(one, tmp_path / "models", order=3), SILENT)["patterns"]
    assert row["events"] == 3
    assert any("no track is as long" in note for note in row["notes"])


def test_impossible_wishes_are_refused_in_one_line(spark: "SparkSession", events: str, tmp_path: Path) -> None:
    from foresail.pipeline.jobs.train import run_train

    with pytest.raises(InputError, match=r"horizon of 0 events forecasts nothing. Give at least 1"):
        run_train(spark, request(events, tmp_path, horizon=0), SILENT)
    with pytest.raises(InputError, match=r"order 9 is beyond what is counted \(3\)"):
        run_train(spark, request(events, tmp_path, order=9), SILENT)
    with pytest.raises(ModelError, match="no model of entry"):
        forecast(spark, events, tmp_path / "none", tmp_path / "out")


def test_a_catalog_entry_chooses_full_contexts_and_forecasts_on_matches(
    spark: "SparkSession", events: str, tmp_path: Path
) -> None:
    from foresail.models.store import ModelStore
    from foresail.pipeline.jobs.train import run_train

    full = ENTRY.replace("threshold: auto}", "threshold: 0.3, contexts: full, forecast_in_accepting: true}")
    (row,) = run_train(spark, request(events, tmp_path / "models", full), SILENT)["patterns"]
    model = ModelStore(tmp_path / "models").load("entry")
    assert (model.settings.learn.kind, model.settings.forecast_in_accepting) == ("full", True)
    assert row["threshold"] == 0.3
    assert forecast(spark, events, tmp_path / "models", tmp_path / "out", full)["forecasts"] == 2400


def test_with_a_half_life_earlier_counts_fade(spark: "SparkSession", events: str, tmp_path: Path) -> None:
    from foresail.pipeline.jobs.train import run_train

    later = write_events(tmp_path / "later", start_ms=DAYS_MS + 2 * 86_400_000)
    run_train(spark, request(events, tmp_path / "models"), SILENT)
    (row,) = run_train(spark, request(later, tmp_path / "models", add=True, half_life_days=2), SILENT)["patterns"]
    assert row["events"] == 2400 + 2400 // 2


def evaluate(spark: "SparkSession", events: str, out: Path, *texts: str, **others: Any) -> dict[str, Any]:
    from foresail.pipeline.jobs.evaluate import EvaluateRequest, run_evaluate

    settings = QUICK.model_copy(update={"evaluate_sample_events": 100_000})
    wanted = EvaluateRequest([events], catalog(*texts), out, folds=2, orders=(0, 2), settings=settings)
    return run_evaluate(spark, replace(wanted, **others), SILENT)


@pytest.mark.parametrize("by", ["time", "track"])
def test_an_evaluation_has_every_model_in_one_table_and_a_report_beside_it(
    spark: "SparkSession", events: str, tmp_path: Path, by: str
) -> None:
    from foresail.models.scoring.thresholds import By

    summary = evaluate(spark, events, tmp_path, LEARNED, by=By(by))
    folds = {(row["model"], row["fold"]) for row in summary["rows"]}
    assert {("order 2", "all"), ("learned", "0"), ("gradient boosting", "1"), ("mean waiting time", "all")} <= folds
    report = json.loads((tmp_path / "evaluation.json").read_text())
    assert report["rows"] == summary["rows"]
    (pattern,) = report["patterns"]
    assert pattern["features"]
    assert {place["outcome"] for place in pattern["places"]} <= {"tp", "fp", "fn"}
    assert pattern["scored"] + pattern["censored"] <= pattern["events"]


def test_what_cannot_be_evaluated_is_said_in_one_line(spark: "SparkSession", events: str, tmp_path: Path) -> None:
    from foresail.models.scoring.thresholds import By

    one = write_events(tmp_path / "one", tracks=1, events=200)
    with pytest.raises(InputError, match=r"one track only.*--by time"):
        evaluate(spark, one, tmp_path / "a", ENTRY, by=By.TRACK)
    with pytest.raises(InputError, match="no match in the events"):
        evaluate(spark, events, tmp_path / "b", ENTRY.replace("port_km < 5", "port_km < -5"))


def test_progress_names_what_a_sample_is(spark: "SparkSession", events: str, tmp_path: Path) -> None:
    from io import StringIO

    from foresail.pipeline.jobs.train import run_train
    from foresail.pipeline.progress import open_progress

    said = StringIO()
    progress: Progress = open_progress(stream=said)
    run_train(spark, request(events, tmp_path), progress)
    assert "of 2,400 events are the sample" in said.getvalue()
