"""Automata have exactly the walks that the definition of the language allows, and keep what they promise."""

from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.automata.deterministic import complement
from foresail.patterns.automata.limits import MOST_STATES, SizeExceededError
from foresail.patterns.automata.nondeterministic import (
    Nondeterministic,
    Transition,
    construct,
    from_start_anew,
    trimmed,
)
from foresail.patterns.language.expand import Concatenation, Event, Intersection, Iteration, Nothing, Union, expand
from foresail.patterns.language.syntax import Named, Pattern, Terminal
from tests.patterns.brute_force import Definition
from tests.patterns.random_patterns import TRUTHS, random_pattern

VALUES = 6
"""Every value of a random track is a symbol of its own."""
NAMES = tuple(TRUTHS)
Marked = tuple[bool, ...]


def number(terminal: Terminal) -> int | None:
    return NAMES.index(terminal.name) if isinstance(terminal, Named) else None


def guards(condition: int | None) -> int:
    if condition is None:
        return (1 << VALUES) - 1
    return sum(1 << value for value in range(VALUES) if TRUTHS[NAMES[condition]](value))


def automaton_of(pattern: Pattern) -> Nondeterministic:
    return construct(expand(pattern, number), guards, complement(VALUES))


def walks(automaton: Nondeterministic, word: tuple[int, ...]) -> set[Marked]:
    """The marks of every walk over the whole word that ends in a final state."""
    here: set[tuple[int, Marked]] = {(0, ())}
    for symbol in word:
        here = {
            (t.target, (*marks, t.marked))
            for state, marks in here
            for t in automaton.transitions
            if t.source == state and t.guard >> symbol & 1
        }
    return {marks for state, marks in here if state in automaton.finals}


def defined(pattern: Pattern, word: tuple[int, ...]) -> set[Marked]:
    """The same by the meaning of the language alone."""
    definition = Definition([lambda name, value=value: TRUTHS[name](value) for value in word])
    return {
        tuple(event in marks for event in range(len(word)))
        for end, marks in definition.ends(pattern, 0)
        if end == len(word)
    }


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_the_walks_of_an_automaton_are_the_matches_of_its_pattern(seed: int) -> None:
    random = Random(seed)
    pattern = random_pattern(random, depth=2)
    automaton = automaton_of(pattern)
    for _ in range(12):
        word = tuple(random.randrange(VALUES) for _ in range(random.randrange(6)))
        assert walks(automaton, word) == defined(pattern, word)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32))
def test_nothing_leads_to_the_start_and_states_are_numbered_without_gaps(seed: int) -> None:
    automaton = automaton_of(random_pattern(Random(seed), depth=2))
    assert all(0 < t.target < automaton.states for t in automaton.transitions)
    assert all(0 <= t.source < automaton.states and t.guard for t in automaton.transitions)
    assert all(0 <= final < automaton.states for final in automaton.finals)
    assert automaton.nullable == bool(walks(automaton, ()))


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_trimming_leaves_the_walks_and_drops_what_lies_on_none(seed: int, must_mark_last: bool) -> None:
    random = Random(seed)
    automaton = automaton_of(random_pattern(random, depth=2))
    short = trimmed(automaton, must_mark_last)
    for _ in range(8):
        word = tuple(random.randrange(VALUES) for _ in range(random.randrange(1, 5)))
        kept = {marks for marks in walks(automaton, word) if marks[-1] or not must_mark_last}
        assert {marks for marks in walks(short, word) if marks[-1] or not must_mark_last} == kept
    reached = {0} | {t.target for t in short.transitions}
    assert reached == set(range(short.states))
    ending = {t.source for t in short.transitions if t.target in short.finals and (t.marked or not must_mark_last)}
    leaving = {t.source for t in short.transitions}
    assert all(state in leaving or state in short.finals for state in reached - {0})
    assert bool(ending) == bool(short.transitions)


def test_trimming_drops_a_dead_end_and_an_island() -> None:
    ways = ((0, True, 1), (1, True, 2), (1, True, 3), (4, True, 2))
    automaton = Nondeterministic(5, frozenset({2}), tuple(Transition(s, 0b1, m, t) for s, m, t in ways))
    assert trimmed(automaton) == Nondeterministic(
        3, frozenset({2}), (Transition(0, 0b1, True, 1), Transition(1, 0b1, True, 2))
    )


def test_a_match_that_must_mark_its_last_event_keeps_no_other_end() -> None:
    ends = (Transition(0, 0b1, True, 1), Transition(0, 0b1, False, 2))
    automaton = Nondeterministic(3, frozenset({1, 2}), ends)
    assert trimmed(automaton, must_mark_last=True).transitions == (Transition(0, 0b1, True, 1),)
    assert len(trimmed(automaton).transitions) == 2


def test_a_fresh_start_keeps_the_walks_of_one_that_loops() -> None:
    loop = Nondeterministic(2, frozenset({0}), (Transition(0, 0b01, True, 1), Transition(1, 0b10, True, 0)))
    fresh = from_start_anew(loop)
    assert all(t.target != 0 for t in fresh.transitions)
    assert fresh.nullable
    for length in range(5):
        for word in product(range(2), repeat=length):
            assert walks(fresh, word) == walks(loop, word)


def test_parallel_transitions_become_one_with_the_symbols_of_both() -> None:
    either = construct(Union((Event(0, True), Event(1, True))), lambda n: 1 << (n or 0), complement(2))
    assert walks(either, (0,)) == walks(either, (1,)) == {(True,)}
    again = construct(Iteration(Event(0, True), 1, None), lambda _: 0b1, complement(1))
    assert again.transitions == (Transition(0, 0b1, True, 1), Transition(1, 0b1, True, 1))


def test_what_marks_differently_has_nothing_in_common() -> None:
    both = Intersection((Event(None, True), Event(None, False)))
    assert construct(both, guards, complement(VALUES)).transitions == ()


@pytest.mark.parametrize(
    ("least", "most", "lengths"),
    [(0, 0, {0}), (0, 1, {0, 1}), (2, 2, {2}), (1, 3, {1, 2, 3}), (2, None, {2, 3, 4, 5}), (0, None, set(range(6)))],
)
def test_an_iteration_repeats_as_often_as_it_says(least: int, most: int | None, lengths: set[int]) -> None:
    automaton = construct(Iteration(Event(None, True), least, most), guards, complement(VALUES))
    assert {length for length in range(6) if walks(automaton, (0,) * length)} == lengths


def test_as_many_states_as_the_limit_are_fine_and_one_more_is_not() -> None:
    assert Nondeterministic(MOST_STATES, frozenset(), ()).states == MOST_STATES
    with pytest.raises(SizeExceededError) as refused:
        Nondeterministic(MOST_STATES + 1, frozenset(), ())
    assert refused.value.size == MOST_STATES + 1


def test_a_count_that_cannot_fit_is_refused_before_it_is_built() -> None:
    many = Iteration(Concatenation((Event(None, True), Event(None, True))), 10**9, 10**9)
    with pytest.raises(SizeExceededError) as refused:
        construct(many, guards, complement(VALUES))
    assert refused.value.size == 2 * 10**9
    fits = Iteration(Event(None, True), MOST_STATES - 1, MOST_STATES - 1)
    assert construct(fits, guards, complement(VALUES)).states == MOST_STATES


def test_an_automaton_can_be_printed() -> None:
    hidden = Concatenation((Event(0, False), Nothing(), Event(1, True)))
    assert str(construct(hidden, lambda n: 1 << (n or 0), complement(2))) == (
        "3 states, final [2]\n  0 --1 hidden--> 1\n  1 --10--> 2"
    )
