"""A family counts, per feature, the events near it with some before and after; far symbols stand in between."""

from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from foresail.models.counts import Counts, TrackGroups, count_family_groups
from tests.models.letters import MINUTE, lettered, plain_counts

PATTERN = lettered("a ; b", features="c")
Arrays = NDArray[Any]


def count_family(
    far: Arrays, times: Arrays, first_of: Arrays, at: Arrays, feature: Arrays, near: Arrays, *rest: Any
) -> Counts:
    """The counts where all tracks are in one group."""
    groups = TrackGroups.one(len(first_of) - 1)
    return count_family_groups(far, times, first_of, at, feature, near, groups, *rest).together()


FAR = 0


@pytest.mark.parametrize("seed", range(30))
def test_family_counts_equal_those_of_the_stretches_written_out(seed: int) -> None:
    random, max_order, features = Random(seed), Random(seed).randrange(4), 3
    lengths = [random.randrange(1, 25) for _ in range(3)]
    first_of = np.cumsum([0, *lengths])
    far = np.array([random.randrange(2) for _ in range(first_of[-1])], dtype=np.int32)
    rows = [
        (event, feature, random.randrange(2, 4))
        for event in range(first_of[-1])
        for feature in range(features)
        if random.random() < 0.15
    ]
    near_at = np.searchsorted([event for event, _, _ in rows], np.arange(first_of[-1] + 1))
    stretches = []
    for begin, end in pairwise(first_of):
        for feature in range(features):
            near = {event: symbol for event, f, symbol in rows if f == feature and begin <= event < end}
            kept = sorted(
                {e for event in near for e in range(event - max_order, event + max_order + 1) if begin <= e < end}
            )
            pieces = np.split(kept, np.flatnonzero(np.diff(kept) > 1) + 1) if kept else []
            stretches += [[near.get(int(e), far[int(e)]) for e in piece] for piece in pieces]
    found = count_family(
        far,
        np.arange(first_of[-1], dtype=np.int64) * MINUTE,
        first_of,
        near_at.astype(np.int64),
        np.array([feature for _, feature, _ in rows], dtype=np.int32),
        np.array([symbol for _, _, symbol in rows], dtype=np.int32),
        PATTERN,
        max_order,
    )
    assert found.as_dictionary() == plain_counts(stretches, max_order + 1)


def test_a_match_that_began_before_the_stretch_is_counted() -> None:
    pattern = lettered("c ; c ; c ; b", "bc")
    c, b = (int(pattern.alphabet.symbol_of(1 << pattern.condition_names.index(letter))) for letter in "cb")
    far = np.full(10, c, dtype=np.int32)
    near_at = np.array([0] * 10 + [1], dtype=np.int64)
    found = count_family(
        far, np.arange(10), np.array([0, 10]), near_at, np.zeros(1, np.int32), np.array([b], np.int32), pattern, 1
    )
    assert found.matches == 1
    assert found.events == 2


def test_without_anything_near_nothing_is_counted() -> None:
    none = np.empty(0, dtype=np.int32)
    far = np.zeros(4, dtype=np.int32)
    found = count_family(far, np.arange(4), np.array([0, 4]), np.zeros(5, np.int64), none, none, PATTERN)
    assert (found.events, found.tracks, found.matches) == (0, 0, 0)
