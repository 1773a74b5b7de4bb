"""Counts by group: each group as if it had been counted alone, all together as if there were no groups."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from foresail.models.counts import (
    Counts,
    GroupedCounts,
    TrackGroups,
    count,
    count_family_groups,
    count_groups,
    decay,
    decay_grouped,
    grouped_from_bytes,
    grouped_to_bytes,
    merge_grouped,
)
from foresail.models.errors import ModelFileError, OtherPatternError
from tests.models.letters import MINUTE, joined, lettered, symbols_of

PATTERN = lettered("a ; b", features="c", max_gap_us=30 * MINUTE)
NAMES = ("", "cargo", "ferry", "tug")
Track = tuple[str, NDArray[np.int32], NDArray[np.int64]]


def tracks_of(random: Random) -> list[Track]:
    found = []
    for _ in range(random.randrange(1, 9)):
        symbols = np.array([random.randrange(4) for _ in range(random.randrange(12))], dtype=np.int32)
        times = np.cumsum([random.choice([1, 2, 40]) * MINUTE for _ in symbols]).astype(np.int64)
        found.append((random.choice(NAMES), symbols, times))
    return found


def arrays_of(tracks: list[Track]) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    symbols, first_of = joined([symbols for _, symbols, _ in tracks])
    return symbols, np.concatenate([np.empty(0, dtype=np.int64), *(times for _, _, times in tracks)]), first_of


def grouped(tracks: list[Track], max_order: int) -> GroupedCounts:
    names = tuple(sorted({name for name, _, _ in tracks}))
    groups = TrackGroups(names, np.array([names.index(name) for name, _, _ in tracks], dtype=np.int64))
    return count_groups(*arrays_of(tracks), groups, PATTERN, max_order)


def assert_equal(found: Counts, expected: Counts) -> None:
    assert found.as_dictionary() == expected.as_dictionary()
    for name in ("events", "tracks", "matches", "first_us", "last_us"):
        assert getattr(found, name) == getattr(expected, name)
    for name in ("number", "seconds", "squares", "histogram"):
        np.testing.assert_allclose(getattr(found.intervals, name), getattr(expected.intervals, name))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 4))
def test_groups_count_as_if_alone_and_add_up_for_any_partitioning(seed: int, max_order: int) -> None:
    random = Random(seed)
    tracks = tracks_of(random)
    parts: list[list[Track]] = [[], [], []]
    for track in tracks:
        random.choice(parts).append(track)
    merged = merge_grouped([grouped(part, max_order) for part in parts if part])
    assert_equal(merged.together(), count(*arrays_of(tracks), PATTERN, max_order))
    for name in merged.groups:
        alone = [track for track in tracks if track[0] == name]
        assert_equal(merged.of_group(name), count(*arrays_of(alone), PATTERN, max_order))


def test_groups_of_a_family_add_up_too() -> None:
    random = np.random.default_rng(5)
    first_of = np.array([0, 20, 45, 70])
    near = random.random(70) < 0.4
    near_at = np.concatenate([[0], np.cumsum(near)])
    rows = int(near.sum())
    far, close = np.zeros(70, dtype=np.int32), random.integers(1, 4, rows).astype(np.int32)
    feature, times = random.integers(0, 2, rows).astype(np.int32), np.arange(70) * MINUTE
    shared = (far, times, first_of, near_at, feature, close)
    one = count_family_groups(*shared, TrackGroups.one(3), PATTERN, 2).together()
    two = count_family_groups(*shared, TrackGroups(("cargo", "tug"), np.array([1, 0, 1])), PATTERN, 2)
    assert_equal(two.together(), one)
    assert two.tracks.tolist() == [1, 2]
    mine = slice(int(near_at[20]), int(near_at[45]))
    alone = (far[20:45], times[20:45], np.array([0, 25]), near_at[20:46] - near_at[20], feature[mine], close[mine])
    assert_equal(two.of_group("cargo"), count_family_groups(*alone, TrackGroups.one(1), PATTERN, 2).together())


def test_decay_is_that_of_the_whole() -> None:
    held = grouped(tracks_of(Random(3)), 3)
    assert_equal(decay_grouped(held, 0.25).together(), decay(held.together(), 0.25))


def test_counts_by_group_are_a_file_that_is_checked() -> None:
    held = grouped(tracks_of(Random(4)), 3)
    content = grouped_to_bytes(held)
    back = grouped_from_bytes(content)
    assert back.groups == held.groups
    for name in held.groups:
        assert_equal(back.of_group(name), held.of_group(name))
    with pytest.raises(ModelFileError, match="cut short"):
        grouped_from_bytes(content[: len(content) // 2], "some place")


def test_groups_of_another_pattern_are_not_added() -> None:
    other = lettered("b ; a", "abd")
    symbols = symbols_of(other, "abd")
    foreign = count_groups(symbols, np.arange(3), np.array([0, 3]), TrackGroups.one(1), other, 3)
    with pytest.raises(OtherPatternError, match="another alphabet"):
        merge_grouped([grouped(tracks_of(Random(1)), 3), foreign])
