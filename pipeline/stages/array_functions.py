"""Spark's column functions over arrays, with SQL's rules for the unknown: what derived attributes are made with.

Only what `foresail.pipeline.stages.derive` needs. Names are Spark's, so that one rule serves columns and arrays.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Booleans: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Nullable:
    """The values of a column, and which of them are known; where one is not, `values` holds anything."""

    values: NDArray[Any]
    known: Booleans

    @classmethod
    def of(cls, values: NDArray[Any]) -> "Nullable":
        """Numbers of which NaN is unknown, or whole numbers and Booleans of which none is."""
        known = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(values.shape, dtype=np.bool_)
        return cls(values, known)

    def __add__(self, other: Any) -> "Nullable":
        return _with(np.add, self, other)

    def __sub__(self, other: Any) -> "Nullable":
        return _with(np.subtract, self, other)

    def __mul__(self, other: Any) -> "Nullable":
        return _with(np.multiply, self, other)

    def __truediv__(self, other: Any) -> "Nullable":
        return _with(np.divide, self, other)

    def __gt__(self, other: Any) -> "Nullable":
        return _with(np.greater, self, other)

    def __le__(self, other: Any) -> "Nullable":
        return _with(np.less_equal, self, other)

    def __eq__(self, other: Any) -> "Nullable":  # type: ignore[override]  # as Spark's columns: whether values agree
        return _with(np.equal, self, other)

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, other: "Nullable") -> "Nullable":
        """False where either is, whatever the other is; unknown where that decides."""
        values = (self.values | ~self.known) & (other.values | ~other.known)
        return Nullable(values, (self.known & other.known) | ~values)

    def __or__(self, other: "Nullable") -> "Nullable":
        """True where either is, whatever the other is; unknown where that decides."""
        values = (self.values & self.known) | (other.values & other.known)
        return Nullable(values, (self.known & other.known) | values)

    def isNull(self) -> "Nullable":  # noqa: N802 - Spark's name
        """Whether each value is unknown, which is always known."""
        return Nullable(~self.known, np.ones_like(self.known))

    def isNotNull(self) -> "Nullable":  # noqa: N802 - Spark's name
        """Whether each value is known, which is always known."""
        return Nullable(self.known, np.ones_like(self.known))


def lit(value: float | bool) -> Nullable:
    """A constant."""
    return Nullable(np.asarray(value), np.asarray(True))


def when(condition: Nullable, value: Nullable) -> Nullable:
    """`value` where the condition holds, else unknown."""
    return Nullable(value.values, condition.known & condition.values & value.known)


def coalesce(*columns: Nullable) -> Nullable:
    """The first of these values that is known."""
    return reduce(_first_known, columns)


def _first_known(one: Nullable, other: Nullable) -> Nullable:
    return Nullable(np.where(one.known, one.values, other.values), one.known | other.known)


def unix_micros(time: Nullable) -> Nullable:
    """Microseconds since 1970, which is what times are in arrays."""
    return time


def pmod(value: Nullable, divisor: Nullable) -> Nullable:
    """The remainder, with the sign of the divisor."""
    return _with(_positive_remainder, value, divisor)


def _positive_remainder(value: NDArray[Any], divisor: NDArray[Any]) -> NDArray[Any]:
    rest = np.fmod(value, divisor)
    remainder: NDArray[Any] = np.where(rest < 0, np.fmod(rest + divisor, divisor), rest)
    return remainder


def _of_one(function: np.ufunc) -> Callable[[Nullable], Nullable]:
    def applied(column: Nullable) -> Nullable:
        with np.errstate(all="ignore"):
            return Nullable(function(column.values), column.known)

    return applied


abs, sin, cos, asin, sqrt, radians = map(  # noqa: A001 - Spark's names
    _of_one, (np.abs, np.sin, np.cos, np.arcsin, np.sqrt, np.radians)
)


def _with(function: Callable[..., Any], one: Nullable, other: Any) -> Nullable:
    second = other if isinstance(other, Nullable) else lit(other)
    with np.errstate(all="ignore"):
        return Nullable(function(one.values, second.values), one.known & second.known)
