"""Events of a frame in the order in which patterns read them: by track, by time, by offset or place in the frame.

Nothing is copied but what must be: the columns stay where they are, and are taken in order slice by slice.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.conditions import AttributeType
from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.pipeline.conditions.arrow import array_column
from foresail.pipeline.errors import InputError
from foresail.pipeline.local.event_times import Times, read_times
from foresail.pipeline.local.frames import PLACE, Frame, whole

TRACK, TIME, OFFSET, MINUTES = "track", "time", "offset", "minutes_since_start"
GAP_US = 1_800_000_000
"""A longer silence begins a track anew for `minutes_since_start`; the same as `pipeline.stages.derive` has."""
NO_TRACK, NO_TIME, BAD_TIME = "no_track", "no_time", "bad_time"


@dataclass(frozen=True, slots=True)
class Named:
    """What a frame calls the track and the time of its events, and the unit of times that are numbers."""

    track: str = TRACK
    time: str = TIME
    time_unit: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SortedEvents:
    """Events by track and time; `order` tells their rows in the frame, None where they lie in order."""

    frame: Frame
    tracks: pa.Array
    """The name of each track."""
    first_of: NDArray[np.int64]
    times: NDArray[np.int64]
    order: NDArray[np.int64] | None
    rejected: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """Rows that are no events, by the reason."""
    naive: bool = False
    """Whether times came without a zone."""
    _read: dict[str, ArrayColumn] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.times)

    @property
    def columns(self) -> tuple[str, ...]:
        """What conditions can name."""
        return tuple(dict.fromkeys([TRACK, TIME, *self.frame.columns]))

    @property
    def has_places(self) -> bool:
        """Whether events say where they were, in numbers."""
        if not set(PLACE) <= set(self.frame.columns):
            return False
        return all(self.column(axis).type in (AttributeType.NUMBER, AttributeType.INTEGER) for axis in PLACE)

    def column(self, name: str) -> ArrayColumn:
        """A column as conditions read it, in the order of the frame."""
        if name not in self._read:
            self._read[name] = self._column(name)
        return self._read[name]

    def _column(self, name: str) -> ArrayColumn:
        owner, dot, inner = name.partition(".")
        held = self.frame.column(owner if dot and name not in self.frame.columns else name)
        array = whole(held)
        if dot and name not in self.frame.columns:
            array = pa.compute.struct_field(array, inner)
        if pa.types.is_null(array.type):
            return ArrayColumn(np.zeros(len(array)), np.zeros(len(array), dtype=np.bool_), AttributeType.NUMBER)
        return array_column(array, name)

    def slices(self, most: int) -> Iterator[slice]:
        """The events in pieces of at most so many."""
        for begin in range(0, len(self.times), most):
            yield slice(begin, min(begin + most, len(self.times)))

    def rows(self, events: slice) -> NDArray[np.int64] | slice:
        """Where some events are in the frame."""
        return events if self.order is None else self.order[events]

    def taken(self, name: str, events: slice) -> ArrayColumn:
        """A column of some events, as conditions read it; `time` and `track` are those that the events have."""
        if name == TIME:
            return ArrayColumn(self.times[events], None, AttributeType.TIMESTAMP)
        if name == TRACK:
            return self._tracks_of(events)
        if name == MINUTES and MINUTES not in self.frame.columns:
            return self._minutes(events)
        column, rows = self.column(name), self.rows(events)
        valid = None if column.valid is None else column.valid[rows]
        return ArrayColumn(column.values[rows], valid, column.type, column.dictionary)

    def _tracks_of(self, events: slice) -> ArrayColumn:
        slot = np.searchsorted(self.first_of, np.arange(events.start, events.stop), side="right") - 1
        names = tuple(self.tracks.to_pylist())
        return ArrayColumn(slot.astype(np.int32), None, AttributeType.STRING, names)

    def _minutes(self, events: slice) -> ArrayColumn:
        if MINUTES not in self._read:
            begins = np.zeros(len(self.times), dtype=np.bool_)
            begins[self.first_of[:-1]] = True
            begins[1:] |= np.diff(self.times) > GAP_US
            since = np.flatnonzero(begins)[np.cumsum(begins) - 1] if len(begins) else np.empty(0, dtype=np.int64)
            seconds = (self.times - self.times[since]) / 1e6
            self._read[MINUTES] = ArrayColumn(seconds / 60, None, AttributeType.NUMBER)
        return ArrayColumn(self._read[MINUTES].values[events], None, AttributeType.NUMBER)

    def without(self, left_out: NDArray[np.bool_]) -> "SortedEvents":
        """The same without some events."""
        kept = np.flatnonzero(~left_out)
        order = kept if self.order is None else self.order[kept]
        slot = np.searchsorted(self.first_of, kept, side="right") - 1
        counts = np.bincount(slot, minlength=len(self.tracks))
        some = np.flatnonzero(counts)
        first_of = np.concatenate([[0], np.cumsum(counts[some])]).astype(np.int64)
        tracks = self.tracks.take(pa.array(some))
        return SortedEvents(self.frame, tracks, first_of, self.times[kept], order, self.rejected, self.naive)

    def known_share(self, name: str) -> float:
        """In what share of events a column is known."""
        column = self.taken(name, slice(0, len(self)))
        known = np.ones(len(self), dtype=np.bool_) if column.valid is None else column.valid
        if column.type is AttributeType.NUMBER:
            known = known & ~np.isnan(column.values)
        return float(known.mean()) if len(known) else 0.0

    def places(self, events: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Longitudes and latitudes of some events, NaN where unknown."""
        lon, lat = (self._numbers(axis, events) for axis in PLACE)
        return lon, lat

    def _numbers(self, name: str, events: slice) -> NDArray[np.float64]:
        column = self.taken(name, events)
        values = column.values.astype(np.float64)
        return values if column.valid is None else np.where(column.valid, values, np.nan)


