"""Recognition and forecasts that go on: batch after batch, the state of every track kept between them, and saved.

This file alone knows how the states of recognisers are arranged, joined and written.
"""

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.recognition.events import EventBatch, Places
from foresail.patterns.recognition.monitor import Monitor, MonitorState
from foresail.patterns.recognition.protocol import Finding
from foresail.patterns.recognition.rows import CLOSED, TIMED_OUT
from foresail.pipeline.batch.partition import monitor_of, places_of_matches
from foresail.pipeline.errors import InputError
from foresail.pipeline.local.forecasting import Asked
from foresail.pipeline.local.runner import EVENTS_PER_CALL, Packing, Sought, packing_of
from foresail.pipeline.local.sorted_events import SortedEvents
from foresail.pipeline.results.forecast_table import FORECAST_ROWS, ForecastColumns, forecast_batch, forecast_rows
from foresail.pipeline.results.match_table import match_batch, match_schema
from foresail.pipeline.stream.state.codec import StateFormatError, decode, encode

VERSION = 1
"""Of the form of a saved state: one of another form is refused, never misread."""
NO_STATE = "state: is none that a monitor saved. Give what state() gave."
_LENGTH = struct.Struct("<I")


class FollowedTracks:
    """Tracks that are read in parts, each in order of time, and what a monitor remembers of them."""

    def __init__(self, monitor: Monitor, packing: Packing) -> None:
        self._monitor, self._packing = monitor, packing
        self.tracks: dict[str, int] = {}
        self._place = Places(np.empty(0), np.empty(0))
        self._state = monitor.fresh(0)

    @property
    def form(self) -> list[Any]:
        """What a saved state belongs to."""
        raise NotImplementedError

    def schema(self, places: bool) -> pa.Schema:
        """The columns of the rows."""
        raise NotImplementedError

    def rows(self, finding: Finding, events: EventBatch, before: Places) -> pa.RecordBatch:
        """What was found as rows; `before` is where each track was at its event before."""
        raise NotImplementedError

    def late(self, events: SortedEvents) -> NDArray[np.bool_]:
        """Which events are before the last one that was read of their track."""
        known = np.array([self.tracks.get(name, -1) for name in events.tracks.to_pylist()], dtype=np.int64)
        never = np.iinfo(np.int64).min
        last = np.where(known >= 0, self._state.last_time[known], never) if self.tracks else np.full(len(known), never)
        return np.asarray(events.times < np.repeat(last, np.diff(events.first_of)))

    def advance(self, events: SortedEvents, places: bool) -> pa.Table:
        """The rows that these events give, none of which is late."""
        found: list[pa.RecordBatch] = []
        for some in events.slices(EVENTS_PER_CALL):
            found += self._advance(self._packing.batch(events, some, places))
        return pa.Table.from_batches(found, self.schema(places))

    def _advance(self, events: EventBatch) -> list[pa.RecordBatch]:
        names = events.keys.to_pylist()
        slots = np.array([self.tracks.get(name, -1) for name in names], dtype=np.int64)
        state = self._monitor.rearranged(self._state, slots, events.keys)
        findings, after = self._monitor.advance(events, state)
        rows = [self.rows(finding, events, self._before(slots)) for finding in findings if len(finding.results)]
        self._keep(names, slots, after, events)
        return rows

    def _before(self, slots: NDArray[np.int64]) -> Places:
        """Where each track of a batch was at its event before."""
        known = slots >= 0
        axes = []
        for axis in (self._place.lon, self._place.lat):
            values = np.full(len(slots), np.nan)
            values[known] = axis[slots[known]]
            axes.append(values)
        return Places(*axes)

    def _keep(self, names: Sequence[str], slots: NDArray[np.int64], after: MonitorState, events: EventBatch) -> None:
        """The states of tracks that were not read stay before those that were."""
        others = np.setdiff1d(np.arange(len(self.tracks)), slots[slots >= 0])
        old = list(self.tracks)
        rest = self._monitor.rearranged(self._state, others)
        self._state = self._monitor.joined([rest, after]) if len(others) else after
        ends = events.first_of[1:] - 1
        nowhere = np.full(len(ends), np.nan)
        here = Places(nowhere, nowhere) if events.places is None else events.places.at(ends)
        stayed = self._place.at(others)
        self._place = Places(np.concatenate([stayed.lon, here.lon]), np.concatenate([stayed.lat, here.lat]))
        self.tracks = {name: n for n, name in enumerate([*(old[n] for n in others.tolist()), *names])}

    def saved(self) -> bytes:
        """All that is remembered, as bytes."""
        head = json.dumps({"version": VERSION, "form": self.form, "tracks": list(self.tracks)}).encode()
        return _LENGTH.pack(len(head)) + head + encode((self._place.lon, self._place.lat, self._state))

    def restore(self, saved: bytes) -> None:
        """Go on where `saved` was made, by a monitor of the same patterns."""
        head, rest = _opened(saved)
        if head["form"] != json.loads(json.dumps(self.form)):
            names = ", ".join(str(pattern[0]) for pattern in head["form"])
            msg = f"state: was saved for other patterns or models ({names}). Give the same ones, or begin anew."
            raise InputError(msg)
        try:
            lon, lat, state = decode(rest, (np.empty(0), np.empty(0), self._monitor.fresh(0)))
        except (ValueError, KeyError, TypeError, OSError, StateFormatError, pa.ArrowException) as error:
            raise InputError(NO_STATE) from error
        self._place, self._state = Places(lon, lat), state
        self.tracks = {name: n for n, name in enumerate(head["tracks"])}


