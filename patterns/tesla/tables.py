"""Rules as arrays: what the kernel reads. Rows are packed, for a call passes every array of every tuple one by one."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_KEYS = 6
"""Equalities of a predicate that are looked up; further ones are tested one by one."""

# operations of terms
CONSTANT, ATTRIBUTE, TIME, TEMPORARY, ADD, SUBTRACT, MULTIPLY, DIVIDE = range(8)
ABSOLUTE, SMALLER, LARGER, ROUNDED, ROUNDED_TO, DISTANCE = range(8, 14)
# comparisons
EQUAL, UNEQUAL, BELOW, AT_MOST, ABOVE, AT_LEAST = range(6)
# tests
T_ATTRIBUTE, T_COMPARISON, T_TERM = range(3)
# entries of the static index
FIRES, STORES = range(2)
E_KIND, E_WHAT, E_TESTS, E_TESTS_END = range(4)
# thresholds of the static index
H_ATTRIBUTE, H_COMPARISON, H_BEGIN, H_END = range(4)
# columns
C_KEYS, C_HORIZON, C_SUM, C_COUNTS_ALL, C_CONSUMING, C_KEY = range(6)
# probes
P_COLUMN, P_TESTS, P_TESTS_END, P_OTHER, P_ANCHOR, P_SPAN, P_MEMO, P_KEY = range(8)
# steps
EACH, LAST, FIRST, ABSENT, COMPUTE, COMPARE = range(6)
S_KIND, S_SLOT, S_NUMBER, S_PER, S_PROBE, S_FUNCTION, S_ATTRIBUTE, S_LEFT, S_COMPARISON, S_RIGHT, S_MEMO = range(11)
# functions of aggregates
COUNT, SUM, AVERAGE, MINIMUM, MAXIMUM = range(5)
# rules
R_STEPS, R_STEPS_END, R_VALUES, R_VALUES_END, R_CONSUMED, R_CONSUMED_END, R_CONSUMING = range(7)
R_ADMISSIBLE, R_SLOTS, R_TYPE = range(7, 10)
# types
Y_PLAIN, Y_PLAIN_END, Y_EQUAL, Y_EQUAL_END, Y_THRESHOLDS, Y_THRESHOLDS_END = range(6)


class Tables(NamedTuple):
    """A rule set that never changes while it runs."""

    code: NDArray[np.int64]
    """Operation and two arguments a row; terms one after the other."""
    code_at: NDArray[np.int64]
    constants: NDArray[np.float64]
    tests: NDArray[np.int64]
    """Attribute, comparison and term; below zero the term is the constant of `test_constants`."""
    test_constants: NDArray[np.float64]
    entries: NDArray[np.int64]
    types: NDArray[np.int64]
    plain: NDArray[np.int64]
    """Entries that are looked at for every event of the type."""
    equal_attributes: NDArray[np.int64]
    equal_table: NDArray[np.int64]
    """A hash table: place of (group, value) in `equal_keys`, below zero where there is none."""
    equal_groups: NDArray[np.int64]
    """Group of attribute, then the range of entries."""
    equal_values: NDArray[np.float64]
    equal_entries: NDArray[np.int64]
    thresholds: NDArray[np.int64]
    threshold_values: NDArray[np.float64]
    threshold_entries: NDArray[np.int64]
    columns: NDArray[np.int64]
    probes: NDArray[np.int64]
    steps: NDArray[np.int64]
    rules: NDArray[np.int64]
    value_terms: NDArray[np.int64]
    value_attributes: NDArray[np.int64]
    """Per value of a rule the attribute that its composite has it under; below zero where no rule reads it."""
    consumed: NDArray[np.int64]
    ranks: NDArray[np.int64]
    """By the code of a text its place in the order of all texts."""
    arrival: int
    consuming: int
    """How many rules consume."""
    keeps: int
    """Whether events stay in the log that no predicate asks for: where a rule consumes its terminator."""
    limit: int
    """The most rows that one terminator may give in one rule."""
