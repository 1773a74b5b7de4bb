"""The automaton over the contexts always knows the longest one that ends the history."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.models.contexts import context_automaton
from tests.models.random_trees import longest_suffix, random_tree


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_the_longest_kept_context_is_known_after_every_symbol(seed: int) -> None:
    random = Random(seed)
    tree = random_tree(random, 3, 4)
    automaton = context_automaton(tree)
    node, history = 0, ()
    for _ in range(50):
        assert automaton.context[node] == longest_suffix(tree, history)
        symbol = random.randrange(3)
        node, history = int(automaton.step[node, symbol]), (*history, symbol)


def test_no_context_makes_one_node() -> None:
    automaton = context_automaton(random_tree(Random(0), 3, 0))
    assert automaton.step.tolist() == [[0, 0, 0]]
    assert automaton.context.tolist() == [0]
