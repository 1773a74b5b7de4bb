"""Patterns tried on a file: what `foresail try` runs, and `why` looks at."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.api.notices import rejected_text
from foresail.pipeline.fitting import OF_COMMANDS, left_out_lines
from foresail.pipeline.local.files import Reading, read_tables
from foresail.pipeline.local.frames import ArrowFrame
from foresail.pipeline.local.layers import layers_at_hand
from foresail.pipeline.local.runner import find_matches
from foresail.pipeline.local.search import prepare_search
from foresail.pipeline.local.sorted_events import Named, SortedEvents, sort_events

SHOWN = ("pattern", "instance", "track", "time", "index", "start_time", "count", "status")


@dataclass(frozen=True, slots=True)
class EventSource:
    """Files of events, and what their columns mean."""

    paths: Sequence[str]
    named: Named
    types: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadEvents:
    """The events of files in order, and what a reader should know of them."""

    events: SortedEvents
    notes: tuple[str, ...]
    unreadable: tuple[str, ...] = ()

    def rejected_rows(self) -> list[str]:
        """The rows that are no events as JSON, with the reason of each."""
        rows = [{"reason": "unreadable", "raw": line} for line in self.unreadable]
        frame = self.events.frame
        assert isinstance(frame, ArrowFrame), "files are read as Arrow tables"
        for reason, places in self.events.rejected.items():
            for row in frame.table.take(pa.array(places)).to_pylist():
                known = {name: value for name, value in row.items() if value is not None}
                rows.append({"reason": reason, "raw": json.dumps(known, default=str, ensure_ascii=False)})
        return [json.dumps(row, ensure_ascii=False) for row in rows]


@dataclass(frozen=True, slots=True)
class Count:
    """How often a pattern was found."""

    matches: int
    tracks: int


@dataclass(frozen=True, slots=True)
class Tried:
    """What was found in some events."""

    matches: pa.Table
    counts: Mapping[str, Count]
    events: int
    notes: tuple[str, ...]

    def first_rows(self, most: int) -> list[dict[str, str]]:
        """The first rows in the order of track and time, as texts."""
        keys = [("track", "ascending"), ("time", "ascending"), ("pattern", "ascending")]
        plain = self.matches.select(list(SHOWN))
        for place, column in enumerate(plain.schema):
            if pa.types.is_dictionary(column.type):
                plain = plain.set_column(place, column.name, plain.column(place).cast(pa.string()))
        rows = (plain.sort_by(keys) if plain.num_rows else plain).slice(0, most).to_pylist()
        return [{name: _cell(value) for name, value in row.items()} for row in rows]


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:%Y-%m-%d %H:%M:%S}" if hasattr(value, "strftime") else str(value)


def read_source(source: EventSource) -> ReadEvents:
    """The events of files; rows that are none are left out and told."""
    reading = Reading(source.named.track, source.named.time, source.types)
    read = read_tables(source.paths, reading)
    notes: list[str] = []

    def say_unit(unit: str) -> None:
        notes.append(f"column '{source.named.time}' holds numbers, taken as {unit}; --time-unit says otherwise")

    frame = ArrowFrame(read.table)
    events = sort_events(frame, source.named, say_unit)
    if events.naive:
        notes.append(f"column '{source.named.time}' has times without a zone: they are taken as UTC")
    rejected = {reason: len(rows) for reason, rows in events.rejected.items()}
    if read.unreadable:
        rejected["unreadable"] = len(read.unreadable)
    if rejected:
        notes.append(rejected_text(rejected, frame.rows + len(read.unreadable)))
    return ReadEvents(events, tuple(notes), read.unreadable)


def try_patterns(catalog: Catalog, source: EventSource, layers: Path | None, must_fit: bool) -> Tried:
    """The matches of a catalog in files of events; patterns that do not fit are an error if they must."""
    read = read_source(source)
    events = read.events
    prepared = prepare_search(catalog, events, layers_at_hand(layers), not must_fit, ways_out=OF_COMMANDS)
    notes = [*read.notes, *(f"not looked for: {line}" for line in left_out_lines(prepared.fitting.skipped))]
    matches = find_matches(prepared.sought, events, events.has_places)
    return Tried(matches, _counts(matches, [p.name for p in prepared.sought.patterns]), len(events), tuple(notes))


def _counts(matches: pa.Table, names: Sequence[str]) -> dict[str, Count]:
    counted = {name: Count(0, 0) for name in names}
    plain = pa.table({name: matches.column(name).cast(pa.string()) for name in ("pattern", "match_id", "track")})
    sums = plain.group_by("pattern").aggregate([("match_id", "count_distinct"), ("track", "count_distinct")])
    for row in sums.to_pylist():
        counted[row["pattern"]] = Count(row["match_id_count_distinct"], row["track_count_distinct"])
    return counted


def one_track(events: SortedEvents, track: str) -> int | None:
    """The place of a track; None where there is none of that name."""
    place = pc.index(events.tracks, pa.scalar(track, events.tracks.type)).as_py()
    return None if place < 0 else int(place)
