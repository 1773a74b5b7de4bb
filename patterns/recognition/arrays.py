"""Copies between arrays as plain loops: numba compiles these once per type, slice assignments anew at every place."""

from typing import Any

from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def fill(target: NDArray[Any], first: int, end: int, value: int) -> None:
    """Set `target[first:end]`."""
    for i in range(first, end):
        target[i] = value


@njit(cache=True)
def fill_row(target: NDArray[Any], row: int, first: int, end: int, value: int) -> None:
    """Set `target[row, first:end]`."""
    for i in range(first, end):
        target[row, i] = value


@njit(cache=True)
def copy_part(source: NDArray[Any], first: int, end: int, target: NDArray[Any], at: int) -> None:
    """Copy `source[first:end]` to `target` from place `at` on."""
    for i in range(end - first):
        target[at + i] = source[first + i]


@njit(cache=True)
def copy_row(source: NDArray[Any], row: int, target: NDArray[Any], onto: int) -> None:
    """Copy one row of a matrix."""
    for i in range(source.shape[1]):
        target[onto, i] = source[row, i]


@njit(cache=True)
def same_row(left: NDArray[Any], one: int, right: NDArray[Any], other: int) -> bool:
    """Whether two rows of matrices are equal."""
    for i in range(left.shape[1]):  # noqa: SIM110 - a loop is what numba compiles best
        if left[one, i] != right[other, i]:
            return False
    return True
