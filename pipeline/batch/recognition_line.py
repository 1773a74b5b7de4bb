"""The recognisers of one partition: events in order of track and time in, matches out, the last track carried over.

How the events came to the worker (rows from Spark, a Parquet file, pieces gathered after a shuffle) is not its matter.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.families import FamilyRecogniser, Near
from foresail.patterns.recognition.family_states import FamilyStates
from foresail.patterns.recognition.matches import Matches
from foresail.patterns.recognition.recogniser import Batch, Recogniser, RecogniserState
from foresail.patterns.recognition.rows import CLOSED, TIMED_OUT
from foresail.pipeline.batch.tally import EVENTS, counts_of
from foresail.pipeline.results.match_batch import Places, found_batch

Form = Callable[..., pa.RecordBatch]
"""What matches become: `found_batch` for Spark, `match_batch` for a file."""
UNKNOWN_PLACE = Places(np.full(1, np.nan), np.full(1, np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class FamilyRows:
    """What holds of the events far from every feature of a layer, and of the near ones."""

    words: NDArray[np.int64]
    near: Near
    names: Sequence[str]
    """The name of each feature that `near` counts."""


@dataclass(frozen=True, slots=True, eq=False)
class EventRows:
    """Events sorted by track and time, with the condition words of every pattern."""

    tracks: pa.Array
    """The name of each track."""
    first_of: NDArray[np.int64]
    """The first event of each track, and the end."""
    times: NDArray[np.int64]
    words: NDArray[np.int64]
    families: tuple[FamilyRows, ...] = ()
    places: Places | None = None


class Line:
    """Recognisers and what they remember of the track that was read last."""

    def __init__(
        self,
        plain: Sequence[CompiledPattern],
        families: Sequence[Sequence[CompiledPattern]] = (),
        form: Form = found_batch,
        updates: bool = True,
    ) -> None:
        self._form = form
        self._plain = Recogniser(plain, updates=updates) if plain else None
        self._families = [FamilyRecogniser(group, updates=updates) for group in families]
        self.counts: Counter[tuple[str, str]] = Counter()
        self._track: str | None = None
        self.place = UNKNOWN_PLACE
        """Where the event was that was read last."""
        self._state: RecogniserState | None = None
        self._family_states: list[FamilyStates] = [family.fresh(1) for family in self._families]

    @property
    def matches(self) -> Counter[tuple[str, str]]:
        """What was counted, without the events."""
        return Counter({key: count for key, count in self.counts.items() if key[0] != EVENTS})

    @property
    def state(self) -> RecogniserState:
        """What the plain patterns remember of the track that was read last."""
        assert self._state is not None, "plain patterns have read a track"
        return self._state

    def take_up(self, track: str, state: RecogniserState, place: Places) -> None:
        """Go on with the plain patterns of a track where another line has left it."""
        self._track, self._state, self.place = track, state, place

    def advance(self, rows: EventRows) -> Iterator[pa.RecordBatch]:
        """The matches that these events complete."""
        slots = np.full(len(rows.first_of) - 1, -1, dtype=np.int64)
        if rows.tracks[0].as_py() == self._track:
            slots[0] = 0
        self._track = rows.tracks[-1].as_py()
        self.counts[EVENTS, ""] += len(rows.times)
        if self._plain:
            yield from self._advance_plain(rows, slots)
        for n, _ in enumerate(self._families):
            yield from self._advance_family(n, rows, slots)
        if rows.places:
            self.place = rows.places.at(np.array([len(rows.times) - 1]))

    def _advance_plain(self, rows: EventRows, slots: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        assert self._plain is not None, "called only where there are plain patterns"
        before = self._plain.fresh(1) if self._state is None else self._state
        batch = Batch(rows.words, rows.times, rows.first_of)
        matches, after = self._plain.advance(batch, self._plain.rearranged(before, slots))
        self._state = self._plain.rearranged(after, np.array([len(slots) - 1]))
        yield from self.found(matches, self._plain.patterns, rows)

    def _advance_family(self, n: int, rows: EventRows, slots: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        family, own = self._families[n], rows.families[n]
        batch = Batch(own.words, rows.times, rows.first_of)
        matches, after = family.advance(batch, own.near, family.rearranged(self._family_states[n], slots))
        self._family_states[n] = family.rearranged(after, np.array([len(slots) - 1]))
        yield from self.found(matches, family.patterns, rows, own.names)

    def found(
        self, matches: Matches, patterns: Sequence[CompiledPattern], rows: EventRows, names: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """These matches in `rows`, which follow what was read last, as they leave the line."""
        if not len(matches):
            return
        self.counts.update(counts_of(matches, patterns))
        slot = np.searchsorted(rows.first_of, matches.event, side="right") - 1
        places = places_of_matches(matches, rows.places, self.place)
        yield self._form(matches, patterns, rows.tracks, slot, names, places)


def places_of_matches(matches: Matches, places: Places | None, before: Places | None) -> Places | None:
    """Where each detecting event was: an episode that has ended was last detected one event before.

    `before` is the place of the event before the first one.
    """
    if places is None:
        return None
    ended = (matches.status == CLOSED) | (matches.status == TIMED_OUT)
    row = matches.event - ended
    here, last = places.at(np.maximum(row, 0)), before or UNKNOWN_PLACE
    return Places(np.where(row < 0, last.lon[0], here.lon), np.where(row < 0, last.lat[0], here.lat))
