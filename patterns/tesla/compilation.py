"""The kernels of TESLA, compiled ahead for one explicit signature each and kept on disk."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import float64, int64, typeof, types

from foresail.patterns.recognition.compilation import Kernel, ready
from foresail.patterns.tesla import kernel
from foresail.patterns.tesla.state import Rows, Scratch, State, fresh_rows, fresh_state
from foresail.patterns.tesla.tables import Tables

_LONGS = types.Array(int64, 1, "C", readonly=True)
_VALUES = types.Array(float64, 2, "C", readonly=True)


def _some_tables() -> Any:
    kinds = {
        name: np.zeros((1,) * (2 if name in _MATRICES else 1), dtype=float if name in _FLOATS else np.int64)
        for name in Tables._fields
    }
    return typeof(Tables(**{**kinds, "arrival": 0, "consuming": 0, "keeps": 0, "limit": 0}))


_MATRICES = ("code", "tests", "entries", "types", "equal_groups", "thresholds", "columns", "probes", "steps", "rules")
_FLOATS = ("constants", "test_constants", "equal_values", "threshold_values")


def scratch_of(slots: int, temporaries: int, stack: int, steps: int, chosen: int, rules: int, columns: int,
               memos: int, computed: int) -> Scratch:  # fmt: skip
    """Room for one event of a rule set."""
    return Scratch(
        np.zeros(slots, dtype=np.int64),
        np.zeros(max(temporaries, 1)),
        np.zeros(stack + 4),
        np.zeros((steps, 4), dtype=np.int64),
        np.zeros(chosen, dtype=np.int64),
        np.zeros(rules + 1, dtype=np.int64),
        np.zeros(columns + 1, dtype=np.int64),
        np.zeros(8),
        np.full((memos + 1, 2), -1, dtype=np.int64),
        np.full((computed + 1, 2), -1.0),
    )


@cache
def advance_kernel() -> Kernel:
    """`kernel.advance`, ready to be called."""
    kinds = [typeof(each) for each in (fresh_state(1, 1), scratch_of(1, 1, 1, 1, 1, 1, 1, 1, 1), fresh_rows(1, 1, 1))]
    return ready(kernel.advance, (_some_tables(), *kinds, _LONGS, _LONGS, _LONGS, _LONGS, _VALUES, int64))


@cache
def compact_kernel() -> Kernel:
    """`kernel.compact`, ready to be called."""
    state = typeof(fresh_state(1, 1))
    return ready(kernel.compact, (_some_tables(), state, state, int64))


@cache
def needed_kernel() -> Kernel:
    """`kernel.needed`, ready to be called."""
    return ready(kernel.needed, (_some_tables(), typeof(fresh_state(1, 1))))


KERNELS: dict[str, Callable[[], Kernel]] = {
    "rules": advance_kernel,
    "rules, pruned": compact_kernel,
    "rules, measured": needed_kernel,
}

__all__ = ["KERNELS", "Rows", "State", "advance_kernel", "compact_kernel", "needed_kernel", "scratch_of"]
