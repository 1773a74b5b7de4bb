"""The static index: which rules and columns an event concerns, told by its constants without asking each of them.

After the counting algorithm of content-based publish/subscribe (Carzaniga and Wolf, 2003), with one constraint per
predicate to enter by: an equality with a constant by hash, a threshold by its place in the order of all thresholds.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.tesla import tables as t
from foresail.patterns.tesla.kernel_terms import hashed
from foresail.patterns.tesla.resolved import Literally, Test
from foresail.patterns.tesla.syntax import TS
from foresail.patterns.tesla.values import Dictionary

INDEXED_FROM = 6
"""So many predicates on one attribute of a type are worth an index."""
Entry: TypeAlias = tuple[int, int, str, tuple[Test, ...]]
"""Rule or column, its number, the type, and what is asked of the event alone."""
_ORDERS = {"<": t.BELOW, "<=": t.AT_MOST, ">": t.ABOVE, ">=": t.AT_LEAST}


class Index(NamedTuple):
    """The arrays from `entries` to `threshold_entries` of the tables."""

    entries: NDArray[np.int64]
    types: NDArray[np.int64]
    plain: NDArray[np.int64]
    equal_attributes: NDArray[np.int64]
    equal_table: NDArray[np.int64]
    equal_groups: NDArray[np.int64]
    equal_values: NDArray[np.float64]
    equal_entries: NDArray[np.int64]
    thresholds: NDArray[np.int64]
    threshold_values: NDArray[np.float64]
    threshold_entries: NDArray[np.int64]


def index_entries(
    entries: Sequence[Entry],
    types: Sequence[str],
    attributes: Mapping[str, int],
    dictionary: Dictionary,
    write_tests: Callable[[Sequence[Test]], tuple[int, int]],
) -> Index:
    """By what an event has, the rules and columns that it concerns."""
    ways = [_way(entry, _popular(entries)) for entry in entries]
    rows = []
    for (kind, what, _, alone), way in zip(entries, ways, strict=True):
        begin, end = write_tests([test for test in alone if test is not way])
        rows.append([kind, what, begin, end])
    plain: list[int] = []
    equal_attributes: list[int] = []
    equal: dict[tuple[int, float], list[int]] = {}
    thresholds: list[list[int]] = []
    ordered: list[tuple[float, int]] = []
    type_rows = []
    for name in types:
        own = [(n, way) for n, (entry, way) in enumerate(zip(entries, ways, strict=True)) if entry[2] == name]
        row = [len(plain)]
        plain += [n for n, way in own if way is None]
        row += [len(plain), len(equal_attributes)]
        for attribute in dict.fromkeys(way.attribute for _, way in own if way is not None and way.comparison == "="):
            for n, way in own:
                if way is not None and way.comparison == "=" and way.attribute == attribute:
                    equal.setdefault((len(equal_attributes), _constant(way, dictionary)), []).append(n)
            equal_attributes.append(attributes[attribute])
        row += [len(equal_attributes), len(thresholds)]
        groups = dict.fromkeys((w.attribute, w.comparison) for _, w in own if w is not None and w.comparison != "=")
        for attribute, comparison in groups:
            held = [
                (_constant(way, dictionary), n)
                for n, way in own
                if way is not None and (way.attribute, way.comparison) == (attribute, comparison)
            ]
            begin = len(ordered)
            ordered += sorted(held)
            thresholds.append([attributes[attribute], _ORDERS[comparison], begin, len(ordered)])
        type_rows.append([*row, len(thresholds)])
    table, groups_at, values, listed = _hash_table(equal)
    return Index(
        _matrix(rows, 4),
        _matrix(type_rows, 6),
        _list(plain),
        _list(equal_attributes),
        table,
        groups_at,
        values,
        listed,
        _matrix(thresholds, 4),
        np.array([value for value, _ in ordered] or [0.0]),
        _list([n for _, n in ordered]),
    )


def _constant(test: Test, dictionary: Dictionary) -> float:
    assert isinstance(test.term, Literally), "only constants are indexed"
    return dictionary.value(test.term.value)


def _popular(entries: Sequence[Entry]) -> frozenset[tuple[str, str, str]]:
    counted = Counter((name, test.attribute, test.comparison) for _, _, name, alone in entries for test in _ways(alone))
    return frozenset(key for key, number in counted.items() if number >= INDEXED_FROM)


def _ways(alone: Sequence[Test]) -> list[Test]:
    found = []
    for test in alone:
        if not isinstance(test.term, Literally) or test.attribute == TS or test.comparison == "!=":
            continue
        if test.comparison == "=" or type(test.term.value) is float:
            found.append(test)
    return found


def _way(entry: Entry, popular: frozenset[tuple[str, str, str]]) -> Test | None:
    """The constraint by which an entry is found; None where it is looked at for every event of its type."""
    ways = [test for test in _ways(entry[3]) if (entry[2], test.attribute, test.comparison) in popular]
    return min(ways, key=lambda test: test.comparison != "=", default=None)


def _hash_table(
    equal: Mapping[tuple[int, float], Sequence[int]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    size = 16
    while size < 3 * len(equal):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    rows: list[list[int]] = []
    values: list[float] = []
    listed: list[int] = []
    key = np.zeros(1)
    for place, ((group, value), found) in enumerate(equal.items()):
        rows.append([group, len(listed), len(listed) + len(found)])
        values.append(value)
        listed += found
        key[0] = value
        at = int(hashed(group, key, 1)) & (size - 1)
        while table[at] >= 0:
            at = (at + 1) & (size - 1)
        table[at] = place
    return table, _matrix(rows, 3), np.array(values or [0.0]), _list(listed)


def _matrix(rows: Sequence[Sequence[int]], width: int) -> NDArray[np.int64]:
    return np.array(rows, dtype=np.int64).reshape(-1, width) if rows else np.zeros((1, width), dtype=np.int64)


def _list(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values or [0], dtype=np.int64)
