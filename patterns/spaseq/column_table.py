"""A mapped table as numbers: what queries over columns read, and what graphs are written from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.spaseq.mapping import Terms


@dataclass(frozen=True, slots=True)
class Column:
    """Values as numbers, NaN where there is none; texts by their place in a list that columns of one kind share."""

    values: NDArray[np.float64]
    terms: Terms
    texts: Sequence[str] = ()

    def taken(self, rows: NDArray[np.int64]) -> "Column":
        """The same of some rows."""
        return Column(self.values[rows], self.terms, self.texts)

    def term(self, value: float) -> str:
        """The term of a value."""
        return self.terms.term(self.texts[int(value)] if self.terms.kind in ("string", "iri") else value)

    def code(self, term: str) -> float | None:
        """The value of a term; None where no value of the column has it."""
        value = self.terms.value(term)
        if isinstance(value, str):
            return float(self.texts.index(value)) if value in self.texts else None
        return value


@dataclass(frozen=True, slots=True)
class ColumnTable:
    """Rows by partition and time, each of another instant than its neighbours."""

    first_of: NDArray[np.int64]
    times: NDArray[np.int64]
    columns: Mapping[str, Column]
    """By predicate; the subject's is `SUBJECT`."""
