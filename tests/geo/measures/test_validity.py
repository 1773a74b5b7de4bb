"""Records that hold for a while, against a look at every one of them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.geo.measures.validity import build_records, holding

RECORD = st.tuples(st.integers(0, 2), st.integers(0, 20), st.integers(1, 10))


@given(
    st.lists(RECORD, max_size=20), st.lists(st.tuples(st.integers(-1, 2), st.integers(-2, 32)), min_size=1, max_size=30)
)
@settings(max_examples=200, deadline=None)
def test_of_the_records_in_force_the_last_begun_holds(records: list, asked: list) -> None:
    table = np.array([(cell, begin, begin + length) for cell, begin, length in records], np.int64).reshape(-1, 3)
    built, order = build_records(table[:, 0], table[:, 1], table[:, 2], cells=3)
    cell, time = np.array(asked, np.int64).T
    found = holding(cell, time, built)
    for place, when, record in zip(cell, time, found, strict=True):
        valid = [row for row in table.tolist() if row[0] == place and row[1] <= when < row[2]]
        if record < 0:
            assert not valid
        else:
            assert table[order[record]].tolist() in valid
            assert table[order[record], 1] == max(row[1] for row in valid)
