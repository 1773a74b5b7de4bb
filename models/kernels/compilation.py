"""The kernels of forecasting, compiled ahead for one explicit signature each and kept on disk.

The signatures ask for read-only inputs, which the read-only arrays of Arrow and writable ones both satisfy.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numba import typeof, types

from models.kernels.automaton import count_accepted, walk
from models.kernels.symbols import SymbolCodes, read_symbols
from patterns.recognition.compilation import INTEGERS, LONGS, WORDS, Kernel, ready

SYMBOLS = types.Array(types.int32, 1, "C")
TABLE = types.Array(types.int32, 2, "C", readonly=True)
FLAGS = types.Array(types.boolean, 1, "C", readonly=True)


@cache
def symbol_kernel() -> Kernel:
    """`symbols.read_symbols`, ready to be called."""
    codes = SymbolCodes(np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.uint64))
    return ready(read_symbols, (typeof(codes), WORDS, SYMBOLS))


@cache
def automaton_kernel() -> Kernel:
    """`automaton.count_accepted`, ready to be called."""
    return ready(count_accepted, (TABLE, FLAGS, INTEGERS, LONGS, FLAGS, LONGS, SYMBOLS))


@cache
def walk_kernel() -> Kernel:
    """`automaton.walk`, ready to be called."""
    return ready(walk, (TABLE, INTEGERS, LONGS, SYMBOLS))


KERNELS: dict[str, Callable[[], Kernel]] = {
    "symbols": symbol_kernel,
    "matches in training": automaton_kernel,
    "far states in training": walk_kernel,
}
