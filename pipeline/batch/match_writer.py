"""Workers write what they find: each task one Parquet file, under its final name only when it is complete.

Through Spark's own writer every match would become a row twice over, which takes longer than finding it. A task that
is repeated writes the same rows again under the same name; what a killed one leaves has a name that readers skip.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from foresail.pipeline.results.match_table import NAMED, match_schema

ROWS_PER_GROUP = 1_000_000
WRITTEN_DDL = "file string, matches long, unsettled string"
WRITTEN = pa.schema([("file", pa.string()), ("matches", pa.int64()), ("unsettled", pa.string())])
"""A row names a file and how many rows of matches it holds, or a long track that cannot be run in slices."""
UNFINISHED = "_unfinished"
Worker = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class Writing:
    """A worker whose matches go into a file of `folder`; Spark gets only its name and the number of its rows."""

    worker: Worker
    folder: str
    places: bool
    prefix: str = "part"

    def with_worker(self, worker: Worker) -> "Writing":
        """The same for the matches of another worker."""
        return replace(self, worker=worker)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row: the file that was written, and how many rows it holds."""
        from pyspark import TaskContext  # noqa: PLC0415 - a plain process writes without Spark

        context = TaskContext.get()
        number = context.partitionId() if context else 0
        rows = self.write(self.worker(batches), number)
        if rows:
            yield pa.RecordBatch.from_pylist([{"file": self._name(number), "matches": rows}], schema=WRITTEN)

    def write(self, found: Iterator[pa.RecordBatch], number: int) -> int:
        """Write the matches `found` as the file of that number; how many rows there are. Without any there is none."""
        return write_part(found, Path(self.folder) / self._name(number), match_schema(self.places), NAMED)

    def _name(self, number: int) -> str:
        return f"{self.prefix}-{number:05d}.parquet"


def write_part(found: Iterator[pa.RecordBatch], file: Path, schema: pa.Schema, named: Sequence[str]) -> int:
    """Write rows as one Parquet file; how many there are. Without any there is none. `named` columns repeat values."""
    staging = file.with_name(f"{UNFINISHED}-{uuid4().hex}")
    rows = 0
    held: list[pa.RecordBatch] = []
    writer: pq.ParquetWriter | None = None
    for batch in found:
        held.append(batch)
        rows += batch.num_rows
        if sum(part.num_rows for part in held) >= ROWS_PER_GROUP:
            writer = writer or _open(staging, schema, named)
            writer.write_table(_table(held, schema))
            held = []
    if held:
        writer = writer or _open(staging, schema, named)
        writer.write_table(_table(held, schema))
    if writer:
        writer.close()
        staging.replace(file)
    return rows


def _open(file: Path, schema: pa.Schema, named: Sequence[str]) -> pq.ParquetWriter:
    file.parent.mkdir(parents=True, exist_ok=True)
    return pq.ParquetWriter(file, schema, compression="zstd", use_dictionary=list(named), store_schema=False)


def _table(held: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_batches(held, schema).unify_dictionaries()
