"""What Spark's workers run to ingest text: some read pieces of files, then others settle tracks and write them."""

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from foresail.pipeline.errors import InputError
from foresail.pipeline.feeds.finishing import Finishing
from foresail.pipeline.feeds.parcels import RowFigures, count_reasons, parcels_of
from foresail.pipeline.feeds.staging import store, stored_parcels
from foresail.pipeline.quality.figures import EventFigures

READ_DDL = "positions long, fault string"
FINISHED_DDL = "finished binary"
_READ = pa.schema([("positions", pa.int64()), ("fault", pa.string())])
_FINISHED = pa.schema([("finished", pa.binary())])


@dataclass(frozen=True, slots=True)
class ReadPieces:
    """Reads and judges the pieces whose numbers come in; their parcels go into a folder."""

    work: Finishing
    buckets: int
    folder: Path

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Of each piece how many positions it has, or what makes its file one that cannot be read."""
        for batch in batches:
            for number in batch.column(0).to_pylist():
                piece = self.work.pieces[number]
                parcels = parcels_of(piece, self.work.files[piece.file], self.work.by, self.buckets)
                positions, fault = 0, None
                try:
                    positions = store(parcels, self.folder, number).positions
                except InputError as error:
                    fault = str(error)
                yield pa.RecordBatch.from_pylist([{"positions": positions, "fault": fault}], schema=_READ)


@dataclass(frozen=True, slots=True)
class Written:
    """What a worker has written for some whole tracks, and what it counted."""

    events: int
    rejected: dict[str, int]
    duplicates: dict[str, int]
    counted: RowFigures
    measured: EventFigures
    out_of_order: int
    mended: int
    truncated: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FinishFiles:
    """Settles and writes the tracks of the files whose numbers come in."""

    work: Finishing
    buckets: int
    files: int
    folder: Path
    events: Path
    rejected: Path
    duplicates: Path

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Of each file what was written, pickled."""
        for batch in batches:
            for number in batch.column(0).to_pylist():
                made = pickle.dumps(self._finish(number))
                yield pa.RecordBatch.from_pylist([{"finished": made}], schema=_FINISHED)

    def _finish(self, number: int) -> Written:
        mine = range(number, self.buckets, self.files)  # a number modulo files that divide the buckets
        finished = self.work.finish(stored_parcels(self.folder, mine))
        for table, place in (
            (finished.events, self.events),
            (finished.rejected, self.rejected),
            (finished.duplicates, self.duplicates),
        ):
            _write(table, place, number)
        return Written(
            finished.events.num_rows,
            dict(count_reasons([finished.rejected])),
            dict(count_reasons([finished.duplicates])),
            finished.counted,
            finished.measured,
            finished.out_of_order,
            finished.mended,
            tuple(finished.truncated),
        )


def _write(table: pa.Table, folder: Path, number: int) -> None:
    """One row group, so that later readers take the file whole; put into place when it is complete."""
    made = folder / f".part-{uuid4().hex}"
    pq.write_table(table, made, row_group_size=max(1, table.num_rows), compression="zstd")
    made.replace(folder / f"part-{number:05d}.parquet")
