"""Workers write what they find: each task one Parquet file, under its final name only when it is complete.

Through Spark's own writer every match would become a row twice over, which takes longer than finding it. A task that
is repeated writes the same rows again under the same name; what a killed one leaves has a name that readers skip.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext

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
        context = TaskContext.get()
        number = context.partitionId() if context else 0
        final = Path(self.folder) / f"{self.prefix}-{number:05d}.parquet"
        staging = final.with_name(f"{UNFINISHED}-{uuid4().hex}")
        rows = self._write(self.worker(batches), staging)
        if rows:
            staging.replace(final)
            yield pa.RecordBatch.from_pylist([{"file": final.name, "matches": rows}], schema=WRITTEN)

    def _write(self, found: Iterator[pa.RecordBatch], file: Path) -> int:
        schema, rows = match_schema(self.places), 0
        held: list[pa.RecordBatch] = []
        writer: pq.ParquetWriter | None = None
        for batch in found:
            held.append(batch)
            rows += batch.num_rows
            if sum(part.num_rows for part in held) >= ROWS_PER_GROUP:
                writer = writer or self._open(file, schema)
                writer.write_table(_table(held, schema))
                held = []
        if held:
            writer = writer or self._open(file, schema)
            writer.write_table(_table(held, schema))
        if writer:
            writer.close()
        return rows

    def _open(self, file: Path, schema: pa.Schema) -> pq.ParquetWriter:
        file.parent.mkdir(parents=True, exist_ok=True)
        return pq.ParquetWriter(file, schema, compression="zstd", use_dictionary=list(NAMED), store_schema=False)


def _table(held: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_batches(held, schema).unify_dictionaries()
