"""A line that is reconfigured while it runs, and what it learns, bucket by bucket: no Spark is needed for that."""

import json
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from foresail.models.counts import count, counts_from_bytes, merge
from foresail.models.forecaster import Forecaster
from foresail.models.model import ModelSettings, build
from foresail.models.store import ModelStore
from foresail.models.suffix_tree import LearnSettings
from foresail.models.symbols import SymbolTable
from foresail.patterns.catalog.loader import read_catalog
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions.text import text_of
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.tables import shared_conditions
from foresail.patterns.spec import without_features
from foresail.pipeline.cli.models import command as models_command
from foresail.pipeline.progress import SILENT
from foresail.pipeline.settings import Settings, StreamSettings
from foresail.pipeline.stream.bucket.line_spec import LineSpec
from foresail.pipeline.stream.control.configure import Order, control_message, keep_catalog, relearned
from foresail.pipeline.stream.learning.online import learned
from tests.pipeline.stream import lines

CATALOG = """\
patterns:
- name: stays
  version: 1
  domain: maritime
  says: A vessel lies still.
  where: {slow: x < 1}
  pattern: slow{3,}
  max_gap: 30min
  features: {fast: x >= 5}
- name: starts
  version: 1
  domain: maritime
  says: A vessel starts.
  where: {slow: x < 1, fast: x >= 5}
  pattern: slow ; fast
"""
CHANGED = CATALOG.replace("slow: x < 1, fast: x >= 5", "slow: x < 1, fast: x >= 3").replace(
    "name: starts\n  version: 1", "name: starts\n  version: 2"
)
TYPES = {"x": AttributeType.NUMBER}


def events(seed: int, number: int = 1200) -> pd.DataFrame:
    """Events that carry the attribute itself too."""
    frame = lines.some_events(seed, events=number)
    rng = np.random.default_rng(seed)
    x = rng.choice([0.5, 2.0, 4.0, 6.0], size=number, p=[0.45, 0.2, 0.15, 0.2])
    return frame.assign(x=x, word_0=(x < 1).astype(int) + 2 * (x >= 5))


@pytest.fixture
def spec(tmp_path: Path) -> LineSpec:
    (tmp_path / "catalog.yaml").write_text(CATALOG, encoding="utf-8")
    entries = list(read_catalog([tmp_path / "catalog.yaml"]))
    plain = tuple(compile_pattern(without_features(entry.spec()), TYPES) for entry in entries)
    pattern = compile_pattern(entries[0].spec(), TYPES)
    by_text = {text_of(c): c for c in (*shared_conditions(plain), *pattern.conditions)}
    conditions = tuple(by_text.values())
    assert [text_of(c) for c in conditions] == ["x < 1", "x >= 5"]
    rows = events(99)
    table = SymbolTable(pattern, conditions)
    counts = count(
        table.symbols(rows["word_0"].to_numpy(np.int64).reshape(-1, 1)),
        rows["time_us"].to_numpy(np.int64),
        np.array([0, len(rows)]),
        pattern,
        6,
    )
    store = ModelStore(tmp_path / "models")
    store.keep_counts(counts)
    settings = ModelSettings(learn=LearnSettings(order=2), horizon=30, within=5, threshold=0.3)
    version = store.add(build(pattern, counts, settings))
    return LineSpec(
        str(tmp_path), plain, conditions, (), tmp_path / "models", {"stays": version}, "all", types=TYPES, score_share=1
    )


def in_one(spec: LineSpec, version: str, rows: pd.DataFrame) -> dict[tuple[str, int], float]:
    """The forecasts of a batch by one model, by track and index."""
    forecaster = Forecaster([ModelStore(Path(str(spec.models))).load("stays", version)], spec.conditions, "all")
    ordered = rows.sort_values(["track", "time_us"], kind="stable", ignore_index=True)
    first = np.flatnonzero(~ordered["track"].duplicated())
    words = ordered["word_0"].to_numpy(np.int64).reshape(-1, 1)
    batch = EventBatch(words, ordered["time_us"].to_numpy(np.int64), np.append(first, len(ordered)))
    told, _ = forecaster.advance(batch, forecaster.fresh(len(first)))
    tracks = ordered["track"].to_numpy()[told.event]
    return {(t, int(i)): float(p) for t, i, p in zip(tracks, told.index, told.probability, strict=True)}


