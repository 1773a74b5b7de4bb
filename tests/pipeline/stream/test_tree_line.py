"""A live line that asks trees, bucket by bucket: the forecasts of a batch, however events are cut and tracks rest."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import foresail as fs
from foresail.models.store import ModelStore
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions.typing import AttributeType
from foresail.pipeline.api.patterns import as_catalog
from foresail.pipeline.cli.models import command as models_command
from foresail.pipeline.errors import InputError
from foresail.pipeline.settings import StreamSettings
from foresail.pipeline.stream.bucket.input_rows import EVENT
from foresail.pipeline.stream.bucket.line_spec import LineSpec
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.query.plan import compile_line
from tests.pipeline.stream import lines

TYPES = {**dict.fromkeys(("x", "lon", "lat"), AttributeType.NUMBER), "craft": AttributeType.STRING}
FORECAST = {"order": 1, "horizon": 12, "within": 5, "threshold": 0.3}


def wave(model: str) -> fs.Pattern:
    where = {"slow": "x < 1", "fast": "x >= 5"}
    return fs.pattern("wave", "slow ; hidden _* ; fast", where, max_gap="30min", forecast={"model": model, **FORECAST})


def some_events(seed: int, tracks: int = 8, events: int = 120) -> pd.DataFrame:
    """Numbers that go up and down, as a frame of events."""
    rng = np.random.default_rng(seed)
    rows = []
    for track in range(tracks):
        pace, place = rng.uniform(0.2, 0.6), rng.uniform(0, 6)
        time = 1_700_000_000_000_000 + int(rng.integers(0, 60_000_000))
        for n in range(events):
            place += pace * rng.uniform(0.7, 1.3)
            time += int(rng.choice([20, 60, 2400], p=[0.5, 0.49, 0.01]) * 1_000_000)
            x = 3 + 3 * np.sin(place)
            craft = None if n % 17 == 0 else ("tug" if track % 2 else "ferry")
            rows.append((f"t{track}", time, x, craft, -4.0 + 0.01 * np.cos(place), 48.0 + 0.01 * np.sin(place)))
    return pd.DataFrame(rows, columns=["track", "time_us", "x", "craft", "lon", "lat"])


def as_frame(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(time=pd.to_datetime(rows["time_us"], unit="us", utc=True)).drop(columns="time_us")


def as_rows(events: pd.DataFrame) -> pd.DataFrame:
    """As they come to a bucket: in the order of time, with the words of the two conditions."""
    rows = events.sort_values("time_us", kind="stable", ignore_index=True)
    word = (rows["x"] < 1).astype(int) + 2 * (rows["x"] >= 5)
    return rows.assign(word_0=word, offset=np.arange(len(rows)), kind=EVENT, arrived_us=0, payload=None)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trees") / "models"
    made = fs.train(as_frame(some_events(99)), wave("hazard"), folder)
    assert made.trained[0]["model"] == "hazard"
    return folder


def spec_of(store: Path, version: str, **changed: Any) -> LineSpec:
    (entry,) = as_catalog(wave("hazard"))
    plain = compile_pattern(entry.spec(), TYPES)
    held = LineSpec(f"{store}{version}", (plain,), plain.conditions, (), store, {"wave": version}, "all", types=TYPES)
    return replace(held, **changed) if changed else held


def versions(store: Path) -> tuple[str, ...]:
    return tuple(ModelStore(store).versions("wave"))


def in_one(store: Path, rows: pd.DataFrame) -> dict[tuple[str, int], float]:
    found = fs.forecast(as_frame(rows), wave("hazard"), store)
    return {(t, int(n)): p for t, n, p in zip(found["track"], found["index"], found["probability"], strict=True)}


def reasons_in_one(store: Path, rows: pd.DataFrame) -> list[tuple[str, int, str]]:
    """What is told where positive begins."""
    found = fs.forecast(as_frame(rows), wave("hazard"), store)
    told = found[found["because"].notna()]
    assert told["positive"].all()
    assert 10 < len(told) < found["positive"].sum() / 2
    return list(told[["track", "index", "because"]].itertuples(index=False, name=None))


def told_of(line: lines.Running) -> dict[tuple[str, int], float]:
    return {(row["track"], row["index"]): row["probability"] for row in line.rows("forecast")}


@pytest.mark.parametrize("rest_s", [30, 100_000])
def test_the_forecasts_of_trees_in_a_stream_are_those_of_a_batch(store: Path, rest_s: int) -> None:
    events, version = some_events(3), versions(store)[0]
    line = lines.Running(spec_of(store, version), BucketRules(rest_after_us=rest_s * 1_000_000))
    rows = as_rows(events)
    for part in np.array_split(np.arange(len(rows)), 7):
        line.read(rows.iloc[part])
    expected = in_one(store, events)
    assert told_of(line) == expected
    assert {(row["track"], row["index"]): row["because"] for row in line.rows("forecast") if row["because"]} == {
        (track, index): because for track, index, because in reasons_in_one(store, events)
    }
    assert max(expected.values()) > 0.3 > min(expected.values())


def test_another_threshold_and_horizon_take_hold_without_a_pause(store: Path) -> None:
    rows, version = as_rows(some_events(4)), versions(store)[0]
    line = lines.Running(spec_of(store, version, emission="positive"))
    line.read(rows.iloc[:400])
    before = len(line.rows("forecast"))
    assert before > 0
    line.read(rows.iloc[400:700], control=['{"id": "1", "pattern": "wave", "threshold": 1.0}'])
    between = len(line.rows("forecast"))
    assert all(row["probability"] > 1 - 1e-5 for row in line.rows("forecast")[before:])
    line.read(rows.iloc[700:], control=['{"id": "2", "pattern": "wave", "threshold": 0.3, "horizon": 3}'])
    after = line.rows("forecast")[between:]
    assert min(row["probability"] for row in after) < 0.9
    assert line.rows("refused") == []


def test_trees_take_over_from_a_chain_and_from_other_trees_with_what_is_known(tmp_path: Path) -> None:
    store, events = tmp_path / "models", some_events(99)
    for model in ("chain", "hazard"):
        fs.train(as_frame(events), wave(model), store)
    older, trees = versions(store)
    fs.train(as_frame(some_events(98)), wave("hazard"), store)
    newer = versions(store)[-1]
    seen = some_events(5)
    rows = as_rows(seen)
    line = lines.Running(spec_of(store, older))
    line.read(rows.iloc[:300])
    line.read(rows.iloc[300:600], control=[json.dumps({"id": "1", "pattern": "wave", "model_version": trees})])
    line.read(rows.iloc[600:], control=[json.dumps({"id": "2", "pattern": "wave", "model_version": newer})])
    by = {row["model_version"] for row in line.rows("forecast")}
    assert by == {older, trees, newer}
    # what the trees before have kept of the past is read on: a while after they began it is as if all had been read
    expected = in_one(store, seen)
    last = {(r["track"], r["index"]): r["probability"] for r in line.rows("forecast") if r["model_version"] == newer}
    assert len(last) > 200
    assert np.mean([abs(last[key] - expected[key]) < 1e-9 for key in last]) > 0.5


def test_what_moved_a_forecast_is_told_by_its_row_and_not_by_a_chain_state(store: Path) -> None:
    version = versions(store)[0]
    refused = CliRunner().invoke(models_command, ["explain", version, "0", "--models", str(store)])
    assert refused.exit_code == 2
    assert f"{version} is a hazard model" in refused.output
    assert "`because`" in refused.output


def test_a_model_whose_attributes_do_not_come_is_refused_by_name(store: Path) -> None:
    version = versions(store)[0]
    fewer = {name: kind for name, kind in TYPES.items() if name != "craft"}
    with pytest.raises(Exception, match=r"reads 'craft', which does not cross in this line"):
        lines.Running(spec_of(store, version, types=fewer, name="fewer")).read(as_rows(some_events(1)))
    settings = StreamSettings(models=store, patterns=[], forecast=["wave"])
    with pytest.raises(
        InputError, match=r"stream\.models: wave-v1-0001-\w+ reads 'craft', which the events of this line"
    ):
        compile_line(as_catalog(wave("hazard")), {"positions": fewer}, {}, settings)
    compiled = compile_line(as_catalog(wave("hazard")), {"positions": TYPES}, {}, settings)
    assert "craft" in compiled.positions.attributes
