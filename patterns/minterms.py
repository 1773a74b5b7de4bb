"""Conditions to symbols: every combination of conditions that an event can show, and none that it cannot.

The combinations are found by placing one term after another in each of its cells and keeping what is left of the
conditions: equal remainders are kept once, so the work follows the number of combinations that can occur and not the
number of truth assignments. Conditions that share no term are folded apart and multiplied at the end.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.conditions.formulas import FALSE, TRUE, Formulas
from foresail.patterns.conditions.reduction import reduce_conditions
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.conditions.typing import Schema
from foresail.patterns.errors import AlphabetError

MOST_CONDITIONS = 64
MOST_SYMBOLS = 65536
SLACK = 4
"""Remainders may be more numerous than the symbols that come of them; so many times the limit is too many."""


@dataclass(frozen=True, slots=True, eq=False)
class Alphabet:
    """The symbols of some conditions. Symbol s is the combination `codes[s]`: bit i is set if condition i holds."""

    conditions: int
    codes: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.codes)

    def symbol_of(self, code: int) -> int:
        """The symbol of one combination, or -1 where it cannot occur (or was declared impossible)."""
        return int(self.symbols_of(np.array([code], dtype=np.uint64))[0])

    def symbols_of(self, codes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The symbol of each combination, with -1 for those that cannot occur (or were declared impossible)."""
        places = np.searchsorted(self.codes, codes)
        inside = np.minimum(places, len(self.codes) - 1)
        return np.where(self.codes[inside] == codes, inside, -1).astype(np.int64)

    def holding(self, condition: int) -> NDArray[np.bool_]:
        """For each symbol, whether the condition holds in it."""
        return np.asarray((self.codes >> np.uint64(condition)) & np.uint64(1), dtype=np.bool_)

    def never(self, condition: int) -> bool:
        """Whether no event can satisfy the condition."""
        return not self.holding(condition).any()

    def always(self, condition: int) -> bool:
        """Whether every event satisfies the condition."""
        return bool(self.holding(condition).all())


def alphabet(
    conditions: Sequence[Condition],
    exclusive: Sequence[Collection[int]] = (),
    *,
    types: Schema | None = None,
    known: Collection[str] = (),
    limit: int = MOST_SYMBOLS,
) -> Alphabet:
    """The symbols of the conditions. No two of an `exclusive` group hold together; `known` attributes are not null."""
    if len(conditions) > MOST_CONDITIONS:
        msg = f"conditions: {len(conditions)} are more than the {MOST_CONDITIONS} of one alphabet. Split the pattern."
        raise AlphabetError(msg)
    reduction = reduce_conditions(conditions, types or {}, known)
    formulas = Formulas(reduction.cells)
    roots = [formulas.enter(formula) for formula in reduction.formulas]
    required = [formulas.enter(formula) for formula in reduction.requirements]
    groups = _components(formulas, roots, required, exclusive)
    parts = [
        _Component(formulas, roots, group, required=required, exclusive=exclusive, limit=limit) for group in groups
    ]
    return Alphabet(len(conditions), _product([part.codes() for part in parts], parts, limit))


def _components(
    formulas: Formulas, roots: Sequence[int], required: Sequence[int], exclusive: Sequence[Collection[int]]
) -> list[list[int]]:
    """The conditions in groups that share neither a term, nor a requirement, nor an exclusive group."""
    leader: dict[object, object] = {}

    def find(item: object) -> object:
        while leader.setdefault(item, item) != item:
            item = leader[item]
        return item

    def unite(items: Iterable[object]) -> None:
        first, *others = items
        for other in others:
            leader[find(other)] = find(first)

    for index, root in enumerate(roots):
        unite([index, *formulas.terms(root)])
    for requirement in required:
        if requirement not in (TRUE, FALSE):
            unite(formulas.terms(requirement))
    for group in exclusive:
        if group:
            unite(group)
    together: dict[object, list[int]] = {}
    for index in range(len(roots)):
        together.setdefault(find(index), []).append(index)
    return list(together.values())


