"""Walks of the marking automaton are the sets of marked events, each walked once."""

from itertools import product
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.automata.deterministic import detector, symbol_classes
from foresail.patterns.automata.marking import DEAD, Marking, marking
from foresail.patterns.automata.nondeterministic import Nondeterministic, trimmed
from tests.patterns.automata.test_nondeterministic import VALUES, automaton_of
from tests.patterns.brute_force import matches_by_event
from tests.patterns.random_patterns import TRUTHS, random_pattern

LENGTH = 5


def told(marked: Marking, classes: np.ndarray, word: tuple[int, ...], marks: tuple[bool, ...]) -> bool:
    """Whether this walk ends a match on its last event."""
    state = 0
    for symbol, mark in zip(word, marks, strict=True):
        state = int(marked.delta[state, classes[symbol], int(mark)])
        if state == DEAD:
            return False
    return marks[-1] and bool(marked.accepting[state])


def loose_of(random: Random) -> tuple[Nondeterministic, dict[tuple[int, ...], dict[int, set[frozenset[int]]]]]:
    """A random pattern as it is compiled, and what it matches on some words by its definition."""
    pattern = random_pattern(random, depth=2)
    words = [tuple(random.randrange(VALUES) for _ in range(LENGTH)) for _ in range(6)]
    found = {}
    for word in words:
        holds = [lambda name, value=value: TRUTHS[name](value) for value in word]
        found[word] = matches_by_event(pattern, holds, list(range(LENGTH)))
    return trimmed(automaton_of(pattern), must_mark_last=True), found


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32))
def test_a_walk_accepts_exactly_the_sets_of_events_that_match(seed: int) -> None:
    nfa, found = loose_of(Random(seed))
    if not nfa.transitions:
        assert not any(found.values())
        return
    classes = symbol_classes(nfa, VALUES)
    marked, table = marking(nfa, classes), detector(nfa, classes)
    for word, matches in found.items():
        state = 0
        for k in range(1, LENGTH + 1):
            sets = {
                frozenset(n + 1 for n in range(k) if marks[n])
                for marks in product((False, True), repeat=k)
                if told(marked, classes, word[:k], marks)
            }
            assert sets == matches.get(k, set())
            state = int(table.delta[state, classes[word[k - 1]]])
            assert bool(table.accepting[state]) == (k in matches)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_from_every_state_a_match_can_follow(seed: int) -> None:
    nfa, _ = loose_of(Random(seed))
    if not nfa.transitions:
        return
    marked = marking(nfa, symbol_classes(nfa, VALUES))
    alive = marked.accepting.copy()
    for _ in range(marked.states):
        follows = np.where(marked.delta == DEAD, False, alive[marked.delta])
        alive = alive | follows.any(axis=(1, 2))
    assert alive.all()
    assert marked.delta.max() < marked.states == len(marked.delta)
