"""What runs in Python workers that read Parquet themselves: in place, or sending events to another of their track."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from uuid import uuid4

import pyarrow as pa

from foresail.models.inputs.columns import InputColumn
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.packing import words_for
from foresail.patterns.recognition.monitor import Monitor
from foresail.patterns.recognition.register_recogniser import kept_columns
from foresail.patterns.recognition.tables import shared_conditions
from foresail.pipeline.batch.gathering import gathered, put_together
from foresail.pipeline.batch.parquet_reader import NearLayer, Reading, read_piece
from foresail.pipeline.batch.parquet_source import Piece
from foresail.pipeline.batch.partition import LayerPatterns, PartitionRecogniser, monitor_of
from foresail.pipeline.batch.skewed_tracks import Slices
from foresail.pipeline.batch.tally import CORRUPT, Tally
from foresail.pipeline.results.match_table import match_batch

_MOST_MONITORS = 4
_monitors: dict[str, Monitor] = {}
"""By the name of a search its monitor: a worker has many tasks of the same, and tables and memos hold for all."""


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for: plain patterns, and families over layers that workers open."""

    plain: tuple[CompiledPattern, ...]
    families: LayerPatterns = field(default_factory=dict)
    layers: tuple[NearLayer, ...] = ()
    """Of each layer of the families, in the same order."""
    places: bool = False
    counts_events: bool = True
    """Unset for all but one of several searches of the same events."""
    skip_corrupt: bool = False
    updates: bool = True
    """Whether open episodes are emitted at each further detection."""
    inputs: tuple[InputColumn, ...] = ()
    """What trees read of an event."""
    name: str = field(default_factory=lambda: uuid4().hex)

    def reading(self, offsets: bool) -> Reading:
        """What must be read for it."""
        kept = kept_columns(self.plain)
        conditions = shared_conditions(self.plain)
        return Reading(conditions, self.layers, self.places, offsets, self.skip_corrupt, kept, self.inputs)

    @property
    def words(self) -> int:
        """How many words the conditions of plain patterns need."""
        return words_for(len(shared_conditions(self.plain)))

    @property
    def layer_words(self) -> dict[str, tuple[int, tuple[str, ...]]]:
        """For each layer how many words the conditions of its families need, and the names of its features."""
        return {layer.name: (words_for(len(layer.conditions)), layer.names) for layer in self.layers}

    def monitor(self) -> Monitor:
        """The recognisers, made once per worker."""
        if self.name not in _monitors:
            if len(_monitors) >= _MOST_MONITORS:
                _monitors.clear()
            _monitors[self.name] = monitor_of(self.plain, self.families, self.updates)
        return _monitors[self.name]

    def recogniser(self) -> PartitionRecogniser:
        """The recognisers of a partition of which nothing has been read."""
        return PartitionRecogniser(self.monitor(), match_batch)

    def add_counts(self, tally: Tally | None, recogniser: PartitionRecogniser) -> None:
        """Add to the tally what was counted."""
        if tally is not None:
            tally.add(recogniser.counts if self.counts_events else recogniser.matches)


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
            recogniser = self.search.recogniser()
            for batch in read_piece(piece, reading, left_out(self.tally)):
                yield from recogniser.advance(batch)
            self.search.add_counts(self.tally, recogniser)


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
        recogniser = self.search.recogniser()
        for events in put_together(batches, self.search.words, self.search.layer_words):
            yield from recogniser.advance(events)
        self.search.add_counts(self.tally, recogniser)
        if self.counts is not None:
            self.counts.update(recogniser.counts)


def left_out(tally: Tally | None) -> Callable[[str], None]:
    """How a worker tells that it has left out a corrupt file."""

    def tell(path: str) -> None:
        if tally is not None:
            tally.add(Counter({(CORRUPT, path): 1}))

    return tell


def _pieces(tasks: tuple[tuple[Piece, ...], ...], batches: Iterable[pa.RecordBatch]) -> Iterator[Piece]:
    for batch in batches:
        for task in batch.column("id").to_pylist():
            yield from tasks[task]
