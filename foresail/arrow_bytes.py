"""A table as bytes of Arrow's stream format: for Spark's state store, and for files of several tables."""

import pyarrow as pa


def table_to_bytes(table: pa.Table, compression: str | None = None) -> bytes:
    """`table` with its schema; `compression` is lz4 or zstd."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def table_from_bytes(stored: bytes) -> pa.Table:
    """What `table_to_bytes` made bytes of; the table reads from them without a copy where they are not compressed."""
    with pa.ipc.open_stream(stored) as reader:
        return reader.read_all()