def told_of(line: Any) -> dict[tuple[str, int], tuple[str, float]]:
    return {(r["track"], r["index"]): (r["model_version"], r["probability"]) for r in line.rows("forecast")}


def test_the_forecasts_of_a_stream_are_those_of_a_batch(spec: LineSpec) -> None:
    rows, line = events(1), lines.Running(spec)
    for part in range(0, 1200, 170):
        line.read(rows.iloc[part : part + 170])
    assert {k: p for k, (_, p) in told_of(line).items()} == in_one(spec, spec.forecast["stays"], rows)


def test_a_new_order_goes_on_as_if_it_had_read_the_whole_history(spec: LineSpec) -> None:
    rows, line = events(2), lines.Running(spec)
    store = ModelStore(Path(str(spec.models)))
    line.read(rows.iloc[:600])
    version = store.add(relearned(store, store.load("stays"), 5))
    message = {"id": "1", "pattern": "stays", "model_version": version, "order": 5}
    line.read(rows.iloc[600:], control=[json.dumps(message)])
    by_version: dict[str, dict[tuple[str, int], float]] = {}
    for key, (made_by, probability) in told_of(line).items():
        by_version.setdefault(made_by, {})[key] = probability
    expected = in_one(spec, version, rows)
    assert set(by_version) == {spec.forecast["stays"], version}
    assert by_version[version]
    assert by_version[version] == {key: expected[key] for key in by_version[version]}


def test_threshold_kind_and_horizon_take_hold_at_once_and_survive(spec: LineSpec) -> None:
    rows, line = events(3), lines.Running(replace(spec, score_share=0, emission="positive"))
    line.read(rows.iloc[:400], control=['{"id": "1", "pattern": "stays", "threshold": 0.999}'])
    assert line.rows("forecast") == []
    line.read(rows.iloc[400:800], control=['{"id": "2", "pattern": "stays", "threshold": 0.01, "kind": "interval"}'])
    line.read(rows.iloc[800:])
    kinds = {row["forecast_kind"] for row in line.rows("forecast")}
    assert kinds == {"interval"}
    assert line.saved is not None
    assert line.saved.configuration.for_pattern("stays").threshold == 0.01


def test_only_changes_of_forecasts_are_told_while_all_are_scored(spec: LineSpec) -> None:
    rows, line = events(3), lines.Running(replace(spec, name="changes", emission="changes"))
    for part in range(0, 1200, 300):
        line.read(rows.iloc[part : part + 300])
    told: dict[str, list[bool]] = {}
    for row in sorted(line.rows("forecast"), key=lambda row: row["index"]):
        told.setdefault(row["track"], []).append(row["positive"])
    assert told
    for answers in told.values():
        assert answers == [n % 2 == 0 for n in range(len(answers))]


def test_a_model_that_is_not_in_the_store_is_refused_and_the_old_one_serves_on(spec: LineSpec) -> None:
    line = lines.Running(spec)
    line.read(events(4), control=['{"id": "1", "pattern": "stays", "model_version": "stays-v1-0077-abcdef"}'])
    (reply,) = [json.loads(row["payload"]) for row in line.rows("ack")]
    assert not reply["accepted"]
    assert "stays-v1-0077-abcdef" in reply["reason"]
    assert {version for version, _ in told_of(line).values()} == {spec.forecast["stays"]}


def test_a_new_catalog_swaps_changed_patterns_and_leaves_the_others_under_way(spec: LineSpec, tmp_path: Path) -> None:
    rows, line = events(5), lines.Running(spec)
    (tmp_path / "changed.yaml").write_text(CHANGED, encoding="utf-8")
    version = keep_catalog(Path(str(spec.models)), (tmp_path / "changed.yaml",))
    line.read(rows.iloc[:600])
    line.read(rows.iloc[600:], control=[json.dumps({"id": "1", "catalog": version})])
    (reply,) = [json.loads(row["payload"]) for row in line.rows("ack")]
    assert reply["accepted"], reply
    old = tuple(compile_pattern(without_features(e.spec()), TYPES) for e in read_catalog([tmp_path / "catalog.yaml"]))
    stays = lines.as_set([row for row in lines.in_batch(old, rows) if row["pattern"] == "stays"])
    assert lines.as_set([row for row in line.rows("match") if row["pattern"] == "stays"]) == stays
    starts = [row for row in line.rows("match") if row["pattern"] == "starts"]
    assert {row["pattern_version"] for row in starts} == {1, 2}
    x = rows.set_index(["track", "time_us"])["x"]
    assert min(x[row["track"], row["time_us"]] for row in starts if row["pattern_version"] == 2) == 4.0
    assert min(x[row["track"], row["time_us"]] for row in starts if row["pattern_version"] == 1) == 6.0


