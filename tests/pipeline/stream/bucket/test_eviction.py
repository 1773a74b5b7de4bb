"""Tracks at rest in their chunks, one by one: laid down, fetched, forgotten."""

from itertools import count

import numpy as np
import pandas as pd

from foresail.pipeline.stream.bucket.eviction import Migrating, chunk_of, evict, fetch, forget
from foresail.pipeline.stream.bucket.line_spec import monitor_for
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.control.message import Configuration
from tests.pipeline.stream import lines

SPEC = lines.spec_for(lines.some_patterns(), "resting")
NAMES = np.array([name for name, _ in zip((n for n in map(str, count()) if chunk_of(n) == 7), range(3), strict=False)])
"""Three tracks that rest in one chunk."""


def laid_down(*times: int) -> tuple[lines.Chunks, Migrating]:
    line = monitor_for(SPEC, Configuration())
    cold_store, migrate = lines.Chunks(), Migrating(line, lambda _pattern, _version: None)
    state = line.fresh(len(times))._replace(last_time=np.array(times, dtype=np.int64))
    evict(NAMES[: len(times)].astype(object), state, cold_store, line, migrate)
    return cold_store, migrate


def test_those_of_a_chunk_that_were_not_heard_of_since_are_forgotten_and_the_others_kept() -> None:
    line = monitor_for(SPEC, Configuration())
    cold_store, migrate = laid_down(300, 100, 200)
    assert forget(8, 1000, cold_store, line, migrate) == 0
    assert forget(7, 100, cold_store, line, migrate) == 0
    before = dict(cold_store)
    assert before[7] is cold_store[7], "nobody is forgotten: the chunk is not written again"
    assert forget(7, 200, cold_store, line, migrate) == 1
    assert cold_store[7].tracks.tolist() == [NAMES[0], NAMES[2]]
    names, states = fetch(NAMES, lines.Chunks(cold_store), line, migrate)
    assert dict(zip(names, states.last_time, strict=True)) == {NAMES[0]: 300, NAMES[2]: 200}
    assert forget(7, 301, cold_store, line, migrate) == 2
    assert cold_store == {}
    assert forget(7, 301, cold_store, line, migrate) == 0


def test_a_track_that_rests_is_forgotten_later_and_then_begins_anew() -> None:
    minute, begin = lines.MINUTE_US, 1_700_000_000_000_000
    event = lines.some_events(1, tracks=1, events=1).assign(time_us=begin, word_0=0)
    line = lines.Running(SPEC, BucketRules(rest_after_us=5 * minute, forget_after_us=60 * minute))
    line.read(event, now_us=minute)
    line.read(lines.NOTHING, now_us=10 * minute)
    assert list(line.chunks) == [chunk_of("t0")]
    forgotten = 0
    for n in range(256):  # each micro-batch looks at four of the 1,024 chunks
        line.read(lines.NOTHING, now_us=(11 + n % 40) * minute)
        assert line.bucket is not None
        forgotten += line.bucket.tally.forgotten
    assert (forgotten, list(line.chunks)) == (0, [chunk_of("t0")])
    for n in range(256):
        line.read(lines.NOTHING, now_us=(62 * 60_000_000) + minute + n)
        forgotten += line.bucket.tally.forgotten
    assert (forgotten, line.chunks) == (1, {})
    line.read(pd.concat([event.assign(time_us=begin + (100 + n) * minute, word_0=1) for n in range(3)]))
    assert [row["index"] for row in line.rows("match")] == [3], "it begins anew, at index 1"
