"""Models from frames and forecasts for frames, of whatever kind, in this process; what is wrong is said in one line."""

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import foresail as fs

ENTRY = fs.pattern(
    "entry",
    "out ; out ; in_port",
    {"out": "port_km >= 5", "in_port": "port_km < 5"},
    max_gap="1h",
    features={"ring_5_7": "5 <= port_km < 7", "ring_7_9": "7 <= port_km < 9"},
    forecast={"order": 2, "horizon": 20, "kind": "within", "within": 6, "threshold": "auto"},
)
WHEN = fs.pattern(
    "when",
    "out ; in_port",
    {"out": "port_km >= 5", "in_port": "port_km < 5"},
    forecast={"order": 1, "horizon": 12, "kind": "interval", "threshold": 0.6},
)


def to_and_fro(tracks: int = 6, events: int = 250, seed: int = 4) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    rows = []
    for track in range(tracks):
        pace, place, way = random.uniform(0.3, 0.9), random.uniform(2, 12), -1.0
        for event in range(events):
            place += way * pace * random.uniform(0.8, 1.2)
            way = 1.0 if place < 1 else -1.0 if place > 12 else way
            rows.append((f"v{track}", event * 60, place, "ferry" if track % 2 else "tug", -4.5 + place / 100, 48.0))
    frame = pd.DataFrame(rows, columns=["track", "time", "port_km", "kind", "lon", "lat"])
    frame["time"] = pd.Timestamp("2026-03-02", tz="UTC") + pd.to_timedelta(frame["time"], unit="s")
    return frame


EVENTS = to_and_fro()


@pytest.fixture(scope="module")
def models() -> fs.Models:
    return fs.train(EVENTS, [ENTRY, WHEN])


def test_models_say_what_they_learned_and_forecasts_come_before_what_they_forecast(models: fs.Models) -> None:
    assert models.patterns == ("entry", "when")
    assert {row["pattern"] for row in models.trained} == {"entry", "when"}
    assert "entry-v1-0001" in repr(models)
    assert "<td>entry</td>" in models._repr_html_()
    found = fs.forecast(EVENTS, ENTRY, models)
    positive = found[found["positive"]]
    outside = EVENTS.assign(index=EVENTS.groupby("track").cumcount() + 1).merge(positive, on=["track", "index"])
    assert len(positive) > 20
    assert (outside["port_km"] < 9).mean() > 0.9


def test_pandas_pyarrow_and_polars_give_the_same_models_and_forecasts(models: fs.Models) -> None:
    expected = fs.forecast(EVENTS, [ENTRY, WHEN], models).sort_values("forecast_id")["forecast_id"].tolist()
    for events in (pa.Table.from_pandas(EVENTS, preserve_index=False), pl.from_pandas(EVENTS)):
        again = fs.train(events, [ENTRY, WHEN])
        assert [row["model_version"] for row in again.trained] == [row["model_version"] for row in models.trained]
        found = fs.forecast(events, [ENTRY, WHEN], again)
        assert type(found) is type(events)
        assert sorted(found["forecast_id"].to_pylist() if isinstance(found, pa.Table) else found["forecast_id"]) == (
            expected
        )


def test_a_folder_keeps_the_models_and_adds_to_their_counts(tmp_path: Any) -> None:
    first, second = EVENTS[EVENTS["track"] < "v3"], EVENTS[EVENTS["track"] >= "v3"]
    fs.train(first, ENTRY, tmp_path / "models")
    with pytest.warns(fs.ForesailWarning, match="may now count twice"):
        both = fs.train(second, ENTRY, str(tmp_path / "models"), add=True)
    assert both.trained[0]["events"] == len(EVENTS)
    assert len(fs.forecast(EVENTS, ENTRY, tmp_path / "models", emit="positive"))


def test_groups_of_tracks_have_models_of_their_own() -> None:
    events = to_and_fro(tracks=8, events=400, seed=6)
    models = fs.train(events, ENTRY, per="kind")
    assert models.trained[0]["groups"] == ["ferry", "tug"]
    found = fs.forecast(events, ENTRY, models)
    assert found["model_version"].nunique() >= 2
    with pytest.warns(fs.ForesailWarning, match="has models per kind, which these events lack"):
        plain = fs.forecast(events.drop(columns="kind"), ENTRY, models)
    assert plain["model_version"].nunique() == 1


