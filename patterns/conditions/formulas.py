"""Formulas over cells, each kept once and named by a number, so that equal remainders are equal numbers."""

from collections.abc import Iterable, Mapping

from foresail.patterns.conditions.cells import Against, Cell, Exactly, holds
from foresail.patterns.conditions.reduction import Asks, Denies, Formula, Joins
from foresail.patterns.conditions.syntax import Operator

FALSE, TRUE = 0, 1


class Formulas:
    """A growing table of formulas in negation normal form over `term in cells`; a set of cells is a bit mask."""

    def __init__(self, cells: Mapping[str, tuple[Cell, ...]]) -> None:
        self._cells = cells
        self._exact = {
            term: {cell.value: 1 << i for i, cell in enumerate(held) if isinstance(cell, Exactly)}
            for term, held in cells.items()
        }
        self._nodes: list[tuple[object, ...]] = [("false",), ("true",)]
        self._numbers: dict[tuple[object, ...], int] = {}
        self._atoms: list[frozenset[tuple[str, int]]] = [frozenset(), frozenset()]
        self._terms: list[frozenset[str]] = [frozenset(), frozenset()]
        self._restricted: dict[tuple[int, str, int], int] = {}

    def enter(self, formula: Formula, *, denied: bool = False) -> int:
        """The number of the formula, or with `denied` of its negation."""
        match formula:
            case bool():
                return TRUE if formula != denied else FALSE
            case Denies(part):
                return self.enter(part, denied=not denied)
            case Joins(every, parts):
                return self._join(every != denied, [self.enter(part, denied=denied) for part in parts])
            case Asks(term, Against(Operator.EQUAL, constant)):
                # only its own cell: a list of a thousand names would otherwise ask a million times
                mask = self._exact[term].get(constant, 0)
                return self._atom(term, self._full(term) ^ mask if denied else mask)
            case Asks(term, test):
                mask = sum(1 << i for i, cell in enumerate(self._cells[term]) if holds(test, cell) != denied)
                return self._atom(term, mask)

    def terms(self, number: int) -> frozenset[str]:
        """The terms that the formula depends on."""
        return self._terms[number]

    def distinct_cells(self, term: str, numbers: Iterable[int]) -> list[int]:
        """One of the term's cells for each way in which it can bear on these formulas."""
        masks = {mask for number in numbers for name, mask in self._atoms[number] if name == term}
        seen: dict[tuple[int, ...], int] = {}
        for cell in range(len(self._cells[term])):
            seen.setdefault(tuple(mask >> cell & 1 for mask in masks), cell)
        return list(seen.values())

    def restrict(self, number: int, term: str, cell: int) -> int:
        """What is left of the formula when the term lies in the cell."""
        if term not in self._terms[number]:
            return number
        key = (number, term, cell)
        if key not in self._restricted:
            self._restricted[key] = self._restrict(number, term, cell)
        return self._restricted[key]

    def _restrict(self, number: int, term: str, cell: int) -> int:
        node = self._nodes[number]
        if node[0] == "atom":
            mask = node[2]
            assert isinstance(mask, int), "an atom holds a term and a mask"
            return mask >> cell & 1
        every, parts = node[0] == "every", node[1]
        assert isinstance(parts, tuple), "a junction holds its parts"
        return self._join(every, [self.restrict(part, term, cell) for part in parts])

    def _atom(self, term: str, mask: int) -> int:
        if mask in (0, self._full(term)):
            return TRUE if mask else FALSE
        return self._number(("atom", term, mask), frozenset({(term, mask)}))

    def _full(self, term: str) -> int:
        return (1 << len(self._cells[term])) - 1

    def _join(self, every: bool, parts: Iterable[int]) -> int:
        absorbing, neutral = (FALSE, TRUE) if every else (TRUE, FALSE)
        flat = self._flattened("every" if every else "some", parts)
        merged = self._merged(every, flat)
        if absorbing in merged:
            return absorbing
        left = tuple(sorted(merged - {neutral}))
        if len(left) < 2:
            return left[0] if left else neutral
        atoms = frozenset().union(*(self._atoms[part] for part in left))
        return self._number(("every" if every else "some", left), atoms)

    def _flattened(self, kind: str, parts: Iterable[int]) -> list[int]:
        found: list[int] = []
        for part in parts:
            node = self._nodes[part]
            found += node[1] if node[0] == kind else [part]  # type: ignore[arg-type]
        return found

    def _merged(self, every: bool, parts: Iterable[int]) -> set[int]:
        """The parts with all atoms on one term made one: cells are sets, and sets meet and unite."""
        masks: dict[str, int] = {}
        others: set[int] = set()
        for part in parts:
            node = self._nodes[part]
            if node[0] != "atom":
                others.add(part)
                continue
            term, mask = node[1], node[2]
            assert isinstance(term, str), "an atom holds a term and a mask"
            assert isinstance(mask, int), "an atom holds a term and a mask"
            masks[term] = mask if term not in masks else masks[term] & mask if every else masks[term] | mask
        return others | {self._atom(term, mask) for term, mask in masks.items()}

    def _number(self, node: tuple[object, ...], atoms: frozenset[tuple[str, int]]) -> int:
        if node not in self._numbers:
            self._numbers[node] = len(self._nodes)
            self._nodes.append(node)
            self._atoms.append(atoms)
            self._terms.append(frozenset(term for term, _ in atoms))
        return self._numbers[node]
