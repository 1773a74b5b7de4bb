"""Which contexts are worth keeping, and what follows each: the prediction suffix tree.

After D. Ron, Y. Singer, N. Tishby, "The Power of Amnesia" (1996), with the smoothing of R. Begleiter, R. El-Yaniv,
G. Yona, "On Prediction Using Variable Order Markov Models" (2004).

The automaton that follows a history through the kept contexts (Aho and Corasick, 1975).

Its node is the longest end of the history that begins some kept context; so the longest kept context that ends the
history is always known, from one look-up per symbol.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from foresail.models.counts.table import Counts
from foresail.models.errors import ModelSettingError, ModelSizeError
from foresail.models.limits import COUNTED, least, most

MOST_SMOOTHED = 0.05
"""Smoothing gives at most this much of the probability away, however large the alphabet."""
MOST_CELLS = 50_000_000
"""The most probabilities that a tree may hold: contexts times symbols."""


@dataclass(frozen=True, slots=True)
class LearnSettings:
    """How contexts are chosen; an order of 0 keeps the empty context alone."""

    order: int = 4
    kind: Literal["variable", "full"] = "variable"
    min_context_probability: float = 0.001
    min_symbol_probability: float = 0.001
    alpha: float = 0.0
    ratio: float = 1.05
    smoothing: float = 0.001

    def __post_init__(self) -> None:
        if self.order < 0:
            msg = f"order is {self.order}. Choose 0 (no context) or more."
            raise ModelSettingError(msg)
        if self.kind not in ("variable", "full"):
            msg = f"kind of order is '{self.kind}'. Choose variable or full."
            raise ModelSettingError(msg)
        if self.ratio < 1:
            msg = f"ratio is {self.ratio}. Choose 1 (keep every context) or more."
            raise ModelSettingError(msg)
        for name in ("min_context_probability", "min_symbol_probability", "smoothing"):
            if not 0 <= getattr(self, name) < 1:
                msg = f"{name} is {getattr(self, name)}. Choose a probability from 0 to below 1."
                raise ModelSettingError(msg)


@dataclass(frozen=True, slots=True, eq=False)
class SuffixTree:
    """The kept contexts, shortest first (the empty one is row 0), and the distribution of the symbol after each."""

    symbols: int
    order: int
    contexts: NDArray[np.int32]
    """One row per context, as wide as the order: its symbols at the right, newest last, -1 to their left."""
    lengths: NDArray[np.int32]
    distribution: NDArray[np.float64]
    """Per context and symbol the smoothed probability that it comes next."""

    def context(self, row: int) -> tuple[int, ...]:
        """The symbols of one context, oldest first."""
        return tuple(int(s) for s in self.contexts[row, self.order - self.lengths[row] :])


def learn(counts: Counts, settings: LearnSettings) -> SuffixTree:
    """The suffix tree of the counts, of any order up to their `max_order`."""
    if settings.order > counts.max_order:
        msg = (
            f"{counts.identity.pattern}: order {settings.order} needs longer counts than the {counts.max_order} "
            "symbols that were counted. Choose a lower order, or count again with a higher `max_order`."
        )
        raise ModelSettingError(msg)
    candidates = [_root(counts)]
    for length in range(1, settings.order + 1):
        candidates.append(_candidates(counts, length, candidates[-1], settings))
    kept = _with_suffixes(candidates, [_worth_keeping(c, s, settings) for s, c in pairwise(candidates)])
    rows = [candidate.rows[keep] for candidate, keep in zip(candidates, kept, strict=True)]
    distribution = np.vstack([candidate.next[keep] for candidate, keep in zip(candidates, kept, strict=True)])
    return SuffixTree(
        symbols=counts.symbols,
        order=settings.order,
        contexts=np.vstack([_strings(counts, length, held, settings.order) for length, held in enumerate(rows)]),
        lengths=np.repeat(np.arange(len(rows)), [len(held) for held in rows]).astype(np.int32),
        distribution=_smoothed(distribution, settings.smoothing),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    """The contexts of one length that are frequent enough, with what follows each."""

    rows: NDArray[np.int64]
    """Their places in the level of that length."""
    place: NDArray[np.int64]
    """For each place of the level the position in `rows`, or -1."""
    suffix: NDArray[np.int64]
    """For each place of the level that of its suffix, one symbol shorter, in the level below."""
    next: NDArray[np.float64]
    """Per candidate and symbol the share of that symbol among those that follow."""


def _root(counts: Counts) -> _Candidates:
    level = counts.levels[0]
    share = np.full((1, counts.symbols), 1 / counts.symbols)
    if level.counts.sum() > 0:
        share = np.zeros((1, counts.symbols))
        share[0, level.codes] = level.counts / level.counts.sum()
    none = np.zeros(1, dtype=np.int64)
    return _Candidates(none, none, none, share)


def _candidates(counts: Counts, length: int, shorter: _Candidates, settings: LearnSettings) -> _Candidates:
    level, longer, alphabet = counts.levels[length - 1], counts.levels[length], counts.symbols
    suffix = _suffixes(counts, length, shorter)
    followed = np.bincount(longer.codes // alphabet, weights=longer.counts, minlength=len(level))
    fits = (followed > 0) & (suffix >= 0)
    fits[fits] &= shorter.place[suffix[fits]] >= 0
    if settings.kind == "variable":
        fits &= level.counts >= least(settings.min_context_probability * level.counts.sum(), COUNTED)
    rows = np.flatnonzero(fits)
    if len(rows) * alphabet > MOST_CELLS:
        msg = (
            f"{counts.identity.pattern}: {len(rows)} contexts of length {length} over {alphabet} symbols are too many. "
            "Choose a lower order, or a higher `min_context_probability` with the kind `variable`."
        )
        raise ModelSizeError(msg)
    place = np.full(len(level), -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    share = np.zeros((len(rows), alphabet))
    parent, symbol = longer.codes // alphabet, longer.codes % alphabet
    mine = place[parent] >= 0
    share[place[parent[mine]], symbol[mine]] = longer.counts[mine] / followed[parent[mine]]
    return _Candidates(rows, place, suffix, share)


def _suffixes(counts: Counts, length: int, shorter: _Candidates) -> NDArray[np.int64]:
    """For each stretch of that length the place of the one without its oldest symbol; -1 where decay forgot it."""
    codes, alphabet = counts.levels[length - 1].codes, counts.symbols
    if length == 1:
        return np.zeros(len(codes), dtype=np.int64)
    below = counts.levels[length - 2].codes
    parents = shorter.suffix[codes // alphabet]
    wanted = parents * alphabet + codes % alphabet
    found = np.minimum(np.searchsorted(below, wanted), max(len(below) - 1, 0))
    return np.where((below[found] == wanted) & (parents >= 0), found, -1) if len(below) else found


def _worth_keeping(candidate: _Candidates, shorter: _Candidates, settings: LearnSettings) -> NDArray[np.bool_]:
    """Whether some symbol that is likely enough follows a context otherwise than it follows its suffix."""
    if settings.kind == "full":
        return np.ones(len(candidate.rows), dtype=np.bool_)
    expected = shorter.next[shorter.place[candidate.suffix[candidate.rows]]]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = candidate.next / expected
    likely = candidate.next >= least((1 + settings.alpha) * settings.min_symbol_probability, COUNTED)
    more, fewer = ratio >= least(settings.ratio, COUNTED), ratio <= most(1 / settings.ratio, COUNTED)
    return np.asarray((likely & (more | fewer)).any(axis=1))


def _with_suffixes(candidates: list[_Candidates], worth: list[NDArray[np.bool_]]) -> list[NDArray[np.bool_]]:
    """What is kept of each length: the contexts worth it, the suffixes of longer kept ones, and the empty one."""
    kept = [np.ones(1, dtype=np.bool_), *(keep.copy() for keep in worth)]
    for length in range(len(worth), 1, -1):
        mine = candidates[length]
        below = mine.suffix[mine.rows[kept[length]]]
        kept[length - 1][candidates[length - 1].place[below]] = True
    return kept


def _strings(counts: Counts, length: int, rows: NDArray[np.int64], width: int) -> NDArray[np.int32]:
    """The symbols of those stretches, at the right of rows as wide as the order."""
    strings = np.full((len(rows), width), -1, dtype=np.int32)
    for back in range(length):
        codes = counts.levels[length - 1 - back].codes[rows]
        strings[:, width - 1 - back] = codes % counts.symbols
        rows = codes // counts.symbols
    return strings


def _smoothed(distribution: NDArray[np.float64], smoothing: float) -> NDArray[np.float64]:
    symbols = distribution.shape[1]
    each = least_probability(smoothing, symbols)
    return np.asarray(distribution * (1 - symbols * each) + each)


def least_probability(smoothing: float, symbols: int) -> float:
    """What smoothing gives each symbol: less than it says where the alphabet is large."""
    return min(smoothing, MOST_SMOOTHED / symbols)


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