@pytest.mark.parametrize("cuts", [1, 3, 8])
def test_a_monitor_forecasts_what_the_whole_frame_says_however_it_is_cut(models: fs.Models, cuts: int) -> None:
    events = EVENTS.sort_values("time", kind="stable").reset_index(drop=True)
    monitor, found, matches = fs.Monitor([ENTRY, WHEN], models), [], []
    for part in np.array_split(np.arange(len(events)), cuts):
        matches.append(monitor.advance(events.iloc[part]))
        found.append(monitor.forecasts)
        monitor = fs.Monitor([ENTRY, WHEN], models).resume(monitor.state())
    expected = fs.forecast(events, [ENTRY, WHEN], models).sort_values("forecast_id", ignore_index=True)
    pd.testing.assert_frame_equal(pd.concat(found).sort_values("forecast_id", ignore_index=True), expected)
    assert sorted(pd.concat(matches)["match_id"]) == sorted(fs.find(events, [ENTRY, WHEN])["match_id"])


def test_a_monitor_with_models_refuses_a_state_without_forecasts(models: fs.Models) -> None:
    monitor = fs.Monitor(ENTRY)
    monitor.advance(EVENTS)
    assert monitor.forecasts is None
    with pytest.raises(fs.InputError, match="saved by a monitor without models"):
        fs.Monitor(ENTRY, models).resume(monitor.state()).advance(EVENTS)


def test_scores_are_a_frame_and_a_page(tmp_path: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        scores = fs.evaluate(to_and_fro(tracks=3, events=250), ENTRY, folds=2, orders=(0,))
    assert {"order 0", "gradient boosting"} <= set(scores.rows["model"])
    assert set(scores.rows["fold"].astype(str)) == {"0", "1", "all"}
    assert scores.to_json()["rows"]
    assert "<html" in scores.save(tmp_path / "scores.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda _: fs.forecast(EVENTS, ENTRY, "no/such"), "no/such: there is no such folder of models"),
        (lambda _: fs.forecast(EVENTS, ENTRY, 3), "models: a int is none"),
        (lambda m: fs.forecast(EVENTS, fs.pattern("other", "a", {"a": "port_km < 1"}), m), "no model of other"),
        (lambda m: fs.forecast(EVENTS.drop(columns="port_km"), ENTRY, m), "unknown attribute 'port_km'"),
        (lambda m: fs.forecast(EVENTS.rename(columns={"track": "mmsi"}), ENTRY, m), "Did you mean 'mmsi'"),
        (lambda _: fs.train(EVENTS.iloc[:0], ENTRY), "events: there are none"),
        (lambda _: fs.evaluate(EVENTS, ENTRY, folds=1), "folds=1: there must be at least 2"),
        (lambda _: fs.evaluate(EVENTS[EVENTS["port_km"] > 5], ENTRY), "no match in the events"),
        (lambda _: fs.train(EVENTS, ENTRY, per="flag"), "unknown attribute 'flag'"),
        (lambda _: fs.train(EVENTS, ENTRY, order=20), "order 20 is beyond what is counted"),
    ],
)
def test_what_is_wrong_is_one_line(models: fs.Models, call: Any, said: str) -> None:
    with pytest.raises((fs.InputError, fs.PatternError, fs.ModelError), match=said) as error:
        call(models)
    assert "\n" not in str(error.value)


def test_an_empty_frame_and_one_event_are_forecast(models: fs.Models) -> None:
    assert len(fs.forecast(EVENTS.iloc[:0], ENTRY, models)) == 0
    one = fs.forecast(EVENTS.iloc[:1], ENTRY, models)
    assert list(one["index"]) == [1]


SPARKLESS = """
import runpy, sys
import foresail as fs
made = runpy.run_path(sys.argv[1])
models = fs.train(made["EVENTS"], made["ENTRY"])
fs.forecast(made["EVENTS"], made["ENTRY"], models)
fs.Monitor(made["ENTRY"], models).advance(made["EVENTS"])
sys.exit("pyspark" in sys.modules)
"""


def test_no_spark_is_loaded() -> None:
    """In a process of its own, since other tests load it into this one."""
    subprocess.run([sys.executable, "-c", SPARKLESS, __file__], check=True, timeout=120)