def sort_events(frame: Frame, named: Named, guess_unit: Callable[[str], None] | None = None) -> SortedEvents:
    """The events of a frame in order; rows without a track or a time are told as rejected."""
    track, time = require(frame, named.track, "track"), require(frame, named.time, "time")
    names, codes = _tracks(frame, track)
    times = read_times(frame.column(time), time, named.time_unit, guess_unit)
    rejected = _rejected(codes, times)
    kept = None
    if rejected:
        good = np.ones(len(codes), dtype=np.bool_)
        for rows in rejected.values():
            good[rows] = False
        kept = np.flatnonzero(good)
        codes = codes[kept]
    micros = times.micros if kept is None else times.micros[kept]
    offsets = _offsets(frame, kept)
    inner = in_order(codes, micros, offsets)
    order = kept if inner is None else inner if kept is None else kept[inner]
    codes, micros = (codes, micros) if inner is None else (codes[inner], micros[inner])
    first = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]])) if len(codes) else codes
    first_of = np.append(first, len(codes)).astype(np.int64)
    return SortedEvents(frame, names.take(pa.array(codes[first])), first_of, micros, order, rejected, times.naive)


def require(frame: Frame, name: str, role: str) -> str:
    """The name of a column that must be there."""
    if name not in frame.columns:
        raise InputError(missing_column(frame.columns, name, role))
    return name


def missing_column(columns: Sequence[str], name: str, role: str) -> str:
    """What to say where the column of the track or the time is not there: the nearest name, and how to give it."""
    near = get_close_matches(name, columns, n=1) or _usual(columns, role)
    hint = f"Did you mean '{near[0]}'? Say so: {role}='{near[0]}'. " if near else f"Say which it is: {role}='...'. "
    return f"events: there is no column '{name}'. {hint}Columns: {', '.join(columns)}."


def _usual(columns: Sequence[str], role: str) -> list[str]:
    """A column that is often called so: a hint, never a guess."""
    usual = {
        "track": ("mmsi", "track_id", "vessel_id", "vehicle_id", "trip_id", "device_id", "id", "name", "imo"),
        "time": ("timestamp", "ts", "t", "datetime", "basedatetime", "date_time", "date", "epoch", "received_at"),
    }[role]
    lower = {name.lower(): name for name in reversed(columns)}
    return [lower[word] for word in usual if word in lower][:1]


