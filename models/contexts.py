"""The automaton that follows a history through the kept contexts (Aho and Corasick, 1975).

Its node is the longest end of the history that begins some kept context; so the longest kept context that ends the
history is always known, from one look-up per symbol.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.models.suffix_tree import SuffixTree

ROOT = 0


@dataclass(frozen=True, slots=True, eq=False)
class ContextAutomaton:
    """Nodes are numbered by depth; the root, the empty end of the history, is 0."""

    step: NDArray[np.int32]
    """`step[node, symbol]`: the node after one more symbol."""
    context: NDArray[np.int32]
    """Per node the longest kept context that ends there, as a row of the suffix tree."""


def context_automaton(tree: SuffixTree) -> ContextAutomaton:
    """The automaton over the contexts of `tree`."""
    depths, children, whole = _trie(tree)
    nodes = 1 + sum(len(depth.symbol) for depth in depths)
    step = np.zeros((nodes, tree.symbols), dtype=np.int32)
    context = np.full(nodes, -1, dtype=np.int32)
    context[whole] = np.arange(len(whole), dtype=np.int32)
    fail = np.zeros(nodes, dtype=np.int32)
    for depth, first in zip(depths, children, strict=True):
        node = first + np.arange(len(depth.symbol))
        fail[node] = step[fail[depth.parent], depth.symbol] if first > 1 else ROOT
        shorter = context[fail[node]]
        context[node] = np.where(context[node] >= 0, context[node], shorter)
        step[depth.parent, depth.symbol] = node
        step[node] = step[fail[node]]
    return ContextAutomaton(step, context)


@dataclass(frozen=True, slots=True, eq=False)
class _Depth:
    """The nodes of one depth: the parent of each, and the symbol that leads to it."""

    parent: NDArray[np.int64]
    symbol: NDArray[np.int64]


def _trie(tree: SuffixTree) -> tuple[list[_Depth], list[int], NDArray[np.int64]]:
    """The nodes by depth, the first number of each depth, and the node of each context."""
    place = np.zeros(len(tree.lengths), dtype=np.int64)
    depths, firsts, nodes = [], [], 1
    for depth in range(tree.order):
        longer = np.flatnonzero(tree.lengths > depth)
        if not len(longer):
            break
        symbols = tree.contexts[longer, tree.order - tree.lengths[longer] + depth]
        keys, found = np.unique(place[longer] * tree.symbols + symbols, return_inverse=True)
        depths.append(_Depth(keys // tree.symbols, keys % tree.symbols))
        firsts.append(nodes)
        place[longer] = nodes + found.reshape(-1)
        nodes += len(keys)
    return depths, firsts, place
