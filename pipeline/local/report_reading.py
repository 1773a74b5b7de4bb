"""What a page of recognition asks of events and matches, without Spark: the same answers, a few tracks at a time."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import xxhash
from numpy.typing import NDArray

from foresail.patterns.conditions import AttributeType
from foresail.pipeline.conditions.arrow import attribute_types
from foresail.pipeline.local.frame_events import SPARK_SEED
from foresail.pipeline.local.frames import PLACE
from foresail.pipeline.local.sorted_events import MINUTES, SortedEvents
from foresail.pipeline.local.stored_events import places_in
from foresail.pipeline.local.track_reader import TrackReader, TrackTotals, ordered_table
from foresail.pipeline.local.whole_matches import read_match_rows, whole_matches
from foresail.pipeline.reports import tracks as limits
from foresail.pipeline.reports.found import LISTED_EACH, MOST_MARKS, MOST_TRACKS_COUNTED, Found, Match, PatternCount
from foresail.pipeline.reports.found import TrackCount as Counted
from foresail.pipeline.reports.map_view import TrackLine
from foresail.pipeline.reports.match_events import HEAD, TAIL, MatchEvents, Searched, columns_read, events_of_matches
from foresail.pipeline.reports.near_misses import SHARES, Sought, least_share, looked_at, put_together
from foresail.pipeline.reports.timeline import TimeSpan
from foresail.pipeline.reports.track_lines import track_lines
from foresail.pipeline.reports.tracks import MOST_TRACKS, SILENCE_S, SILENT_STEPS, EventFacts, said_of_lines

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class LocalReading:
    """Events that a reader of tracks brings, and the matches that were found in them."""

    def __init__(self, matches: Path, reader: TrackReader, minutes: bool = False) -> None:
        self._reader = reader
        self._columns = [*reader.schema.names, *([MINUTES] if minutes and MINUTES not in reader.schema.names else [])]
        self._totals: TrackTotals = reader.totals()
        self._matches = whole_matches(read_match_rows(matches))

    @property
    def types(self) -> Mapping[str, AttributeType]:
        """The attributes of the events."""
        derived = {MINUTES: AttributeType.NUMBER} if MINUTES in self._columns else {}
        return derived | attribute_types(self._reader.schema)

    def facts(self) -> EventFacts:
        """What the events are, in numbers."""
        totals = self._totals
        first, last = _moment(totals.first), _moment(totals.last)
        return EventFacts(
            sum(totals.events.values()), len(totals.events), first, last, set(PLACE) <= set(self._columns)
        )

    def found(self, patterns: Sequence[str], span: TimeSpan) -> Found:
        """The counts of all matches, and the marks to draw."""
        matches = self._matches
        counts = dict.fromkeys(patterns, PatternCount())
        for name, mine in matches.groupby("pattern"):
            bins = (np.floor(_seconds(mine["time"]) / span.bin_s) - span.first_bin).astype(int)
            places, numbers = np.unique(bins, return_counts=True)
            held = tuple(zip(places.tolist(), numbers.tolist(), strict=True))
            counts[str(name)] = PatternCount(len(mine), mine["track"].nunique(), held)
        each = max(LISTED_EACH, MOST_MARKS // max(1, sum(count.matches > 0 for count in counts.values())))
        chosen = matches.sort_values("match_id").groupby("pattern").head(each)
        marks = tuple(_match(row) for row in chosen.sort_values(["pattern", "time", "match_id"]).to_dict("records"))
        return Found(counts, marks, self._by_track(), matches["track"].nunique())

    def _by_track(self) -> tuple[Counted, ...]:
        counts = self._matches.groupby(["track", "pattern"], as_index=False).size().sort_values(["track", "pattern"])
        held: dict[str, dict[str, int]] = {}
        for row in counts.to_dict("records"):
            held.setdefault(row["track"], {})[row["pattern"]] = int(row["size"])
        most = sorted(held, key=lambda track: (-sum(held[track].values()), track))[:MOST_TRACKS_COUNTED]
        names = self._names(most)
        return tuple(Counted(track, names.get(track), held[track]) for track in most)

    def _names(self, tracks: Sequence[str]) -> dict[str, str]:
        """What the tracks were last called, where they have names."""
        if "name" not in self._columns:
            return {}
        names: dict[str, str] = {}
        for some in self._totals.groups(tracks):
            table = ordered_table(self._reader.read(some, ["name", "offset"]), ["track", "name"])
            for track, name in zip(table["track"].to_pylist(), table["name"].to_pylist(), strict=True):
                if name is not None:
                    names[track] = str(name)
        return names

    def near_misses(self, total: int, searched: Mapping[str, Searched]) -> dict[str, Sought]:
        """What was seen of patterns that were not found."""
        if not searched or not total:
            return {}
        share = least_share(total)
        sampled = [track for track in self._totals.events if share == SHARES or _share_of(track) < share]
        columns = columns_read(searched.values(), self._columns)
        rows: list[dict[str, Any]] = []
        for some in self._totals.groups(sampled):
            table = ordered_table(self._reader.read(some, columns), columns)
            rows += looked_at(tuple(searched.values()), table).to_pylist()
        return put_together(searched, rows)

    def tracks(self, facts: EventFacts, wanted: Sequence[str]) -> tuple[tuple[TrackLine, ...], str]:
        """The lines to draw, and what is left out of them."""
        if not facts.has_positions or not facts.events:
            return (), ""
        chosen = list(dict.fromkeys(wanted))[:MOST_TRACKS]
        others = [track for track in self._totals.events if track not in set(chosen)]
        chosen = sorted([*chosen, *others[: MOST_TRACKS - len(chosen)]])
        most = max(limits.MOST_POSITIONS // len(chosen), 2)
        rows: list[dict[str, Any]] = []
        for some in self._totals.groups(chosen):
            rows += self._thinned(self._reader.read(some, [*PLACE, "name"]), most)
        thinned = any(row["positions"] > most for row in rows)
        return track_lines(rows), said_of_lines(len(chosen), facts.tracks, most, thinned)

    def _thinned(self, events: SortedEvents, most: int) -> Iterator[dict[str, Any]]:
        """Of each track about `most` positions, however long or short it lived, and the ends of its silences."""
        lon, lat = events.places(slice(0, len(events))) if places_in(self._reader.schema) else _unknown(events)
        named = ordered_table(events, ["name"])["name"].to_pylist() if "name" in self._columns else None
        placed = (np.abs(lon) <= 180) & (np.abs(lat) <= 90)
        for n, track in sorted(enumerate(events.tracks.to_pylist()), key=lambda some: some[1]):
            rows = np.arange(events.first_of[n], events.first_of[n + 1])
            rows = rows[placed[rows]]
            rows = rows[np.lexsort((lat[rows], lon[rows], events.times[rows]))]
            time = events.times[rows] / 1e6
            parted = _silences(time)
            ends = np.append(parted[1:], True)
            every = -(-len(rows) // most)
            at_an_end = (parted | ends) & (parted.sum() <= most)
            part = np.cumsum(parted)
            for place in np.flatnonzero((np.arange(len(rows)) % max(every, 1) == 0) | at_an_end).tolist():
                row = int(rows[place])
                yield {
                    "track": track, "part": int(part[place]), "lon": float(lon[row]), "lat": float(lat[row]),
                    "time": float(time[place]), "name": named[row] if named else None, "positions": len(rows),
                }  # fmt: skip

    def match_events(self, matches: Sequence[Match], searched: Mapping[str, Searched]) -> dict[str, MatchEvents]:
        """The first and the last events of matches."""
        known = [match for match in matches if match.pattern in searched]
        if not known:
            return {}
        columns = columns_read(searched.values(), self._columns)
        tables: list[pa.Table] = []
        for some in self._totals.groups(sorted({match.track for match in known})):
            events = self._reader.read(some, columns)
            table, numbers = ordered_table(events, columns), {t: n for n, t in enumerate(events.tracks.to_pylist())}
            tables += [_ends_of(match, events, numbers[match.track], table) for match in known if match.track in some]
        return events_of_matches(pa.concat_tables(tables), known, searched)

    def lengths(self, tracks: Sequence[str]) -> dict[str, int]:
        """How many events these tracks have."""
        return {track: self._totals.events[track] for track in tracks if track in self._totals.events}

    def events_of(self, tracks: Sequence[str], searched: Sequence[Searched]) -> pa.Table:
        """The events of a few tracks, with what patterns read."""
        columns = columns_read(searched, self._columns)
        return ordered_table(self._reader.read(tracks, columns), columns)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else EPOCH + timedelta(microseconds=micros)


def _seconds(times: pd.Series) -> NDArray[np.float64]:
    return np.asarray(times.dt.tz_convert("UTC").astype("datetime64[us, UTC]").astype("int64"), dtype=np.float64) / 1e6


def _match(row: Mapping[Any, Any]) -> Match:
    place = (None if pd.isna(value) else float(value) for value in (row.get("lon"), row.get("lat")))
    instance = None if pd.isna(row["instance"]) else row["instance"]
    began, time, end = (row[name].to_pydatetime() for name in ("first_start_time", "time", "end_time"))
    return Match(row["match_id"], row["pattern"], instance, row["track"], began, time, end, *place)


def _share_of(track: str) -> int:
    """The share that a track belongs to, by the hash that Spark would sample it by."""
    hashed = xxhash.xxh64_intdigest(track.encode(), seed=SPARK_SEED)
    return (hashed - (1 << 64) if hashed >> 63 else hashed) % SHARES


def _silences(time: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where a position comes after a longer silence than its track is used to."""
    steps = np.diff(time)
    if not len(steps):
        return np.zeros(len(time), dtype=np.bool_)
    usual = float(np.sort(steps)[-(-len(steps) // 2) - 1])
    return np.concatenate([[False], steps > max(SILENCE_S, usual * SILENT_STEPS)])


def _unknown(events: SortedEvents) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    nowhere = np.full(len(events), np.nan)
    return nowhere, nowhere


def _ends_of(match: Match, events: SortedEvents, track: int, table: pa.Table) -> pa.Table:
    first, end = int(events.first_of[track]), int(events.first_of[track + 1])
    times = events.times[first:end]
    low = first + int(np.searchsorted(times, _micros(match.start), side="left"))
    high = first + int(np.searchsorted(times, _micros(match.end), side="right"))
    total = high - low
    numbers = np.array([n for n in range(1, total + 1) if n <= HEAD or n > total - TAIL], dtype=np.int64)
    mine = table.take(pa.array(low + numbers - 1))
    mine = mine.append_column("match_id", pa.array([match.match_id] * len(numbers), pa.string()))
    return mine.append_column("_number", pa.array(numbers)).append_column(
        "_total", pa.array(np.full(len(numbers), total))
    )


def _micros(time: datetime) -> int:
    return (time - EPOCH) // timedelta(microseconds=1)
