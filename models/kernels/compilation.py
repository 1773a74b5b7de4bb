"""The kernels of forecasting, compiled ahead for one explicit signature each and kept on disk.

The signatures ask for read-only inputs, which the read-only arrays of Arrow and writable ones both satisfy.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, get_args, get_type_hints

import numpy as np
from numba import boolean, float32, float64, int32, int64, typeof, types

from foresail.models.kernels.decisions import Decisions, shortest_intervals
from foresail.models.kernels.family import Features, Steps, follow_families, tell_near
from foresail.models.kernels.forecast import (
    Alphabets,
    Histories,
    Numbers,
    Rows,
    enter_all,
    follow,
    number_events,
    tell,
)
from foresail.models.kernels.past import Past, recall
from foresail.models.kernels.symbols import SymbolCodes, count_accepted, reachable, read_symbols, walk
from foresail.models.kernels.trees import Forest, credit_paths, judge, spread_out
from foresail.patterns.recognition.compilation import INTEGERS, LONGS, WORDS, Kernel, ready


def _array(kind: Any, dimensions: int, readonly: bool = False) -> Any:
    return types.Array(kind, dimensions, "C", readonly=readonly)


SYMBOLS = _array(int32, 1)
TABLE = _array(int32, 2, readonly=True)
FLAGS = _array(boolean, 1, readonly=True)


def _kind(table: type[Any], flat: tuple[str, ...] = ()) -> Any:
    """The numba type of a NamedTuple of arrays: the fields named in `flat` have one dimension, the others two."""
    hints = get_type_hints(table)
    arrays = {
        name: np.zeros(1 if name in flat else (1, 1), dtype=get_args(get_args(hint)[1])[0])
        for name, hint in hints.items()
    }
    return typeof(table(**arrays))


@cache
def symbol_kernel() -> Kernel:
    """`symbols.read_symbols`, ready to be called."""
    codes = SymbolCodes(np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.uint64))
    return ready(read_symbols, (typeof(codes), WORDS, SYMBOLS))


@cache
def automaton_kernel() -> Kernel:
    """`automaton.count_accepted`, ready to be called."""
    return ready(count_accepted, (TABLE, FLAGS, INTEGERS, LONGS, FLAGS, LONGS, INTEGERS, _array(int64, 1)))


@cache
def walk_kernel() -> Kernel:
    """`automaton.walk`, ready to be called."""
    return ready(walk, (TABLE, INTEGERS, LONGS, SYMBOLS))


@cache
def reachable_kernel() -> Kernel:
    """`automaton.reachable`, ready to be called."""
    return ready(reachable, (TABLE, TABLE, SYMBOLS, SYMBOLS))


@cache
def interval_kernel() -> Kernel:
    """`kinds.shortest_intervals`, ready to be called."""
    thresholds = _array(float64, 1, readonly=True)
    return ready(
        shortest_intervals, (_array(float64, 2, readonly=True), thresholds, SYMBOLS, SYMBOLS, _array(float64, 1))
    )


DECISIONS = _kind(Decisions, Decisions._fields)
ROWS = _kind(Rows, Rows._fields)
NUMBERS = _kind(Numbers, ("size", "slot"))
FEATURES = _kind(Features, ("feature", "near"))
LENGTHS = _array(types.uint8, 2)


@cache
def numbering_kernel() -> Kernel:
    """`forecast.number_events`, ready to be called."""
    return ready(number_events, (_kind(Alphabets, Alphabets._fields), NUMBERS, WORDS, SYMBOLS, int64))


@cache
def entering_kernel() -> Kernel:
    """`forecast.enter_all`, ready to be called."""
    return ready(enter_all, (NUMBERS,))


@cache
def following_kernel() -> Kernel:
    """`forecast.follow`, ready to be called."""
    histories = _kind(Histories)
    numbers = (int64, int64, int64, int64)
    return ready(follow, (TABLE, INTEGERS, *numbers, TABLE, INTEGERS, LONGS, LONGS, LONGS, LONGS, histories, SYMBOLS))


@cache
def emission_kernel() -> Kernel:
    """`forecast.tell`, ready to be called."""
    return ready(tell, (DECISIONS, int64, int64, INTEGERS, LONGS, LONGS, INTEGERS, ROWS, int64))


@cache
def family_kernel() -> Kernel:
    """`family.follow_families`, ready to be called."""
    steps = _kind(Steps, Steps._fields)
    events = (INTEGERS, LONGS, LONGS, LONGS, INTEGERS, INTEGERS)
    longs, table = _array(int64, 1), _array(int32, 2)
    states = (LONGS, LONGS, LONGS, FEATURES, LENGTHS, longs, FEATURES)
    return ready(follow_families, (steps, TABLE, *events, *states, longs, SYMBOLS, table, table))


@cache
def family_emission_kernel() -> Kernel:
    """`family.tell_near`, ready to be called."""
    return ready(tell_near, (DECISIONS, int64, int64, int64, TABLE, TABLE, ROWS, int64))


MATRIX = _array(float64, 2, readonly=True)


@cache
def past_kernel() -> Kernel:
    """`past.recall`, ready to be called."""
    flat = ("count", "state", "state_since", "state_events", "match_time", "match_events", "positive")
    events = (MATRIX, LONGS, LONGS, INTEGERS)
    return ready(recall, (INTEGERS, int64, int64, FLAGS, int64, *events, _kind(Past, flat), _array(float32, 2)))


@cache
def judging_kernel() -> Kernel:
    """`trees.judge`, ready to be called."""
    forest = _kind(Forest, tuple(name for name in Forest._fields if name != "value"))
    numbers, rows = _array(float64, 1, readonly=True), _array(int64, 1, readonly=True)
    inputs = _array(float32, 2, readonly=True)
    return ready(judge, (forest, int64, numbers, numbers, inputs, rows, _array(int32, 2), _array(float64, 2)))


@cache
def crediting_kernel() -> Kernel:
    """`trees.credit_paths`, ready to be called."""
    forest = _kind(Forest, tuple(name for name in Forest._fields if name != "value"))
    inputs, rows = _array(float32, 2, readonly=True), _array(int64, 1, readonly=True)
    return ready(credit_paths, (forest, MATRIX, inputs, rows, _array(int32, 2), _array(float64, 2)))


@cache
def spreading_kernel() -> Kernel:
    """`trees.spread_out`, ready to be called."""
    return ready(spread_out, (MATRIX, LONGS, _array(float64, 2)))


KERNELS: dict[str, Callable[[], Kernel]] = {
    "symbols": symbol_kernel,
    "matches in training": automaton_kernel,
    "far states in training": walk_kernel,
    "reachable chain states": reachable_kernel,
    "forecast intervals": interval_kernel,
    "combinations of conditions": numbering_kernel,
    "combinations of conditions, kept": entering_kernel,
    "chain states": following_kernel,
    "forecasts": emission_kernel,
    "chain states of families": family_kernel,
    "forecasts of families": family_emission_kernel,
    "the recent past of tracks": past_kernel,
    "hazards of trees": judging_kernel,
    "waiting times of trees": spreading_kernel,
    "reasons of trees": crediting_kernel,
}
