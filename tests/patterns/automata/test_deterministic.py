"""Tables behave like the automata they come from, and are the smallest that do."""

from itertools import product
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.automata.deterministic import Deterministic, complement, minimal
from foresail.patterns.automata.nondeterministic import Nondeterministic, construct
from foresail.patterns.language.expand import Concatenation, Core, Event, Intersection, Iteration, Nothing, Union

SYMBOLS = 3


def random_core(random: Random, depth: int = 3) -> Core:
    if depth == 0:
        return random.choice([Event(random.choice([0, 1, None]), marked=False), Nothing()])

    def part() -> Core:
        return random_core(random, depth - 1)

    least = random.randint(0, 2)
    return random.choice(
        [
            lambda: Concatenation((part(), part())),
            lambda: Union((part(), part())),
            lambda: Intersection((part(), part())),
            lambda: Iteration(part(), least, random.choice([None, least, least + 1])),
        ]
    )()


def guards(condition: int | None) -> int:
    return {None: 0b111, 0: 0b011, 1: 0b110}[condition]


def accepts(automaton: Nondeterministic, word: tuple[int, ...]) -> bool:
    here = {0}
    for symbol in word:
        here = {t.target for t in automaton.transitions if t.source in here and t.guard >> symbol & 1}
    return not here.isdisjoint(automaton.finals)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_a_complement_accepts_what_the_automaton_does_not(seed: int) -> None:
    automaton = construct(random_core(Random(seed)), guards, complement(SYMBOLS))
    opposite = complement(SYMBOLS)(automaton)
    for length in range(5):
        for word in product(range(SYMBOLS), repeat=length):
            assert accepts(automaton, word) != accepts(opposite, word)


def random_table(random: Random) -> Deterministic:
    states = random.randint(1, 12)
    delta = np.array([[random.randrange(states) for _ in range(2)] for _ in range(states)], dtype=np.int32)
    return Deterministic(delta, np.array([random.random() < 0.4 for _ in range(states)]))


def walk(table: Deterministic, word: tuple[int, ...], start: int = 0) -> list[bool]:
    told, state = [], start
    for symbol in word:
        state = int(table.delta[state, symbol])
        told.append(bool(table.accepting[state]))
    return told


def reachable(table: Deterministic) -> Deterministic:
    order = [0]
    for state in order:
        order += [int(t) for t in dict.fromkeys(map(int, table.delta[state])) if t not in order]
    number = {state: n for n, state in enumerate(order)}
    delta = np.array([[number[int(t)] for t in table.delta[state]] for state in order], dtype=np.int32)
    return Deterministic(delta, table.accepting[order])


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32))
def test_the_smallest_table_tells_the_same_and_no_two_of_its_states_are_alike(seed: int) -> None:
    table = reachable(random_table(Random(seed)))
    small = minimal(table)
    words = list(product(range(2), repeat=7))
    assert all(walk(table, word) == walk(small, word) for word in words)
    behaviours = {
        (bool(small.accepting[s]), tuple(tuple(walk(small, word, s)) for word in product(range(2), repeat=6)))
        for s in range(small.states)
    }
    assert len(behaviours) == small.states