def test_a_catalog_that_needs_what_does_not_cross_is_refused(spec: LineSpec, tmp_path: Path) -> None:
    (tmp_path / "strange.yaml").write_text(CATALOG.replace("x >= 5", "depth_m >= 5"), encoding="utf-8")
    version = keep_catalog(Path(str(spec.models)), (tmp_path / "strange.yaml",))
    line = lines.Running(spec)
    line.read(events(6), control=[json.dumps({"id": "1", "catalog": version})])
    (reply,) = [json.loads(row["payload"]) for row in line.rows("ack")]
    assert not reply["accepted"]
    assert "depth_m" in reply["reason"]
    assert line.rows("match")


def test_what_a_stream_counts_is_what_a_batch_counts(spec: LineSpec) -> None:
    rows, line = events(7), lines.Running(replace(spec, train=True))
    for part in range(0, 1200, 130):
        line.read(rows.iloc[part : part + 130])
    parts = [counts_from_bytes(row["content"]) for row in line.rows("counts")]
    ordered = rows.sort_values(["track", "time_us"], kind="stable", ignore_index=True)
    entry = next(iter(read_catalog([Path(str(spec.models)).parent / "catalog.yaml"])))
    pattern = compile_pattern(entry.spec(), TYPES)
    symbols = SymbolTable(pattern, spec.conditions).symbols(ordered["word_0"].to_numpy(np.int64).reshape(-1, 1))
    first = np.append(np.flatnonzero(~ordered["track"].duplicated()), len(ordered))
    whole = count(symbols, ordered["time_us"].to_numpy(np.int64), first, pattern, 6)
    assert merge(parts).as_dictionary() == whole.as_dictionary()
    assert merge(parts).events == whole.events


def test_a_model_learned_on_the_way_is_kept_and_taken_up(spec: LineSpec) -> None:
    rows, line = events(8), lines.Running(replace(spec, train=True))
    line.read(rows.iloc[:600])
    parts = [counts_from_bytes(row["content"]) for row in line.rows("counts")]
    version = learned(spec, "stays", parts)
    line.read(rows.iloc[600:], control=[json.dumps({"id": "1", "pattern": "stays", "model_version": version})])
    assert version in {made_by for made_by, _ in told_of(line).values()}
    assert spec.forecast["stays"] != version


def test_forecasts_are_scored_against_what_happened(spec: LineSpec) -> None:
    line = lines.Running(spec)
    line.read(events(9))
    (stats,) = [json.loads(row["payload"]) for row in line.rows("stats")]
    settled = stats["outcomes"]["stays"]
    assert sum(settled[name] for name in ("tp", "fp", "fn", "tn")) > 500
    assert settled["tp"] > 0


def test_a_promoted_model_is_taken_up_and_a_rollback_too(spec: LineSpec) -> None:
    """By the commands that the schedule runs: `foresail models promote`, then what `foresail configure` sends."""
    rows, line, place = events(9), lines.Running(spec), str(spec.models)
    settings = Settings(stream=StreamSettings(models=Path(place)))
    store, first = ModelStore(Path(place)), spec.forecast["stays"]
    challenger = store.add(relearned(store, store.load("stays"), 4), promote=False)

    def tell(command: str, key: str) -> str:
        done = CliRunner().invoke(models_command, [command, "stays", "--models", place, "--json"])
        version = str(json.loads(done.output.splitlines()[-1])[key])
        return control_message(settings, Order("stays", model_version=version), SILENT)

    line.read(rows.iloc[:400])
    line.read(rows.iloc[400:800], control=[tell("promote", "promoted")])
    line.read(rows.iloc[800:], control=[tell("rollback", "champion")])
    assert [json.loads(row["payload"])["accepted"] for row in line.rows("ack")] == [True, True]
    of_one_track = [version for (track, _), (version, _) in sorted(told_of(line).items()) if track == rows["track"][0]]
    assert [version for version, _ in groupby(of_one_track)] == [first, challenger, first]
