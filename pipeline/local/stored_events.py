"""Events in files as the local engine finds them: Parquet that processes read in place or sort, tables read whole."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from foresail.pipeline.batch.parquet_source import ParquetSource, Unfit, parquet_source
from foresail.pipeline.local.files import table_files
from foresail.pipeline.local.frames import PLACE
from foresail.pipeline.local.sorted_events import MINUTES


def events_at(path: str) -> str:
    """Where the events of `path` lie: in its folder `events` if a command wrote it, else in itself."""
    table_files(path)
    return str(Path(path) / "events") if (Path(path) / "events").is_dir() else path


def stored_source(paths: Sequence[str], folder: str | None, read: Sequence[str], typed: bool) -> ParquetSource | Unfit:
    """The files as processes can read them for the columns `read`, or why they are read whole instead."""
    if typed:
        return Unfit("types were said")
    if MINUTES in read:
        return Unfit(f"{MINUTES} is derived")
    there = _columns_there(paths)
    return parquet_source(paths, [name for name in read if name in there], folder) if there else Unfit("no Parquet")


def schema_of(source: ParquetSource) -> pa.Schema:
    """The columns of the files."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - not every run reads some

    return pq.read_schema(source.pieces[0].path) if source.pieces else pa.schema([])


def places_in(schema: pa.Schema) -> bool:
    """Whether the events say where they were, in numbers."""
    kinds = {field.name: field.type for field in schema}
    return all(
        axis in kinds and (pa.types.is_integer(kinds[axis]) or pa.types.is_floating(kinds[axis])) for axis in PLACE
    )


def _columns_there(paths: Sequence[str]) -> tuple[str, ...]:
    import pyarrow.parquet as pq  # noqa: PLC0415 - not every run reads some

    files = [file for path in paths for file in table_files(path)]
    return tuple(pq.read_schema(files[0]).names) if files and files[0].endswith(".parquet") else ()
