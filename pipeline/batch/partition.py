"""The monitor of one partition: events in order of track and time in, results out, the last track carried over.

How the events came to the worker (rows from Spark, a Parquet file, pieces gathered after a shuffle) is not its matter.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.recognition.events import EventBatch, Places
from foresail.patterns.recognition.families import FamilyRecogniser
from foresail.patterns.recognition.matches import Matches
from foresail.patterns.recognition.monitor import Monitor, MonitorState
from foresail.patterns.recognition.protocol import Finding, Recogniser
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.recognition.register_recogniser import RegisterRecogniser
from foresail.patterns.recognition.rows import CLOSED, TIMED_OUT
from foresail.patterns.recognition.tables import shared_conditions
from foresail.pipeline.batch.tally import EVENTS, counts_of, given_up
from foresail.pipeline.results.match_batch import found_batch

MatchForm = Callable[..., pa.RecordBatch]
"""What matches become: `found_batch` for Spark, `match_batch` for a file."""
LayerPatterns = Mapping[str, tuple[CompiledPattern, ...]]
"""Families by the layer whose features they have instances for."""
UNKNOWN_PLACE = Places(np.full(1, np.nan), np.full(1, np.nan))


def monitor_of(plain: Sequence[CompiledPattern], families: LayerPatterns, updates: bool = True) -> Monitor:
    """The recognisers of plain patterns and of the families over each layer."""
    recognisers = recognisers_of(plain, shared_conditions(plain), updates)
    recognisers += [FamilyRecogniser(some, layer, updates=updates) for layer, some in families.items()]
    return Monitor(recognisers)


def recognisers_of(
    plain: Sequence[CompiledPattern], conditions: Sequence[Condition], updates: bool = True
) -> list[Recogniser]:
    """Those of patterns without registers and of patterns with them, over words whose bits are `conditions`."""
    tables = [pattern for pattern in plain if pattern.memory is None]
    memory = [pattern for pattern in plain if pattern.memory is not None]
    found: list[Recogniser] = [PatternRecogniser(tables, conditions, updates)] if tables else []
    return [*found, RegisterRecogniser(memory, conditions, updates)] if memory else found


class PartitionMonitor:
    """A monitor, and what it remembers of the track that was read last."""

    def __init__(self, monitor: Monitor) -> None:
        self.monitor = monitor
        self.state = monitor.fresh(1)
        self._track: str | None = None

    def take_up(self, track: str, state: MonitorState) -> None:
        """Go on with a track where another worker has left it."""
        self._track, self.state = track, state

    def advance(self, events: EventBatch) -> list[Finding]:
        """What these events complete."""
        rows = np.full(events.key_count, -1, dtype=np.int64)
        if events.keys[0].as_py() == self._track:
            rows[0] = 0
        self._track = events.keys[-1].as_py()
        state = self.monitor.rearranged(self.state, rows, events.keys)
        findings, after = self.monitor.advance(events, state)
        self.state = self.monitor.rearranged(after, np.array([len(rows) - 1]))
        return findings


class PartitionRecogniser:
    """Matches of one partition as rows, and how many there were."""

    def __init__(self, monitor: Monitor, form: MatchForm = found_batch) -> None:
        self._partition, self._form = PartitionMonitor(monitor), form
        self.counts: Counter[tuple[str, str]] = Counter()
        self.place = UNKNOWN_PLACE
        """Where the event was that was read last."""

    @property
    def matches(self) -> Counter[tuple[str, str]]:
        """What was counted, without the events."""
        return Counter({key: count for key, count in self.counts.items() if key[0] != EVENTS})

    @property
    def state(self) -> MonitorState:
        """What is remembered of the track that was read last."""
        return self._partition.state

    def take_up(self, track: str, state: MonitorState, place: Places) -> None:
        """Go on with a track where another worker has left it."""
        self._partition.take_up(track, state)
        self.place = place

    def advance(self, events: EventBatch) -> Iterator[pa.RecordBatch]:
        """The matches that these events complete."""
        self.counts[EVENTS, ""] += len(events)
        for finding in self._partition.advance(events):
            names = () if finding.layer is None else events.layers[finding.layer].names
            yield from self.rows(finding.results, finding.by.patterns, events, names)
        if events.places:
            self.place = events.places.at(np.array([len(events) - 1]))

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Nothing more: a match is emitted with the event that completes it."""
        yield from ()

    def rows(
        self, matches: Matches, patterns: Sequence[CompiledPattern], events: EventBatch, names: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """Matches in `events`, which follow what was read last, as rows."""
        self.counts.update(given_up(matches, patterns))
        if not len(matches):
            return
        self.counts.update(counts_of(matches, patterns))
        places = places_of_matches(matches, events.places, self.place)
        yield self._form(matches, patterns, events.keys, events.keys_at(matches.event), names, places)


def places_of_matches(matches: Matches, places: Places | None, before: Places | None) -> Places | None:
    """Where each detecting event was: an episode that has ended was last detected one event before.

    `before` is the place of the event before the first one.
    """
    if places is None:
        return None
    ended = (matches.status == CLOSED) | (matches.status == TIMED_OUT)
    row: NDArray[np.int64] = matches.event - ended
    here, last = places.at(np.maximum(row, 0)), before or UNKNOWN_PLACE
    return Places(np.where(row < 0, last.lon[0], here.lon), np.where(row < 0, last.lat[0], here.lat))
