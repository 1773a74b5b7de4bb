"""A set of symbols said in words: the shortest combination of condition names that holds for these and no others.

A symbol is the set of conditions that hold on an event. Combinations that cannot occur are not among the symbols, so
they may fall on either side: this is what makes the words short (`inside` rather than `inside and not outside`).
"""

from collections.abc import Collection, Sequence
from typing import TypeAlias

Symbol: TypeAlias = frozenset[str]
Term: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""The conditions that must hold, and those that must not."""


def say_guard(chosen: Collection[Symbol], symbols: Collection[Symbol], names: Sequence[str]) -> str:
    """The guard that lets the `chosen` of all `symbols` through, in words; `names` gives the order of conditions."""
    inside = frozenset(chosen)
    outside = frozenset(symbols) - inside
    if not outside:
        return "any event"
    terms = _cover(inside, outside, names)
    flipped = _cover(outside, inside, names)
    if len(flipped) == 1 and _length(flipped) < _length(terms):
        (only,) = flipped
        return f"not ({_say(only, names)})" if _length(flipped) > 1 else _say((only[1], only[0]), names)
    return " or ".join(_say(term, names) for term in terms)


def _cover(inside: frozenset[Symbol], outside: frozenset[Symbol], names: Sequence[str]) -> list[Term]:
    """Terms that together hold on all of `inside` and on none of `outside`: each as short as can be, few of them."""
    ordered = sorted(inside, key=lambda symbol: [names.index(name) for name in sorted(symbol, key=names.index)])
    common = sorted(names, key=lambda name: -sum(name in symbol for symbol in inside))
    terms = list(dict.fromkeys(_shortest(symbol, outside, order) for symbol in ordered for order in (common, names)))
    left, kept = set(inside), []
    while left:
        best = max(terms, key=lambda term: (sum(_holds(term, s) for s in left), -_length([term]), -terms.index(term)))
        kept.append(best)
        left = {symbol for symbol in left if not _holds(best, symbol)}
    return sorted(kept, key=terms.index)


def _shortest(symbol: Symbol, outside: frozenset[Symbol], names: Sequence[str]) -> Term:
    """The symbol's own term with everything dropped that is not needed to tell it from `outside`.

    What does not hold is dropped first: people would rather read what is than what is not. Of the rest the last of
    `names` goes first.
    """
    holds, fails = symbol, frozenset(names) - symbol
    for name in reversed(names):
        if name in fails and not any(_holds((holds, fails - {name}), other) for other in outside):
            fails = fails - {name}
    for name in reversed(names):
        if name in holds and not any(_holds((holds - {name}, fails), other) for other in outside):
            holds = holds - {name}
    return holds, fails


def _holds(term: Term, symbol: Symbol) -> bool:
    return term[0] <= symbol and term[1].isdisjoint(symbol)


def _length(terms: Sequence[Term]) -> int:
    return sum(len(holds) + len(fails) for holds, fails in terms)


def _say(term: Term, names: Sequence[str]) -> str:
    holds, fails = term
    said = [name for name in names if name in holds] + [f"not {name}" for name in names if name in fails]
    return " and ".join(said) or "any event"
