"""Work over stored events on this machine's cores, one plain process each: what Spark's workers do, without it.

Files that hold whole tracks in order are read in place. Other Parquet files are read once and sent to files of their
own, a bucket of tracks each, so that memory holds the events of one bucket at a time. Text files are read whole.
"""

import multiprocessing
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from foresail.patterns.recognition.events import EventBatch
from foresail.pipeline.batch.gathering import GATHERED, gathered, put_together
from foresail.pipeline.batch.match_writer import write_part
from foresail.pipeline.batch.parquet_reader import read_piece
from foresail.pipeline.batch.parquet_source import ParquetSource, Piece, in_pieces
from foresail.pipeline.batch.tally import CORRUPT
from foresail.pipeline.batch.workers import Search
from foresail.pipeline.local.runner import Sought, find_batches
from foresail.pipeline.local.sorted_events import SortedEvents
from foresail.pipeline.results.match_table import NAMED, match_schema

Counts = Counter[tuple[str, str]]
EVENTS_PER_BUCKET = 2_000_000
"""About 200 MB of condition words, times and places."""


class Walk(Protocol):
    """What is done with events in order of track and time."""

    @property
    def counts(self) -> Counts:
        """What was counted so far."""
        ...

    def advance(self, events: EventBatch) -> Iterator[pa.RecordBatch]:
        """The rows that some further events give."""
        ...

    def finish(self) -> Iterator[pa.RecordBatch]:
        """What is left to give when all have been read."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """What every process needs to know: what it reads, what it does with it, and the rows that come of it."""

    search: Search
    """The conditions and layers that are read."""
    begin: Callable[[], Walk]
    schema: pa.Schema
    named: tuple[str, ...]
    """The columns whose values repeat."""

    def write(self, found: Iterator[pa.RecordBatch], folder: str | Path, number: int) -> None:
        """Write rows as the file of that number."""
        write_part(found, Path(folder) / f"part-{number:05d}.parquet", self.schema, self.named)


@dataclass(frozen=True, slots=True)
class _Work:
    task: Task
    folder: str
    spill: str
    buckets: int = 0


def cores() -> int:
    """How many processes may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def recognition(sought: Sought, places: bool, skip_corrupt: bool) -> Task:
    """What processes do to recognise patterns."""
    search = Search(
        sought.plain, sought.families, sought.layers, places, skip_corrupt=skip_corrupt, updates=sought.updates
    )
    return Task(search, search.recogniser, match_schema(places), NAMED)


def run_over_files(
    task: Task,
    source: ParquetSource,
    folder: Path,
    in_place: bool,
    processes: int | None = None,
    advance: Callable[[float], None] = lambda _: None,
) -> Counts:
    """Do the task over Parquet files and write its rows; what was counted on the way."""
    spill = tempfile.mkdtemp(prefix="foresail-spill-")
    number = processes or cores()
    try:
        if in_place:
            work = _Work(task, str(folder), spill)
            largest = sorted(source.pieces, key=lambda piece: -piece.rows)
            return _merged(
                _spread(_read_in_place, [(work, n, piece) for n, piece in enumerate(largest)], number, advance)
            )
        work = _Work(task, str(folder), spill, max(number, -(-source.rows // EVENTS_PER_BUCKET)))
        pieces = in_pieces(source, number)
        sent = _merged(_spread(_send, [(work, n, piece) for n, piece in enumerate(pieces)], number, advance))
        return sent + _merged(_spread(_receive, [(work, n) for n in range(work.buckets)], number))
    finally:
        shutil.rmtree(spill, ignore_errors=True)


def recognise_frame(sought: Sought, events: SortedEvents, places: bool, folder: Path) -> Counts:
    """Find and write the matches in events that are in memory."""
    counts: Counts = Counter()
    recognition(sought, places, skip_corrupt=False).write(find_batches(sought, events, places, counts), folder, 0)
    return counts


def _merged(parts: Sequence[Counts]) -> Counts:
    total: Counts = Counter()
    for part in parts:
        total.update(part)
    return total


def _spread(
    task: Callable[..., Counts],
    arguments: Sequence[tuple[Any, ...]],
    processes: int,
    advance: Callable[[float], None] = lambda _: None,
) -> list[Counts]:
    """The task over all arguments, in as many processes as are worth it; in this one where there is one task."""
    if min(processes, len(arguments)) <= 1:
        found = []
        for some in arguments:
            found.append(task(*some))
            advance(1)
        return found
    context = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn")
    with context.Pool(min(processes, len(arguments))) as pool:
        found = []
        for one in pool.imap_unordered(_Call(task), arguments):
            found.append(one)
            advance(1)
        return found


@dataclass(frozen=True, slots=True)
class _Call:
    task: Callable[..., Counts]

    def __call__(self, arguments: tuple[Any, ...]) -> Counts:
        return self.task(*arguments)


def _read_in_place(work: _Work, number: int, piece: Piece) -> Counts:
    walk, corrupt = work.task.begin(), Counter[tuple[str, str]]()

    def found() -> Iterator[pa.RecordBatch]:
        reading = work.task.search.reading(offsets=False)
        for batch in read_piece(piece, reading, lambda path: corrupt.update({(CORRUPT, path): 1})):
            yield from walk.advance(batch)
        yield from walk.finish()

    work.task.write(found(), work.folder, number)
    return walk.counts + corrupt


def _send(work: _Work, number: int, piece: Piece) -> Counts:
    """Read a piece and spill its events, a file for each bucket."""
    corrupt = Counter[tuple[str, str]]()
    reading = work.task.search.reading(offsets=True)
    keys = tuple(range(work.buckets))
    writers: dict[int, pa.RecordBatchWriter] = {}
    try:
        for batch in read_piece(piece, reading, lambda path: corrupt.update({(CORRUPT, path): 1})):
            rows = gathered(batch, keys)
            for row, bucket in enumerate(rows.column("bucket").to_pylist()):
                if bucket not in writers:
                    place = Path(work.spill) / f"{bucket:05d}"
                    place.mkdir(exist_ok=True)
                    options = pa.ipc.IpcWriteOptions(compression="lz4")
                    writers[bucket] = pa.ipc.new_stream(str(place / f"{number:05d}.arrows"), GATHERED, options=options)
                writers[bucket].write_batch(rows.slice(row, 1))
    finally:
        for writer in writers.values():
            writer.close()
    return corrupt


def _receive(work: _Work, bucket: int) -> Counts:
    """Put the events of a bucket together and do the task."""
    walk, search = work.task.begin(), work.task.search

    def batches() -> Iterator[pa.RecordBatch]:
        for file in sorted((Path(work.spill) / f"{bucket:05d}").glob("*.arrows")):
            with pa.ipc.open_stream(str(file)) as reader:
                yield from reader

    def found() -> Iterator[pa.RecordBatch]:
        for events in put_together(batches(), search.words, search.layer_words):
            yield from walk.advance(events)
        yield from walk.finish()

    work.task.write(found(), work.folder, bucket)
    shutil.rmtree(Path(work.spill) / f"{bucket:05d}", ignore_errors=True)
    return walk.counts
