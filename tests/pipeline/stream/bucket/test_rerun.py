"""Late events that are read after all: in the end everything is as if they had come in time."""

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from foresail.pipeline.results.match_batch import FOUND
from foresail.pipeline.stream.bucket.rerun import difference
from foresail.pipeline.stream.bucket.rules import BucketRules
from tests.pipeline.stream import lines

HOUR_US = 3_600_000_000


def delayed(events: pd.DataFrame, share: float, seed: int) -> pd.DataFrame:
    """The events in the order in which they come: some wait for hundreds of others."""
    rng = np.random.default_rng(seed)
    order = np.arange(len(events)) + np.where(rng.random(len(events)) < share, rng.uniform(20, 300, len(events)), 0)
    return events.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


def last_word(rows: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    """What a reader sees who keeps the last row of each match and status, and drops what was retracted."""
    held: dict[Any, dict[Any, tuple[Any, ...]]] = {}
    for row in rows:
        events = tuple(row["index"] - e for e in row["events"] or ())
        identity = (row["pattern"], row["track"], row["id_time_us"], row["id_tie"], events)
        if row["status"] == "retracted":
            held.pop(identity, None)
            continue
        # an episode is updated at each of its events: the last word is by the event
        kept = held.setdefault(identity, {})
        kept[row["status"], row["time_us"]] = (*identity, row["status"], row["time_us"], row["index"], row["count"])
    return {row for kept in held.values() for row in kept.values()}


@pytest.mark.parametrize(
    ("seed", "hours", "rest_hours"),
    [(0, 200, 1000), (1, 200, 1000), (2, 1, 1000), (3, 1, 1000), (4, 1, 1), (5, 1, 1), (6, 200, 1), (7, 2, 0.3)],
)
def test_in_the_end_a_line_that_reruns_says_what_a_batch_says(seed: int, hours: int, rest_hours: float) -> None:
    patterns = lines.some_patterns()
    events = lines.some_events(seed)
    rest_us = round(rest_hours * HOUR_US)
    rules = BucketRules(rerun_us=hours * HOUR_US, rest_after_us=rest_us, forget_after_us=9000 * HOUR_US)
    line = lines.Running(lines.spec_for(patterns, f"rerun{seed}"), rules)
    coming, rng = delayed(events, 0.1, seed), np.random.default_rng(seed)
    cuts = [0, *np.sort(rng.choice(np.arange(1, len(coming)), 12, replace=False)), len(coming)]
    for since, until in pairwise(cuts):
        line.read(coming.iloc[since:until])
    late = [json.loads(row["payload"]) for row in line.rows("late")]
    taken, left_out = ([row["offset"] for row in late if row["rerun"] is answer] for answer in (True, False))
    assert len(taken) > 20
    assert bool(left_out) == (hours < 200 or rest_hours < 200)
    expected = last_word(lines.in_batch(patterns, events[~events["offset"].isin(left_out)]))
    live = last_word(line.rows("match"))
    open_ends = {row for row in live - expected if row[-4] == "timed_out"}
    assert {row for row in expected - live if not began_before_the_past(row, live, line.rows("match"))} == set()
    assert live - expected - open_ends == set()


def began_before_the_past(row: tuple[Any, ...], live: set[tuple[Any, ...]], told: list[dict[str, Any]]) -> bool:
    """Whether the row is of an episode that was retracted and told again from the kept past on, which is later."""
    again = [other for other in live if other[:5] == row[:5]]
    retracted = {(r["pattern"], r["track"], r["id_time_us"], r["id_tie"]) for r in told if r["status"] == "retracted"}
    return row[:4] in retracted and bool(again) and all(row[6] < other[6] for other in again)


def test_an_event_later_than_that_stays_out_and_says_so() -> None:
    patterns, events = lines.some_patterns(), lines.some_events(7)
    line = lines.Running(lines.spec_for(patterns, "too late"), BucketRules(rerun_us=60_000_000))
    track = events[events["track"] == "t1"]
    line.read(events.drop(index=track.index[3]))
    line.read(events.loc[[track.index[3]]])
    (late,) = [json.loads(row["payload"]) for row in line.rows("late")]
    assert (late["reason"], late["rerun"]) == ("late", False)
    assert line.rows("match")
    without = lines.in_batch(patterns, events.drop(index=track.index[3]))
    assert lines.as_set(without) <= lines.as_set(line.rows("match"))


def test_a_match_that_a_late_event_undoes_is_retracted() -> None:
    patterns = lines.some_patterns()
    rows = pd.DataFrame({"track": "t", "time_us": [1, 3, 4], "word_0": 1, "offset": [0, 1, 2]})
    rows = rows.assign(kind=0, arrived_us=0, payload=None)
    line = lines.Running(lines.spec_for(patterns, "undone"), BucketRules(rerun_us=HOUR_US))
    line.read(rows)
    assert [row["status"] for row in line.rows("match")] == ["opened"]
    line.read(rows.iloc[:1].assign(time_us=2, word_0=0, offset=3))
    told = line.rows("match")[1:]
    assert [(row["status"], row["pattern"], row["time_us"]) for row in told] == [("retracted", "stays", 4)]
    line.read(rows.iloc[:1].assign(time_us=5, offset=4))
    assert [row["status"] for row in line.rows("match")][2:] == ["opened"]


def payload_row(track: str, began: int, status: str, time: int) -> dict[str, Any]:
    """A row of an episode that began at `began`."""
    known = {"pattern": "stays", "pattern_version": 1, "track": track, "index": time, "time_us": time}
    known |= {"status": status, "id_time_us": began, "id_tie": 0, "start_time_us": began}
    return {name: known.get(name) for name in FOUND.names}


def test_what_no_longer_holds_is_retracted_in_the_order_in_which_it_was_told_and_before_what_holds_instead() -> None:
    first = [payload_row("a", 1, status, 10 + n) for n, status in enumerate(("opened", "updated", "closed"))]
    second = [payload_row("b", 2, "opened", 20), payload_row("b", 2, "closed", 21)]
    third = [payload_row("c", 3, "opened", 30)]
    after = [first[0], payload_row("b", 5, "opened", 21), *third]

    def table(rows: list[dict[str, Any]]) -> pa.Table:
        return pa.Table.from_pylist(rows, schema=FOUND)

    told, new = difference([table([*first, *second]), table(third)], [table(after)])

    def said(tables: list[pa.Table]) -> list[tuple[Any, ...]]:
        rows = [row for some in tables for row in some.to_pylist()]
        return [(row["track"], row["id_time_us"], row["status"], row["time_us"]) for row in rows]

    gone = [("a", 1, "retracted", 11), ("b", 2, "retracted", 20)]
    assert said(told) == [*gone, ("a", 1, "opened", 10), ("b", 5, "opened", 21)]
    assert said(new) == [gone[1], ("b", 5, "opened", 21)], "the first one still is a match"
    assert difference([table(third)], [table(third)]) == ([], [])
