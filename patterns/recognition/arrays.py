"""What all kernels are made with: how they are compiled, and copies between arrays as plain loops.

Numba compiles a loop once per type, but a slice assignment anew at every place.
"""

from typing import Any

from numba import njit
from numpy.typing import NDArray

compiled = njit(cache=True, error_model="numpy", _nrt=False)
"""For kernels that allocate nothing: numba then counts no references, which would cost more than the work itself."""

inlined = njit(cache=True, error_model="numpy", _nrt=False, inline="always")
"""For the steps of a kernel: a call would pass every array of every tuple one by one."""


@compiled
def fill(target: NDArray[Any], first: int, end: int, value: int) -> None:
    """Set `target[first:end]`."""
    for i in range(first, end):
        target[i] = value


@compiled
def fill_row(target: NDArray[Any], row: int, first: int, end: int, value: int) -> None:
    """Set `target[row, first:end]`."""
    for i in range(first, end):
        target[row, i] = value


@compiled
def copy_part(source: NDArray[Any], first: int, end: int, target: NDArray[Any], at: int) -> None:
    """Copy `source[first:end]` to `target` from place `at` on."""
    for i in range(end - first):
        target[at + i] = source[first + i]


@compiled
def copy_row(source: NDArray[Any], row: int, target: NDArray[Any], onto: int) -> None:
    """Copy one row of a matrix."""
    for i in range(source.shape[1]):
        target[onto, i] = source[row, i]


@compiled
def same_row(left: NDArray[Any], one: int, right: NDArray[Any], other: int) -> bool:
    """Whether two rows of matrices are equal."""
    for i in range(left.shape[1]):  # noqa: SIM110 - a loop is what numba compiles best
        if left[one, i] != right[other, i]:
            return False
    return True
