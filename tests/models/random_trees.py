"""Random suffix trees and automata, and slow ways to compute what the chain computes, for the tests of this folder."""

from itertools import product
from random import Random

import numpy as np

from foresail.models.automaton import SymbolAutomaton
from foresail.models.suffix_tree import SuffixTree


def random_tree(random: Random, symbols: int, order: int) -> SuffixTree:
    """A tree of random contexts with all their suffixes, and random distributions."""
    kept = {()}
    for _ in range(random.randrange(1, 8)):
        context = tuple(random.randrange(symbols) for _ in range(random.randrange(order + 1)))
        kept |= {context[n:] for n in range(len(context) + 1)}
    ordered = sorted(kept, key=lambda context: (len(context), context))
    contexts = np.full((len(ordered), order), -1, dtype=np.int32)
    for row, context in enumerate(ordered):
        contexts[row, order - len(context) :] = context
    weights = np.array([[random.random() + 0.01 for _ in range(symbols)] for _ in ordered])
    lengths = np.array([len(context) for context in ordered], dtype=np.int32)
    return SuffixTree(symbols, order, contexts, lengths, weights / weights.sum(axis=1, keepdims=True))


def random_automaton(random: Random, symbols: int, states: int = 4) -> SymbolAutomaton:
    """An automaton whose last state accepts."""
    delta = np.array([[random.randrange(states) for _ in range(symbols)] for _ in range(states)], dtype=np.int32)
    return SymbolAutomaton(delta, np.arange(states) == states - 1)


def longest_suffix(tree: SuffixTree, history: tuple[int, ...]) -> int:
    """The row of the longest context that ends `history`, by trying all."""
    fitting = [
        row for row in range(len(tree.lengths)) if history[len(history) - tree.lengths[row] :] == tree.context(row)
    ]
    return max(fitting, key=lambda row: int(tree.lengths[row]))


def brute_force(
    tree: SuffixTree, automaton: SymbolAutomaton, history: tuple[int, ...], horizon: int
) -> tuple[np.ndarray, np.ndarray]:
    """W_1..W_horizon after `history` by enumerating every string; and the expected number of symbol 0 in each."""
    state = 0
    for symbol in history:
        state = int(automaton.delta[state, symbol])
    waiting, zeros = np.zeros(horizon), np.zeros(horizon)
    for length in range(1, horizon + 1):
        for string in product(range(tree.symbols), repeat=length):
            probability, now, seen = 1.0, state, history
            for n, symbol in enumerate(string, start=1):
                probability *= tree.distribution[longest_suffix(tree, seen), symbol]
                now, seen = int(automaton.delta[now, symbol]), (*seen, symbol)
                if automaton.accepting[now] != (n == length):
                    break
            else:
                waiting[length - 1] += probability
                zeros[length - 1] += probability * string.count(0)
    return waiting, zeros
