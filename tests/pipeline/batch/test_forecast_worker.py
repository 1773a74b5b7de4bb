"""What a worker tells: rows by the model of each track's group, however its events are cut into batches."""

from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa

from foresail.models.counts import NO_GROUP, GroupedCounts, grouped_from_bytes, merge_grouped
from foresail.models.decisions import KINDS as FORECAST_KINDS
from foresail.models.groups import GroupModels, build_groups
from foresail.models.model import Emission, Model, ModelSettings, build
from foresail.models.suffix_tree import LearnSettings
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.spec import spec_of
from foresail.pipeline.batch.forecast_worker import FORECASTS, POSITIVE, BeginForecasting, GroupsServed, ServingModels
from foresail.pipeline.training.count import BeginCounting
from foresail.pipeline.training.symbols import Membership
from tests.models.forecasting import random_text
from tests.models.letters import MINUTE, lettered, words_of

PATTERN = lettered("a ; b", features="c", max_gap_us=30 * MINUTE)
SETTINGS = ModelSettings(learn=LearnSettings(order=2, min_context_probability=0.01), horizon=12, within=3)
TRACKS = [f"t{n}" for n in range(6)]
KINDS = ["ferry", "tug", None, "ferry", "tug", "yacht"]
LETTERS = {"ferry": "aab", "tug": "abcx", "yacht": "x", None: "abx"}
MEMBERSHIP = Membership(pa.array(TRACKS), pa.array(KINDS))


def rows_of(tracks: list[int], begin: int = 0, end: int = 60) -> EventBatch:
    texts = [random_text(Random(n), 60, LETTERS[KINDS[n]])[begin:end] for n in tracks]
    times = np.tile(np.arange(begin, end, dtype=np.int64) * MINUTE, len(tracks))
    words = np.concatenate([words_of(PATTERN, text) for text in texts])
    first_of = np.arange(len(tracks) + 1, dtype=np.int64) * (end - begin)
    return EventBatch(words, times, first_of, pa.array([TRACKS[n] for n in tracks]))


def counted(*partitions: list[int]) -> GroupedCounts:
    parts = []
    for tracks in partitions:
        walk = BeginCounting((PATTERN,), {}, 4, {PATTERN.name: MEMBERSHIP})()
        assert not list(walk.advance(rows_of(tracks)))
        (batch,) = walk.finish()
        parts.append(grouped_from_bytes(batch.column("counts")[0].as_py()))
    return merge_grouped(parts)


def models_of(counts: GroupedCounts) -> tuple[Model, GroupModels]:
    return build(PATTERN, counts.together(), SETTINGS), build_groups(PATTERN, counts, SETTINGS, "vessel_type", 2)


def told(batches: list[EventBatch], emission: Emission = "all") -> tuple[pa.Table, dict[tuple[str, str], int]]:
    whole, groups = models_of(counted([0, 1, 2], [3, 4, 5]))
    asked = ServingModels((whole,), PATTERN.conditions, (GroupsServed(groups, MEMBERSHIP),))
    walk = BeginForecasting(asked, {}, emission)()
    found = [batch for rows in batches for batch in walk.advance(rows)]
    return pa.Table.from_batches(found), dict(walk.counts)


def test_workers_count_groups_that_add_up_over_partitions() -> None:
    one, other = counted([0, 1, 2, 3, 4, 5]), counted([5, 1], [0], [2, 3, 4])
    assert one.groups == other.groups == (NO_GROUP, "ferry", "tug", "yacht")
    for name in one.groups:
        assert one.of_group(name).as_dictionary() == other.of_group(name).as_dictionary()


def test_rows_name_the_model_of_the_track_s_group() -> None:
    table, counts = told([rows_of([0, 1, 2, 5])])
    version = dict(zip(table.column("track").to_pylist(), table.column("model_version").to_pylist(), strict=True))
    assert version["t0"].endswith("@ferry")
    assert version["t1"].endswith("@tug")
    assert version["t2"] == version["t5"]
    assert "@" not in version["t2"]
    assert counts[FORECASTS, PATTERN.name] == table.num_rows
    assert counts[POSITIVE, PATTERN.name] == sum(table.column("positive").to_pylist())


def test_a_track_cut_in_two_batches_is_told_as_if_it_were_whole() -> None:
    whole, _ = told([rows_of([0]), rows_of([1])])
    cut, _ = told([rows_of([0], 0, 25), rows_of([0], 25, 60), rows_of([1], 0, 7), rows_of([1], 7, 60)])
    assert cut.to_pylist() == whole.to_pylist()


def test_positive_rows_are_those_of_every_row_that_are_positive() -> None:
    every, positive = told([rows_of([0, 1, 2])])[0], told([rows_of([0, 1, 2])], "positive")[0]
    assert positive.num_rows
    assert positive.to_pylist() == [row for row in every.to_pylist() if row["positive"]]


def test_where_there_is_no_interval_there_is_no_probability_and_the_other_kinds_keep_theirs() -> None:
    whole = build(PATTERN, counted([0, 1, 2], [3, 4, 5]).together(), SETTINGS)
    for kind in FORECAST_KINDS:
        model = whole.with_settings(kind=kind, threshold=0.6)
        walk = BeginForecasting(ServingModels((model,), PATTERN.conditions), {}, "all")()
        rows = pa.Table.from_batches(list(walk.advance(rows_of([0, 2, 5])))).to_pylist()
        none = [row for row in rows if row["earliest"] is None]
        if kind == "interval":
            assert none
            assert len(none) < len(rows)
            assert all(row["probability"] is None and not row["positive"] for row in none)
            assert all(row["probability"] >= 0.6 and row["positive"] for row in rows if row["earliest"] is not None)
        else:
            assert all(row["probability"] is not None for row in rows)


def test_a_pattern_that_the_events_do_not_fit_is_not_counted_and_the_others_are() -> None:
    """Its alphabet rules out that `a` and `b` hold at once, and on one event they do."""
    other = replace(PATTERN, spec=replace(PATTERN.spec, name="other"))
    rows = rows_of([0, 1])
    rows.words[5] = 0b11
    odd = compile_pattern(spec_of("odd", "x", {"x": 'letter == "x"'}))
    walk = BeginCounting((other, odd), {}, 4)()
    assert not list(walk.advance(rows))
    (batch,) = walk.finish()
    found = {row["pattern"]: row for row in batch.to_pylist()}
    assert found["other"]["counts"] is None
    assert "held on one event, which the alphabet rules out" in found["other"]["fault"]
    assert found["odd"]["fault"] is None
    assert grouped_from_bytes(found["odd"]["counts"]).together().events == 120
