"""The ingest of text that workers read themselves: pieces of files in, settled tracks out, each row seen twice.

Workers read pieces of files, judge their rows and put them down by track; when all are read, other workers settle and
write the tracks of one file each. What the quality report says is counted on the way; only longitudes and latitudes are
read again, as the grid of the map lies over a box that is known last.
"""

import pickle
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from foresail.pipeline.errors import InputError
from foresail.pipeline.feeds.finishing import Finishing
from foresail.pipeline.feeds.judging import Judge
from foresail.pipeline.feeds.parcels import RowFigures
from foresail.pipeline.feeds.pieces import PIECE_BYTES, packing_of, pieces_of
from foresail.pipeline.feeds.reading import described
from foresail.pipeline.feeds.workers import FINISHED_DDL, READ_DDL, FinishFiles, ReadPieces, Written
from foresail.pipeline.jobs.ingest_order import IngestOrder, IngestResult, check_balance
from foresail.pipeline.progress import Progress
from foresail.pipeline.quality.figures import EventFigures, cells_of, extent_of
from foresail.pipeline.quality.measure import Measures
from foresail.pipeline.reports.page import count_of
from foresail.pipeline.runtime.interruption import interruption_delayed
from foresail.pipeline.sinks.output_folder import replaced
from foresail.pipeline.sources.lines import check_lines_of
from foresail.pipeline.sources.reading import NotOfFeedError
from foresail.pipeline.sources.storage import SourceFile
from foresail.pipeline.stages.layout import ROWS_PER_FILE, files_for, record_layout

LEAST_ROW_BYTES = 40
"""A row of text is hardly shorter."""
UNPACKED_BY = 12
"""Text is hardly packed better."""
LEAST_PIECE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of the rows, and what the quality report says of them before and after."""

    result: IngestResult
    before: dict[str, Any]
    after: Measures


def goes_in_pieces(order: IngestOrder, files: Sequence[SourceFile]) -> bool:
    """Whether workers can read these files themselves, and nothing else is to be joined to them."""
    adds_to_events = order.append and (order.out / "events").is_dir()
    if order.feed.arrays is None or order.static or adds_to_events:
        return False
    return bool(files) and all(file.local and packing_of(str(file.local)) is not None for file in files)


def ingest_pieces(
    spark: SparkSession,
    order: IngestOrder,
    files: Sequence[SourceFile],
    folder: Path,
    progress: Progress,
    unbroken: ExitStack,
) -> Ingested:
    """Read, settle and write; `folder` holds what is between reading and settling."""
    check_lines_of(spark, files)
    work = _planned(spark, order, files)
    cores = spark.sparkContext.defaultParallelism
    buckets = _buckets_for(files, cores)
    with progress.step(f"reading {count_of(len(files), 'input')} as {order.feed.name}"):
        read = ReadPieces(work, buckets, folder)
        rows = spark.range(0, len(work.pieces), 1, len(work.pieces)).mapInArrow(read, READ_DDL).collect()
    faults = [row["fault"] for row in rows if row["fault"]]
    if faults:
        raise InputError(faults[0])
    positions = sum(row["positions"] for row in rows)
    wanted = files_for(positions, cores)
    count = next(count for count in range(wanted, buckets + 1) if buckets % count == 0)
    with (
        replaced(order.out / "events") as events,
        replaced(order.out / "rejected") as rejected,
        replaced(order.out / "duplicates") as duplicates,
    ):
        for place in (events, rejected, duplicates):
            place.mkdir()
        with progress.step(f"writing {count_of(positions, 'position')} by track into {count_of(count, 'file')}"):
            finish = FinishFiles(work, buckets, count, folder, events, rejected, duplicates)
            made = spark.range(0, count, 1, count).mapInArrow(finish, FINISHED_DDL).collect()
        ingested = _together([pickle.loads(row["finished"]) for row in made], work, order.feed.name, events)
        record_layout(events, count, ingested.result.rows_out, ingested.result.tracks)
        check_balance(ingested.result)
        unbroken.enter_context(interruption_delayed())  # what is put into place now belongs together
    return ingested


def _planned(spark: SparkSession, order: IngestOrder, files: Sequence[SourceFile]) -> Finishing:
    places = {str(file.local): file for file in files}

    def refused(place: str, first: str) -> Exception:
        return NotOfFeedError(order.feed, places[place], first)

    described_files = described(order.feed, [(place, file.name) for place, file in places.items()], refused)
    shares = 4 * spark.sparkContext.defaultParallelism
    whole = sum(file.size_bytes for file in files)
    size = max(LEAST_PIECE_BYTES, min(PIECE_BYTES, whole // shares))
    return Finishing(tuple(pieces_of(list(places), size)), described_files, Judge(order.feed, order.policy, order.now))


def _buckets_for(files: Sequence[SourceFile], cores: int) -> int:
    """More than files will be needed, and such that many numbers of files divide it."""
    text = sum(file.size_bytes * (UNPACKED_BY if packing_of(str(file.local)) else 1) for file in files)
    buckets = cores
    while buckets * ROWS_PER_FILE < text // LEAST_ROW_BYTES:
        buckets *= 2
    return buckets


def _together(parts: Sequence[Written], work: Finishing, feed: str, events: Path) -> Ingested:
    counted, measured = RowFigures(), EventFigures()
    rejected, duplicates = Counter[str](), Counter[str]()
    for part in parts:
        counted.merge(part.counted)
        measured.merge(part.measured)
        rejected.update(part.rejected)
        duplicates.update(part.duplicates)
    truncated = sorted({work.files[file].source for part in parts for file in part.truncated})
    repairs = Counter(counted.repairs) + Counter(swapped_coordinates=sum(part.mended for part in parts))
    rows_in = counted.rows + len(truncated)
    result = IngestResult(
        feed=feed,
        rows_in=rows_in,
        rows_out=measured.rows,
        rejected=rejected.total(),
        duplicates=duplicates.total(),
        reasons=dict(rejected.most_common()),
        duplicate_kinds=dict(duplicates.most_common()),
        repairs=dict(repairs),
        out_of_order=sum(part.out_of_order for part in parts),
        rows_stored=measured.rows,
        tracks=len(measured.sizes),
        files_strange=tuple(file.source for file in work.files if file.strange),
        files_truncated=tuple(truncated),
    )
    before = extent_of(rows_in, len(counted.tracks), counted.times, counted.box, counted.known)
    return Ingested(result, before, measured.measures(_cells(events, measured)))


def _cells(events: Path, measured: EventFigures) -> Counter[tuple[int, int]]:
    cells = Counter[tuple[int, int]]()
    for part in sorted(events.glob("*.parquet")):
        places = pq.read_table(part, columns=["lon", "lat"])
        cells.update(cells_of(places.column("lon"), places.column("lat"), measured.box))
    return cells
