"""A fingerprint tells counts apart by everything that a model is made of."""

from dataclasses import replace

import numpy as np
import pytest

from foresail.models.counts.table import Counts, Level
from tests.models.letters import counts_of_text

COUNTS = counts_of_text("abbaabab", "ab", max_order=2)


def with_level(counts: Counts, place: int, level: Level) -> Counts:
    levels = tuple(level if n == place else held for n, held in enumerate(counts.levels))
    return replace(counts, levels=levels)


def changed(what: str) -> Counts:
    """The same counts but for one thing."""
    first = COUNTS.levels[1]
    match what:
        case "codes":
            return with_level(COUNTS, 1, Level(first.codes + (first.codes == first.codes.max()), first.counts))
        case "counts":
            return with_level(COUNTS, 1, Level(first.codes, first.counts + 1))
        case "seconds":
            seconds = COUNTS.intervals.seconds * 2
            return replace(COUNTS, intervals=replace(COUNTS.intervals, seconds=seconds))
        case "events":
            return replace(COUNTS, events=COUNTS.events + 1)
        case "tracks":
            return replace(COUNTS, tracks=COUNTS.tracks + 1)
        case _:
            return replace(COUNTS, max_order=COUNTS.max_order + 1)


@pytest.mark.parametrize("what", ["codes", "counts", "seconds", "events", "tracks", "max_order"])
def test_counts_that_differ_have_another_fingerprint(what: str) -> None:
    assert changed(what).fingerprint() != COUNTS.fingerprint()


def test_equal_counts_have_one_fingerprint() -> None:
    assert counts_of_text("abbaabab", "ab", max_order=2).fingerprint() == COUNTS.fingerprint()


def test_a_step_that_hardly_varies_is_constant_and_one_that_does_is_told_by_its_median() -> None:
    assert COUNTS.constant_step_s() == COUNTS.sampling_step_s() == 60.0
    varied = replace(COUNTS.intervals, squares=COUNTS.intervals.squares * 1.5)
    assert replace(COUNTS, intervals=varied).constant_step_s() is None
    assert replace(COUNTS, intervals=varied).sampling_step_s() == pytest.approx(60, rel=0.1)
    empty = replace(COUNTS.intervals, number=np.zeros(2))
    assert replace(COUNTS, intervals=empty).sampling_step_s() is None
    assert replace(COUNTS, intervals=empty).constant_step_s() is None


def test_a_symbol_that_never_came_takes_the_mean_of_all() -> None:
    never = counts_of_text("aaaa", "ab", max_order=1)
    assert never.mean_seconds().tolist() == [60.0, 60.0]
