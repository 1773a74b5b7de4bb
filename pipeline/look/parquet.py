"""The first rows of a Parquet file, as cells of text: its types are known, its columns are guessed like any other's."""

import io
import struct
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

from foresail.pipeline.look.head import Head
from foresail.pipeline.look.tables import MOST_COLUMNS, Table

MAGIC = b"PAR1"
LOOKED_ROWS = 1_000
LONGEST_FOOTER_BYTES = 64 << 20


class NotReadableError(Exception):
    """Why the file cannot be looked into."""


def parquet_table(head: Head) -> Table:
    """The first rows of `head`, whose file is Parquet."""
    import pyarrow as pa  # noqa: PLC0415 - a text file is looked at without it
    import pyarrow.parquet as pq  # noqa: PLC0415

    if head.packed and not head.whole:
        msg = "is Parquet inside an archive, too long to look into: unpack it first"
        raise NotReadableError(msg)
    source = io.BytesIO(head.data) if head.packed else head.path.open("rb")
    with source:
        _check_footer(source)
        try:
            file = pq.ParquetFile(source, pre_buffer=False)
            names = file.schema_arrow.names[:MOST_COLUMNS]
            batch = next(file.iter_batches(LOOKED_ROWS, columns=names), None)
        except (OSError, pa.ArrowException) as error:
            msg = f"cannot be read as Parquet ({str(error).splitlines()[0][:120]})"
            raise NotReadableError(msg) from None
    columns = [[_cell(value) for value in column.to_pylist()] for column in batch.columns] if batch else []
    rows: Iterable[tuple[str | None, ...]] = zip(*columns, strict=True) if columns else ()
    return Table(tuple(names), tuple(rows))


def _check_footer(source: Any) -> None:
    source.seek(0, io.SEEK_END)
    size = source.tell()
    if size < 12:
        msg = "ends before its footer: it is cut off"
        raise NotReadableError(msg)
    source.seek(size - 8)
    length, magic = struct.unpack("<I4s", source.read(8))
    if magic != MAGIC or length > size - 12:
        msg = "begins as Parquet but has no footer: it is cut off"
        raise NotReadableError(msg)
    if length > LONGEST_FOOTER_BYTES:
        msg = f"has a footer of {length:,} bytes, above the limit of {LONGEST_FOOTER_BYTES:,}"
        raise NotReadableError(msg)
    source.seek(0)


def _cell(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        text = value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
        return text.replace("T", " ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value[:32].hex()
    return str(value).strip() or None
