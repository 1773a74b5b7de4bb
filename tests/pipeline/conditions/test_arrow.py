"""Arrow arrays as columns: the values, where they are null, and no copies where none are needed."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from foresail.patterns.conditions import AttributeType
from foresail.pipeline.conditions.arrow import array_column, array_columns
from foresail.pipeline.errors import InputError


def test_doubles_integers_and_times_are_not_copied() -> None:
    doubles = pa.array([1.0, None, 3.0])
    integers = pa.array([1, 2, 2**60])
    times = pa.array([0, 5], pa.timestamp("us", tz="UTC"))
    for array in (doubles, integers, times):
        column = array_column(array)
        assert column.values.ctypes.data == array.buffers()[1].address
    assert array_column(doubles).valid.tolist() == [True, False, True]  # type: ignore[union-attr]
    assert array_column(integers).valid is None
    assert array_column(times).type is AttributeType.TIMESTAMP


def test_slices_and_chunks_keep_their_rows() -> None:
    chunks = pa.chunked_array([pa.array([1, 2, None, 4]).slice(1, 2), pa.array([5])])
    column = array_column(chunks)
    assert column.values[column.valid].tolist() == [2, 5]
    assert array_column(pa.array([True, False, None, True]).slice(1)).values[[0, 2]].tolist() == [False, True]
    assert array_column(pa.chunked_array([], pa.float64())).values.tolist() == []


def test_texts_become_codes_into_a_dictionary() -> None:
    column = array_column(pa.array(["b", None, "a", "b"]))
    assert column.dictionary is not None
    assert [column.dictionary[code] for code in column.values[[0, 2, 3]]] == ["b", "a", "b"]
    hidden = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["x", None]))
    assert array_column(hidden).valid.tolist() == [True, False, False]  # type: ignore[union-attr]


def test_times_of_any_unit_and_days_are_microseconds() -> None:
    moment = dt.datetime(1969, 12, 31, 23, 59, 59, tzinfo=dt.UTC)
    for unit in ("s", "ms", "us", "ns"):
        assert array_column(pa.array([moment], pa.timestamp(unit, tz="Europe/Athens"))).values.tolist() == [-1_000_000]
    assert array_column(pa.array([1_999, 2_000], pa.timestamp("ns"))).values.tolist() == [1, 2]
    assert array_column(pa.array([dt.date(1970, 1, 2)])).values.tolist() == [86_400_000_000]


@pytest.mark.parametrize(("precision", "scale"), [(5, 2), (15, 2), (38, 10)])
def test_decimals_become_the_nearest_doubles(precision: int, scale: int) -> None:
    values = [Decimal("0.10"), None, Decimal("123.45"), Decimal("-0.07")]
    column = array_column(pa.array(values, pa.decimal128(precision, scale)).slice(0))
    assert column.type is AttributeType.NUMBER
    assert column.values[[0, 2, 3]].tolist() == [0.10, 123.45, -0.07]
    sliced = array_column(pa.array(values, pa.decimal128(precision, scale)).slice(2))
    assert sliced.values.tolist() == [123.45, -0.07]


def test_small_integers_widen_and_unsigned_longs_are_numbers() -> None:
    assert array_column(pa.array([1, -1], pa.int8())).values.dtype == np.int64
    assert array_column(pa.array([2**64 - 1], pa.uint64())).type is AttributeType.NUMBER
    assert array_column(pa.array([0.5], pa.float32())).values.dtype == np.float64


def test_fields_of_structs_are_found_under_their_path() -> None:
    table = pa.table({"port": pa.array([{"distance_m": 1.5}, None]), "n": [1, 2]})
    columns = array_columns(table, ["port.distance_m", "n"])
    assert columns["port.distance_m"].valid.tolist() == [True, False]  # type: ignore[union-attr]
    batch = array_columns(table.to_batches()[0], ["n"])
    assert batch["n"].values.tolist() == [1, 2]


def test_what_cannot_be_read_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"speed: there is no such column\. The columns are n"):
        array_columns(pa.table({"n": [1]}), ["speed"])
    with pytest.raises(InputError, match="n: conditions cannot read a column of type list"):
        array_columns(pa.table({"n": [[1]]}))
