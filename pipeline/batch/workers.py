"""What runs in Python workers that read Parquet themselves: in place, or sending events to another of their track."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.recogniser import Recogniser
from foresail.patterns.recognition.tables import shared_conditions
from foresail.pipeline.batch.gathering import gathered, put_together, word_count
from foresail.pipeline.batch.parquet_reader import NearLayer, ReadBatch, Reading, read_piece
from foresail.pipeline.batch.parquet_source import Piece
from foresail.pipeline.batch.recognition_line import EventRows, Line
from foresail.pipeline.batch.skewed_tracks import Slices
from foresail.pipeline.batch.tally import CORRUPT, Tally
from foresail.pipeline.results.match_table import match_batch


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for: plain patterns, and families with the layer of each group."""

    plain: tuple[CompiledPattern, ...]
    families: tuple[tuple[CompiledPattern, ...], ...] = ()
    layers: tuple[NearLayer, ...] = ()
    places: bool = False
    counts_events: bool = True
    """Unset for all but one of several searches of the same events."""
    skip_corrupt: bool = False
    updates: bool = True
    """Whether open episodes are told at each further detection."""

    def reading(self, offsets: bool) -> Reading:
        """What must be read for it."""
        return Reading(shared_conditions(self.plain), self.layers, self.places, offsets, self.skip_corrupt)

    def line(self) -> Line:
        """Fresh recognisers."""
        return Line(self.plain, self.families, match_batch, self.updates)

    def recogniser(self) -> Recogniser:
        """A fresh recogniser of the plain patterns alone."""
        return Recogniser(self.plain, updates=self.updates)

    def tell(self, tally: Tally | None, line: Line) -> None:
        """Add to the tally what the line has counted."""
        if tally is not None:
            tally.add(line.counts if self.counts_events else line.matches)


@dataclass(frozen=True, slots=True)
class InPlace:
    """Reads pieces that hold whole tracks in order, and recognises at once; a row of its input names a task."""

    tasks: tuple[tuple[Piece, ...], ...]
    search: Search
    tally: Tally | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The matches of the tasks that `batches` name."""
        reading = self.search.reading(offsets=False)
        for piece in _pieces(self.tasks, batches):
            line = self.search.line()
            for batch in read_piece(piece, reading, left_out(self.tally)):
                yield from line.advance(as_they_lie(batch))
            self.search.tell(self.tally, line)


@dataclass(frozen=True, slots=True)
class Send:
    """Reads pieces in any order and sends their events to buckets; a row of its input names a task."""

    tasks: tuple[tuple[Piece, ...], ...]
    search: Search
    keys: tuple[int, ...]
    slices: Slices
    tally: Tally | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events, many in one row."""
        reading = self.search.reading(offsets=True)
        for piece in _pieces(self.tasks, batches):
            for batch in read_piece(piece, reading, left_out(self.tally)):
                yield gathered(batch, self.keys, self.slices)


@dataclass(frozen=True, slots=True)
class Receive:
    """Recognises in the events of one bucket."""

    search: Search
    tally: Tally | None = None
    counts: Counter[tuple[str, str]] | None = None
    """Where to count when there is no tally, because what is counted goes on to a later worker."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The matches of the bucket's tracks."""
        line = self.search.line()
        words = word_count(self.search.plain)
        layers = [
            (word_count(patterns), layer.names)
            for patterns, layer in zip(self.search.families, self.search.layers, strict=True)
        ]
        for rows in put_together(batches, words, layers):
            yield from line.advance(rows)
        self.search.tell(self.tally, line)
        if self.counts is not None:
            self.counts.update(line.counts)


def left_out(tally: Tally | None) -> Callable[[str], None]:
    """How a worker tells that it has left out a corrupt file."""

    def tell(path: str) -> None:
        if tally is not None:
            tally.add(Counter({(CORRUPT, path): 1}))

    return tell


def as_they_lie(batch: ReadBatch) -> EventRows:
    """The events of a batch that is in order of track and time."""
    first = np.concatenate([[0], np.flatnonzero(batch.codes[1:] != batch.codes[:-1]) + 1])
    first_of = np.append(first, len(batch.codes)).astype(np.int64)
    tracks = batch.names.take(pa.array(batch.codes[first]))
    return EventRows(tracks, first_of, batch.times, batch.words, batch.families, batch.places)


def _pieces(tasks: tuple[tuple[Piece, ...], ...], batches: Iterable[pa.RecordBatch]) -> Iterator[Piece]:
    for batch in batches:
        for task in batch.column("id").to_pylist():
            yield from tasks[task]