def _tracks(frame: Frame, name: str) -> tuple[pa.Array, NDArray[np.int32]]:
    """The names of tracks, and per row which it is; below zero where it has none."""
    array = whole(frame.column(name))
    if pa.types.is_floating(array.type):
        array = _whole_numbers(array, name)
    if pa.types.is_null(array.type):
        return pa.array([], pa.string()), np.full(len(array), -1, dtype=np.int32)
    if pa.types.is_nested(array.type) or pa.types.is_binary(array.type):
        msg = f"events: column '{name}' is {array.type}, which names no track. Give texts or whole numbers."
        raise InputError(msg)
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    words = encoded.dictionary.cast(pa.string())
    codes = np.asarray(pa.compute.fill_null(encoded.indices, -1)).astype(np.int32, copy=False)
    blank = np.array([word is None or not word.strip(" ") for word in words.to_pylist()], dtype=np.bool_)
    if blank.any():
        codes = np.where((codes >= 0) & blank[codes], np.int32(-1), codes)
    distinct = words.dictionary_encode()
    if len(distinct.dictionary) < len(words):  # 1 and "1", or a dictionary with a word twice
        again = np.asarray(pa.compute.fill_null(distinct.indices, -1)).astype(np.int32)
        codes, words = np.where(codes >= 0, again[codes], np.int32(-1)), distinct.dictionary
    return words, codes


def _whole_numbers(array: pa.Array, name: str) -> pa.Array:
    """Numbers of tracks that became fractions because some are missing, as whole numbers again."""
    values = array.to_numpy(zero_copy_only=False).astype(np.float64)
    missing = ~np.isfinite(values)
    filled = np.where(missing, 0.0, values)
    if (filled != np.floor(filled)).any() or (np.abs(filled) >= 2**53).any():
        msg = f"events: column '{name}' holds fractions, which name no track. Give texts or whole numbers."
        raise InputError(msg)
    return pa.array(filled.astype(np.int64), mask=missing)


def _rejected(codes: NDArray[np.int32], times: Times) -> dict[str, NDArray[np.int64]]:
    nameless = codes < 0
    untimed = np.zeros(0, dtype=np.bool_) if times.known is None else ~times.known & ~nameless
    given = times.known if times.given is None else times.given
    absent = untimed if given is None or not len(untimed) else untimed & ~given
    found = {
        NO_TRACK: np.flatnonzero(nameless),
        NO_TIME: np.flatnonzero(absent),
        BAD_TIME: np.flatnonzero(untimed & ~absent),
    }
    return {reason: rows for reason, rows in found.items() if len(rows)}


def _offsets(frame: Frame, kept: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """The column that orders events of one time, where the frame has it."""
    if OFFSET not in frame.columns:
        return None
    array = whole(frame.column(OFFSET))
    if not pa.types.is_integer(array.type) or array.null_count:
        return None
    offsets = np.asarray(array.cast(pa.int64()))
    return offsets if kept is None else offsets[kept]


def in_order(
    codes: NDArray[np.int32], times: NDArray[np.int64], offsets: NDArray[np.int64] | None
) -> NDArray[np.int64] | None:
    """How to bring tracks together, each in order of time; None where that is how they lie."""
    changes = int(np.count_nonzero(codes[1:] != codes[:-1])) + 1 if len(codes) else 0
    together = changes == np.count_nonzero(np.bincount(codes)) if len(codes) else True
    small = codes.astype(np.uint16) if codes.max(initial=0) < 1 << 16 else codes
    order = None if together else np.argsort(small, kind="stable")
    if order is not None:
        codes, times = codes[order], times[order]
        offsets = None if offsets is None else offsets[order]
    same, step = codes[1:] == codes[:-1], times[1:] - times[:-1]
    wrong = step < 0
    if offsets is not None:
        wrong |= (step == 0) & (offsets[1:] < offsets[:-1])
    if not (same & wrong).any():
        return order
    keys = (times, codes) if offsets is None else (offsets, times, codes)
    inner = np.lexsort(keys)
    return inner if order is None else order[inner]
