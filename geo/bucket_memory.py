"""Rows that meet what Spark's state store remembers of their bucket: a table in, a table out, a table remembered."""

import io
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

Advance = Callable[[pd.DataFrame, pd.DataFrame | None], tuple[pd.DataFrame, pd.DataFrame]]
"""From the rows of a micro-batch and the memory (none at first): the rows to give out, and the memory after them."""

MEMORY_SCHEMA = T.StructType([T.StructField("memory", T.BinaryType())])


class BucketMemory(StatefulProcessor):
    """Spark's side: loads the memory of a bucket, calls `advance`, saves it."""

    def __init__(self, advance: Advance, columns: list[str]) -> None:
        self._advance = advance
        self._columns = columns

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Find the bucket's value in the state store."""
        self._stored = handle.getValueState("memory", MEMORY_SCHEMA)

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: ARG002, N802, N803 - Spark's names
        """The rows that those of one micro-batch give."""
        stored = self._stored.get()
        memory = None if stored is None else decoded(stored[0])
        out, memory = self._advance(pd.concat(list(rows), ignore_index=True), memory)
        self._stored.update((encoded(memory),))
        yield out.reindex(columns=self._columns)

    def close(self) -> None:
        """Nothing is held open."""


def with_memory(rows: DataFrame, key: str, advance: Advance, schema: T.StructType) -> DataFrame:
    """A stream of what `advance` makes of `rows`, which carry their bucket in the column `key`."""
    memory = BucketMemory(advance, schema.fieldNames())
    return rows.groupBy(key).transformWithStateInPandas(memory, schema, "Append", "None")


def encoded(memory: pd.DataFrame) -> bytes:
    """A table as bytes of the state store."""
    table = pa.Table.from_pandas(memory, preserve_index=False)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def decoded(stored: bytes) -> pd.DataFrame:
    """What `encoded` made bytes of."""
    with pa.ipc.open_stream(io.BytesIO(stored)) as reader:
        memory: pd.DataFrame = reader.read_all().to_pandas()
    return memory