class _Component:
    """Conditions that depend on each other, folded term by term."""

    def __init__(
        self,
        formulas: Formulas,
        roots: Sequence[int],
        members: Sequence[int],
        *,
        required: Sequence[int],
        exclusive: Sequence[Collection[int]],
        limit: int,
    ) -> None:
        self.members = members
        self._formulas = formulas
        self._limit = limit
        terms = dict.fromkeys(term for index in members for term in formulas.terms(roots[index]))
        requirements = [item for item in required if terms.keys() & formulas.terms(item)]
        for item in requirements:
            terms.update(dict.fromkeys(formulas.terms(item)))
        self._start = (*(roots[index] for index in members), *requirements)
        self.terms = list(terms)
        place = {index: position for position, index in enumerate(members)}
        self._rivals = [
            pair
            for group in exclusive
            for pair in combinations(sorted(place[index] for index in set(group) if index in place), 2)
        ]

    def codes(self) -> NDArray[np.uint64]:
        """The combinations of this component's conditions, as bit masks."""
        remainders = {self._start} if self._possible(self._start) else set()
        for term in self.terms:
            remainders = self._placed(remainders, term)
            if len(remainders) > SLACK * self._limit:
                raise _too_many(self._limit, [self])
        found = {self._code(remainder) for remainder in remainders}
        return np.array(sorted(found), dtype=np.uint64)

    def multiplying(self) -> str:
        """The terms of this component with the number of cases each contributes."""
        return " x ".join(f"{term} ({len(self._formulas.distinct_cells(term, self._start))})" for term in self.terms)

    def _placed(self, remainders: Iterable[tuple[int, ...]], term: str) -> set[tuple[int, ...]]:
        """What is left of the remainders when the term lies in each of its cells."""
        touched = [i for i, root in enumerate(self._start) if term in self._formulas.terms(root)]
        cells = self._formulas.distinct_cells(term, self._start)
        outcomes: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        found: set[tuple[int, ...]] = set()
        for remainder in remainders:
            before = tuple(remainder[i] for i in touched)
            if before not in outcomes:
                placed = (tuple(self._formulas.restrict(node, term, cell) for node in before) for cell in cells)
                outcomes[before] = list(dict.fromkeys(placed))
            whole = list(remainder)
            for after in outcomes[before]:
                for i, node in zip(touched, after, strict=True):
                    whole[i] = node
                if self._possible(whole):
                    found.add(tuple(whole))
        return found

    def _possible(self, remainder: Sequence[int]) -> bool:
        if FALSE in remainder[len(self.members) :]:
            return False
        return not any(remainder[one] == TRUE == remainder[other] for one, other in self._rivals)

    def _code(self, remainder: Sequence[int]) -> int:
        return sum(1 << index for index, node in zip(self.members, remainder, strict=False) if node == TRUE)


def _product(factors: Sequence[NDArray[np.uint64]], parts: Sequence[_Component], limit: int) -> NDArray[np.uint64]:
    size = reduce(lambda product, factor: product * len(factor), factors, 1)
    if size > limit:
        raise _too_many(limit, [part for part, factor in zip(parts, factors, strict=True) if len(factor) > 1])
    if size == 0:
        msg = "conditions: two of an exclusive group always hold, so nothing can occur. Correct `exclusive`."
        raise AlphabetError(msg)
    codes = np.zeros(1, dtype=np.uint64)
    for factor in factors:
        codes = (codes[:, None] | factor[None, :]).ravel()
    return np.sort(codes)


def _too_many(limit: int, parts: Sequence[_Component]) -> AlphabetError:
    multiplied = " x ".join(part.multiplying() for part in parts)
    return AlphabetError(
        f"conditions: more than {limit} combinations can occur: {multiplied}. "
        "Declare groups that cannot hold together under `exclusive`, or use fewer conditions on unrelated attributes."
    )
