"""Conditions packed into words by bins hold exactly where each of them holds on its own."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.conditions import Condition
from foresail.patterns.conditions.evaluate import evaluate
from foresail.patterns.conditions.packing import FEW_CONDITIONS, packed
from foresail.pipeline.conditions.arrow import array_columns
from tests.condition_cases import Row, arrow_table, conditions, rows


@settings(max_examples=200, deadline=None)
@given(st.lists(conditions, min_size=1, max_size=70), st.lists(rows, min_size=1, max_size=12))
def test_packed_words_hold_what_each_condition_holds(asked: list[Condition], events: list[Row]) -> None:
    many = (asked * (FEW_CONDITIONS + 1))[: max(len(asked), FEW_CONDITIONS + 1)]
    columns: Any = array_columns(arrow_table(events * 2))
    words = packed(many, columns, 2 * len(events)).view(np.uint64)
    for n, condition in enumerate(many):
        bit = (words[:, n // 64] >> np.uint64(n % 64)) & np.uint64(1)
        assert bit.astype(bool).tolist() == evaluate(condition, columns, 2 * len(events)).tolist()


def test_no_rows_have_no_words() -> None:
    assert packed([], {}, 0).shape == (0, 1)
