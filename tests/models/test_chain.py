"""The merged chain says what walking the automaton and the tree with the whole history says."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.models.chain import distances, embed, merged
from foresail.models.errors import ModelSizeError
from foresail.models.suffix_tree import LearnSettings, learn
from foresail.patterns.spec import AfterMatch
from tests.models.letters import counts_of_text, lettered, symbols_of
from tests.models.random_trees import longest_suffix, random_automaton, random_tree


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6))
def test_the_chain_equals_walking_the_tree_with_the_full_history(seed: int) -> None:
    random = Random(seed)
    symbols = random.randrange(1, 4)
    tree, automaton = random_tree(random, symbols, random.randrange(5)), random_automaton(random, symbols)
    chain = merged(tree, automaton)
    x, state, history = 0, 0, ()
    for _ in range(40):
        row = longest_suffix(tree, history)
        assert chain.context[x] == row
        assert chain.p[x].tolist() == tree.distribution[row].tolist()
        assert (chain.state[x], chain.accepting[x]) == (state, automaton.accepting[state])
        symbol = random.randrange(symbols)
        x, state, history = chain.step[x, symbol], automaton.delta[state, symbol], (*history, symbol)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_only_reachable_states_exist_and_each_once(seed: int) -> None:
    random = Random(seed)
    tree, automaton = random_tree(random, 3, 4), random_automaton(random, 3)
    chain = merged(tree, automaton)
    reached, frontier = {0}, [0]
    while frontier:
        for target in map(int, chain.step[frontier.pop()]):
            if target not in reached:
                reached.add(target)
                frontier.append(target)
    assert reached == set(range(chain.states))
    assert len(set(zip(chain.state.tolist(), chain.node.tolist(), strict=True))) == chain.states


def test_a_restarting_pattern_steps_from_a_match_like_from_the_start() -> None:
    tree = learn(counts_of_text("abba", "abc", 1), LearnSettings(order=0))
    overlapping, restarting = (lettered("a ; a", "a", features="b", after_match=rule) for rule in AfterMatch)
    for pattern, matches in ((overlapping, [0, 1, 1, 1]), (restarting, [0, 1, 0, 1])):
        chain, x, found = embed(tree, pattern), 0, []
        for symbol in symbols_of(pattern, "aaaa"):
            x = chain.step[x, symbol]
            found.append(int(chain.accepting[x]))
        assert found == matches


def test_distances_count_the_events_to_a_match() -> None:
    pattern = lettered("a ; b ; b")
    assert sorted(distances(pattern).tolist()) == [0, 1, 2, 3]


def test_a_chain_too_large_is_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foresail.models.chain.MOST_PAIRS", 3)
    with pytest.raises(ModelSizeError, match="Choose a lower order"):
        merged(random_tree(Random(1), 3, 3), random_automaton(Random(1), 3))


def test_the_table_of_steps_is_dense_and_small() -> None:
    chain = merged(random_tree(Random(1), 3, 3), random_automaton(Random(1), 3))
    assert chain.step.dtype == np.int32
    assert chain.step.flags.c_contiguous
