"""Waiting times are exact: they equal the sum over every string of symbols."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.models.chain import embed, merged
from foresail.models.errors import ModelSettingError, ModelSizeError
from foresail.models.suffix_tree import SuffixTree
from foresail.models.waiting import expected_seconds, waiting_times
from tests.models.letters import lettered, symbols_of
from tests.models.random_trees import brute_force, random_automaton, random_tree


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_waiting_times_equal_the_enumeration_of_all_strings(seed: int) -> None:
    random = Random(seed)
    symbols, horizon = random.randrange(2, 4), 5
    tree, automaton = random_tree(random, symbols, 3), random_automaton(random, symbols)
    chain = merged(tree, automaton)
    history = tuple(random.randrange(symbols) for _ in range(random.randrange(6)))
    x = 0
    for symbol in history:
        x = chain.step[x, symbol]
    waiting = waiting_times(chain, horizon)
    expected, zeros = brute_force(tree, automaton, history, horizon)
    assert waiting[x] == pytest.approx(expected, abs=1e-12)
    means = np.array([10.0, *([1.0] * (symbols - 1))])
    seconds = expected_seconds(chain, waiting, means)
    for n in range(horizon):
        if expected[n] > 0:
            assert seconds[x, n] == pytest.approx((n + 1) + 9 * zeros[n] / expected[n], rel=1e-9)


def test_a_then_three_b() -> None:
    pattern = lettered("a ; b ; b ; b")
    probability = dict(zip(symbols_of(pattern, "xab").tolist(), (0.0, 0.3, 0.7), strict=True))
    distribution = np.array([[probability[symbol] for symbol in range(3)]])
    tree = SuffixTree(3, 0, np.empty((1, 0), dtype=np.int32), np.zeros(1, dtype=np.int32), distribution)
    chain = embed(tree, pattern)
    x = 0
    for symbol in symbols_of(pattern, "ab"):
        x = chain.step[x, symbol]
    waiting = waiting_times(chain, 4)[x]
    assert waiting[2] == 0
    assert waiting[1] == pytest.approx(0.7**2, abs=1e-15)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60))
def test_a_distribution_sums_to_one_at_most(seed: int, horizon: int) -> None:
    random = Random(seed)
    waiting = waiting_times(merged(random_tree(random, 3, 3), random_automaton(random, 3)), horizon)
    assert (waiting >= 0).all()
    assert waiting.sum(axis=1).max() <= 1 + 1e-12


def test_a_constant_step_makes_seconds_a_multiple_of_events() -> None:
    chain = merged(random_tree(Random(3), 3, 3), random_automaton(Random(3), 3))
    waiting = waiting_times(chain, 20)
    seconds = expected_seconds(chain, waiting, np.full(3, 60.0))
    expected = np.where(waiting > 0, 60.0 * np.arange(1, 21), 0)
    assert seconds == pytest.approx(expected)


def test_a_horizon_of_no_events_is_refused() -> None:
    chain = merged(random_tree(Random(3), 3, 3), random_automaton(Random(3), 3))
    with pytest.raises(ModelSettingError, match="horizon is 0 events"):
        waiting_times(chain, 0)


def test_a_table_too_large_is_refused_with_a_way_out() -> None:
    chain = merged(random_tree(Random(3), 3, 3), random_automaton(Random(3), 3))
    with pytest.raises(ModelSizeError, match="Choose a shorter horizon"):
        waiting_times(chain, 10**9)
