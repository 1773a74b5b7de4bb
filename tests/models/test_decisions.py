"""The three kinds of forecast against their definitions, written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.models.decisions import NONE, interval, most_likely, within
from foresail.models.errors import ModelSettingError

masses = st.lists(st.integers(0, 20), min_size=1, max_size=12)


def shortest(waiting: list[float], threshold: float) -> tuple[int, int]:
    """The interval by trying all: the shortest, then the likelier, then the earlier."""
    fitting = [
        (last - first, -round(sum(waiting[first - 1 : last]), 9), first, last)
        for first in range(1, len(waiting) + 1)
        for last in range(first, len(waiting) + 1)
        if sum(waiting[first - 1 : last]) >= threshold and sum(waiting[first - 1 : last]) > 0
    ]
    return min(fitting)[2:] if fitting else (NONE, NONE)


@settings(max_examples=200, deadline=None)
@given(masses, st.sampled_from([0.0, 0.0625, 0.25, 0.5, 0.75]))
def test_the_interval_is_the_shortest_then_the_likelier_then_the_earlier(parts: list[int], threshold: float) -> None:
    waiting = [part / 256 for part in parts]  # sixteenths of sixteenths: sums are exact
    found = interval(np.array([waiting]), threshold)
    assert (found.earliest[0], found.latest[0]) == shortest(waiting, threshold)
    if found.earliest[0] != NONE:
        assert found.probability[0] == pytest.approx(sum(waiting[found.earliest[0] - 1 : found.latest[0]]))
        assert found.probability[0] > 0


def test_none_is_said_where_no_interval_reaches_the_threshold() -> None:
    found = interval(np.array([[0.1, 0.2], [0.5, 0.3]]), 0.6)
    assert found.earliest.tolist() == [NONE, 1]
    assert found.latest.tolist() == [NONE, 2]
    assert found.probability.tolist() == [0.0, 0.8]


def test_a_threshold_that_32_bits_miss_by_rounding_is_reached() -> None:
    waiting = np.array([[0.7]], dtype=np.float32)
    assert float(waiting[0, 0]) < 0.7
    assert interval(waiting, 0.7).earliest.tolist() == [1]
    assert interval(waiting, 0.70001).earliest.tolist() == [NONE]


def test_masses_that_only_rounding_tells_apart_are_equal_so_that_the_earlier_interval_is_taken() -> None:
    waiting = np.array([[0.1, 0.0, 0.1]]) + np.array([[0.0, 0.0, 1e-9]])
    assert interval(waiting, 0.05).earliest.tolist() == [1]
    assert interval(waiting + np.array([[0.0, 0.0, 1e-6]]), 0.05).earliest.tolist() == [3]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 0.08), min_size=2, max_size=12))
def test_a_longer_look_ahead_never_lowers_the_probability(waiting: list[float]) -> None:
    found = [float(within(np.array([waiting]), n)[0]) for n in range(1, len(waiting) + 1)]
    assert found == sorted(found)


def test_the_likeliest_is_the_earliest_of_equals_and_none_where_nothing_is_possible() -> None:
    found = most_likely(np.array([[0.1, 0.3, 0.3], [0.0, 0.0, 0.0]]))
    assert found.events.tolist() == [2, NONE]
    assert found.probability.tolist() == [0.3, 0.0]


@pytest.mark.parametrize("events", [0, 4])
def test_a_look_ahead_outside_the_horizon_is_refused(events: int) -> None:
    with pytest.raises(ModelSettingError, match="outside the horizon of 1 to 3"):
        within(np.zeros((1, 3)), events)
