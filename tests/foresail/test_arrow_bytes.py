import pyarrow as pa
import pytest

from foresail.arrow_bytes import table_from_bytes, table_to_bytes


@pytest.mark.parametrize("compression", [None, "lz4"])
def test_a_table_comes_back_with_its_schema(compression: str | None) -> None:
    schema = pa.schema([("track", pa.string()), ("x", pa.int32())], metadata={"kept": "yes"})
    table = pa.table({"track": ["a", None], "x": [1, 2]}, schema=schema)
    read = table_from_bytes(table_to_bytes(table, compression))
    assert read.equals(table, check_metadata=True)


def test_compression_is_made_use_of() -> None:
    table = pa.table({"x": [0] * 10_000})
    assert len(table_to_bytes(table, "lz4")) < len(table_to_bytes(table)) / 10