def of_trees(model: str, name: str = "entry", **forecast: Any) -> Any:
    wanted = {"order": 1, "horizon": 20, "kind": "within", "within": 6} | forecast
    where = {"out": "port_km >= 5", "in_port": "port_km < 5"}
    return fs.pattern(name, "out ; out ; in_port", where, max_gap="1h", forecast={"model": model, **wanted})


TREES = [of_trees("hazard"), of_trees("hazard", "when", kind="interval", within=None, threshold=0.5)]


@pytest.fixture(scope="module")
def trees() -> fs.Models:
    return fs.train(EVENTS, TREES)


def test_a_hazard_model_forecasts_what_comes_and_says_what_it_is(trees: fs.Models) -> None:
    assert [row["model"] for row in trees.trained] == ["hazard", "hazard"]
    assert trees.trained[0]["scores"]["f1"] > 0.7
    found = fs.forecast(EVENTS, TREES[0], trees)
    assert found["probability"].between(0, 1).all()
    chances = [fs.forecast(EVENTS, of_trees("hazard", within=w), trees, threshold=0.3) for w in (6,)]
    assert (chances[0]["positive"] == (chances[0]["probability"] >= 0.3)).mean() > 0.999
    told = found[found["because"].notna()]
    assert told["because"].str.contains("for it: .*(?:port km|lon) ").mean() > 0.9
    begins = found["positive"] & ~found.groupby("track")["positive"].shift(fill_value=False)
    assert set(told["forecast_id"]) >= set(found[begins]["forecast_id"])
    when = fs.forecast(EVENTS, TREES[1], trees)
    told = when[when["positive"]]
    assert len(told) > 20
    assert (told["probability"] >= 0.5 - 1e-6).all()
    assert told["earliest"].notna().all()
    assert when[~when["positive"]]["probability"].isna().all()


@pytest.mark.parametrize("emit", ["all", "positive", "changes"])
def test_a_monitor_asks_trees_as_the_whole_frame_does_however_it_is_cut(trees: fs.Models, emit: Any) -> None:
    events = EVENTS.sort_values("time", kind="stable").reset_index(drop=True)
    monitor, found = fs.Monitor(TREES, trees, emit=emit), []
    for part in np.array_split(np.arange(len(events)), 5):
        monitor.advance(events.iloc[part])
        found.append(monitor.forecasts)
        monitor = fs.Monitor(TREES, trees, emit=emit).resume(monitor.state())
    expected = fs.forecast(events, TREES, trees, emit=emit).sort_values("forecast_id", ignore_index=True)
    pd.testing.assert_frame_equal(pd.concat(found).sort_values("forecast_id", ignore_index=True), expected)


def test_auto_chooses_and_says_why_and_a_folder_keeps_the_trees(tmp_path: Any) -> None:
    made = fs.train(EVENTS, of_trees("auto"), tmp_path / "models")
    assert any("auto chose" in note for note in made.trained[0]["notes"])
    forest = fs.train(EVENTS, of_trees("forest"), tmp_path / "models")
    assert forest.trained[0]["model"] == "forest"
    kept = fs.forecast(EVENTS, of_trees("forest"), tmp_path / "models")
    pd.testing.assert_frame_equal(kept, fs.forecast(EVENTS, of_trees("forest"), forest))


def test_what_trees_cannot_do_without_is_named(trees: fs.Models) -> None:
    with pytest.raises(fs.InputError, match="reads lon, which these events lack"):
        fs.forecast(EVENTS.drop(columns=["lon"]), TREES[0], trees)
    strange = EVENTS.assign(kind="submarine")
    assert len(fs.forecast(strange, TREES[0], trees)) == len(fs.forecast(EVENTS, TREES[0], trees))


def test_trees_need_a_match_and_say_so_without_one() -> None:
    outside = EVENTS[EVENTS["port_km"] > 5]
    with pytest.warns(fs.ForesailWarning, match="no match in the sample to fit trees on"):
        alone = fs.train(outside, of_trees("hazard"))
    assert alone.trained[0]["model"] == "chain"
    first = EVENTS[EVENTS["track"] == "v0"].reset_index(drop=True)
    entry = int(first.index[(first["port_km"] < 5) & (first["port_km"].shift() >= 5)][0])
    once = first.iloc[: entry + 1]
    with pytest.warns(fs.ForesailWarning):
        made = fs.train(once, of_trees("auto"))
    assert made.trained[0]["model"] == "chain"