def check_form(saved: bytes) -> None:
    """Raise an error for what is no saved state, or one of another form."""
    _opened(saved)


def _opened(saved: bytes) -> tuple[dict[str, Any], bytes]:
    """What stands at the head of a saved state, and the rest."""
    try:
        end = _LENGTH.size + _LENGTH.unpack_from(saved)[0]
        head = json.loads(saved[_LENGTH.size : end])
        version, known = head["version"], {"form", "tracks"} <= head.keys()
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise InputError(NO_STATE) from error
    if not known or not isinstance(version, int):
        raise InputError(NO_STATE)
    if version != VERSION:
        msg = f"state: is of form {version}, and this version of Foresail reads form {VERSION}. Begin anew without it."
        raise InputError(msg)
    return head, saved[end:]


class TrackMonitor(FollowedTracks):
    """Patterns over followed tracks."""

    def __init__(self, sought: Sought) -> None:
        super().__init__(monitor_of(sought.plain, sought.families, sought.updates), packing_of(sought))
        self.sought = sought

    @property
    def form(self) -> list[Any]:
        """The patterns."""
        return [[p.name, p.version, repr(p.spec)] for p in self.sought.patterns]

    def schema(self, places: bool) -> pa.Schema:
        """The columns of matches."""
        return match_schema(places)

    def rows(self, finding: Finding, events: EventBatch, before: Places) -> pa.RecordBatch:
        """Matches as rows."""
        features = () if finding.layer is None else events.layers[finding.layer].names
        slot = events.keys_at(finding.results.event)
        where = None if events.places is None else self._places(finding.results, events, slot, before)
        return match_batch(finding.results, finding.by.patterns, events.keys, slot, features, where)

    def _places(self, matches: Any, events: EventBatch, slot: NDArray[np.int64], before: Places) -> Places:
        """Where each detecting event was; an episode that ended before this batch was where its track was then."""
        here = places_of_matches(matches, events.places, None)
        assert here is not None, "the events have places"
        ended = (matches.status == CLOSED) | (matches.status == TIMED_OUT)
        earlier = ended & (matches.event == events.first_of[slot])
        lon, lat = np.where(earlier, before.lon[slot], here.lon), np.where(earlier, before.lat[slot], here.lat)
        return Places(lon, lat)


class TrackForecaster(FollowedTracks):
    """Models over followed tracks."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked.begin.monitor(), asked.packing())
        self.asked = asked
        self._columns = {id(part): ForecastColumns.of(part) for part in self._monitor.recognisers}  # type: ignore[arg-type]

    @property
    def form(self) -> list[Any]:
        """The models."""
        return [[s.model.pattern, s.model.version] for s in self.asked.served]

    def schema(self, places: bool) -> pa.Schema:
        """The columns of forecasts, which are the same with places and without."""
        del places
        return FORECAST_ROWS

    def rows(self, finding: Finding, events: EventBatch, before: Places) -> pa.RecordBatch:
        """Forecasts as rows."""
        del before
        features = () if finding.layer is None else events.layers[finding.layer].names
        return forecast_rows(forecast_batch(finding.results, self._columns[id(finding.by)], events, features))
