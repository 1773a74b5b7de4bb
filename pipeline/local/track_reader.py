"""Events of a few tracks at a time, wherever they are stored: so that what follows a job holds little in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from foresail.pipeline.batch.parquet_source import ParquetSource
from foresail.pipeline.local.frames import ArrowFrame, plain_table
from foresail.pipeline.local.sorted_events import MINUTES, TIME, TRACK, Named, SortedEvents, sort_events
from foresail.pipeline.local.stored_events import schema_of

EVENTS_AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True)
class TrackTotals:
    """How many events each track has, in order of names; and from when to when all are, in microseconds."""

    events: dict[str, int]
    first: int | None
    last: int | None

    def groups(self, tracks: Sequence[str]) -> Iterator[list[str]]:
        """The tracks some at a time, so that their events fit into memory."""
        held: list[str] = []
        events = 0
        for track in tracks:
            if held and events + self.events.get(track, 0) > EVENTS_AT_ONCE:
                yield held
                held, events = [], 0
            held.append(track)
            events += self.events.get(track, 0)
        if held:
            yield held


class TrackReader(Protocol):
    """Stored events, read track by track."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of the events."""
        ...

    def totals(self) -> TrackTotals:
        """How long the tracks are."""
        ...

    def read(self, tracks: Sequence[str], columns: Sequence[str]) -> SortedEvents:
        """These columns of these tracks, in order."""
        ...


class FileTracks:
    """Events in Parquet files, of which only what is asked for is read."""

    def __init__(self, source: ParquetSource) -> None:
        import pyarrow.dataset as ds  # noqa: PLC0415 - not every run reads some

        self.schema = schema_of(source)
        files = [piece.path for piece in source.pieces]
        self._files = ds.dataset(files, schema=self.schema, format="parquet") if files else ds.dataset([pa.table({})])

    def totals(self) -> TrackTotals:
        """Counted batch by batch."""
        events: dict[str, int] = {}
        first: int | None = None
        last: int | None = None
        if not self.schema.names:
            return TrackTotals(events, first, last)
        for batch in self._files.to_batches(columns=[TRACK, TIME]):
            if not batch.num_rows:
                continue
            for row in pc.value_counts(batch.column(TRACK)).to_pylist():
                events[row["values"]] = events.get(row["values"], 0) + row["counts"]
            times = batch.column(TIME).cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
            least, most = (pc.min_max(times)[end].as_py() for end in ("min", "max"))
            first, last = (least, most) if first is None or last is None else (min(first, least), max(last, most))
        return TrackTotals(dict(sorted(events.items())), first, last)

    def read(self, tracks: Sequence[str], columns: Sequence[str]) -> SortedEvents:
        """Read by a filter, which passes over row groups without these tracks."""
        wanted = list(dict.fromkeys([TRACK, TIME, *(name for name in columns if name in self.schema.names)]))
        table = self._files.to_table(columns=wanted, filter=pc.field(TRACK).isin(pa.array(list(tracks), pa.string())))
        return sort_events(ArrowFrame(table), Named())


class HeldTracks:
    """Events that were read whole."""

    def __init__(self, events: SortedEvents) -> None:
        frame = events.frame
        assert isinstance(frame, ArrowFrame), "files are read as Arrow tables"
        self._events = events
        self.schema = _with_event_types(frame.table.schema)

    def totals(self) -> TrackTotals:
        """Counted when they were sorted."""
        counts = np.diff(self._events.first_of).tolist()
        names = self._events.tracks.to_pylist()
        times = self._events.times
        ends = (int(times.min()), int(times.max())) if len(times) else (None, None)
        return TrackTotals(dict(sorted(zip(names, counts, strict=True))), *ends)

    def read(self, tracks: Sequence[str], columns: Sequence[str]) -> SortedEvents:
        """Those of the events that are asked for."""
        del columns
        wanted = set(tracks)
        mine = np.array([name in wanted for name in self._events.tracks.to_pylist()], dtype=np.bool_)
        return self._events.without(~np.repeat(mine, np.diff(self._events.first_of)))


def ordered_table(events: SortedEvents, columns: Sequence[str]) -> pa.Table:
    """Columns of the events as a table in order; `track` and `time` are those that events have."""
    frame = events.frame
    rows = pa.array(np.arange(len(events)) if events.order is None else events.order)
    held: dict[str, Any] = {}
    for name in columns:
        if name == TRACK:
            held[name] = events.tracks.take(pa.array(_slots(events))).cast(pa.string())
        elif name == TIME:
            held[name] = pa.array(events.times).cast(pa.timestamp("us", tz="UTC"))
        elif name in frame.columns:
            held[name] = frame.column(name).take(rows)
        elif name == MINUTES:
            held[name] = pa.array(events.taken(MINUTES, slice(0, len(events))).values)
    return plain_table(pa.table(held))


def _slots(events: SortedEvents) -> Any:
    return np.repeat(np.arange(len(events.tracks)), np.diff(events.first_of))


def _with_event_types(schema: pa.Schema) -> pa.Schema:
    """The schema with the track as a text and the time as an instant, whatever the file had."""
    kinds = {TRACK: pa.string(), TIME: pa.timestamp("us", tz="UTC")}
    return pa.schema([pa.field(field.name, kinds.get(field.name, field.type)) for field in schema])
