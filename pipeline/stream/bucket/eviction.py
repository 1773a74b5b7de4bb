"""Tracks at rest: those of which nothing has come for a while lie in chunks apart, so that they cost nothing.

The tracks at hand are one value of the state store, read and written with every micro-batch. A track that rests is
moved to one of many chunks by its name, and fetched from there when it is heard of again.
"""

import zlib
from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.forms import MonitorForm
from foresail.patterns.recognition.monitor import Monitor, MonitorState
from foresail.patterns.recognition.protocol import LoadModel
from foresail.pipeline.stream.state.saved import Chunk, decode_states, encode_states

CHUNKS = 1024


class ColdStore(Protocol):
    """Where chunks lie: a map of the state store, or a dictionary in tests."""

    def take(self, number: int) -> Chunk | None:
        """The chunk of that number, if there is one."""

    def put(self, number: int, chunk: Chunk | None) -> None:
        """Keep a chunk, or drop it."""


class Migrating:
    """Decodes states of the present monitor, and migrates those of an earlier one."""

    def __init__(self, monitor: Monitor, load: LoadModel) -> None:
        self.form = monitor.form
        self._monitor, self._load = monitor, load

    def __call__(self, states: bytes, form: MonitorForm) -> MonitorState:
        """The states of tracks that a monitor of that form has read, as the present one keeps them."""
        state = decode_states(states, form)
        return state if form == self.form else self._monitor.migrated(state, form, self._load)


class KnownChunks:
    """A cold store that remembers which of its chunks there are, so that it is not asked for others."""

    def __init__(self, cold_store: ColdStore, numbers: Iterable[int]) -> None:
        self._cold_store = cold_store
        self.numbers = set(numbers)

    def take(self, number: int) -> Chunk | None:
        """The chunk of that number, if there is one."""
        return self._cold_store.take(number) if number in self.numbers else None

    def put(self, number: int, chunk: Chunk | None) -> None:
        """Keep a chunk, or drop it."""
        if chunk is None:
            self.numbers.discard(number)
        else:
            self.numbers.add(number)
        self._cold_store.put(number, chunk)


def chunk_of(track: str) -> int:
    """The number of the chunk in which a track rests."""
    return zlib.crc32(track.encode()) % CHUNKS


def fetch(
    tracks: Iterable[str], cold_store: ColdStore, monitor: Monitor, migrate: Migrating
) -> tuple[NDArray[np.object_], MonitorState]:
    """Those of `tracks` that rest, taken from their chunks, with their states."""
    wanted: dict[int, set[str]] = {}
    for track in tracks:
        wanted.setdefault(chunk_of(track), set()).add(track)
    names: list[NDArray[np.object_]] = []
    states: list[MonitorState] = []
    for number, here in wanted.items():
        chunk = cold_store.take(number)
        if chunk is None:
            continue
        found = np.array([track in here for track in chunk.tracks], dtype=np.bool_)
        if found.any():
            whole = migrate(chunk.states, chunk.form)
            names.append(chunk.tracks[found])
            states.append(monitor.rearranged(whole, np.flatnonzero(found)))
            left = monitor.rearranged(whole, np.flatnonzero(~found))
            _put(cold_store, number, migrate.form, chunk.tracks[~found], left)
    if not names:
        return np.empty(0, dtype=object), monitor.fresh(0)
    return np.concatenate(names), monitor.joined(states)


def evict(
    tracks: NDArray[np.object_], state: MonitorState, cold_store: ColdStore, monitor: Monitor, migrate: Migrating
) -> None:
    """Move these tracks to their chunks."""
    numbers = np.array([chunk_of(track) for track in tracks], dtype=np.int64)
    for number in np.unique(numbers):
        mine = np.flatnonzero(numbers == number)
        names, states = tracks[mine], monitor.rearranged(state, mine)
        chunk = cold_store.take(int(number))
        if chunk is not None:
            names = np.concatenate([chunk.tracks, names])
            states = monitor.joined([migrate(chunk.states, chunk.form), states])
        _put(cold_store, int(number), migrate.form, names, states)


def forget(number: int, before_us: int, cold_store: ColdStore, monitor: Monitor, migrate: Migrating) -> int:
    """Drop the tracks of a chunk that were last heard of before that time; how many."""
    chunk = cold_store.take(number)
    if chunk is None:
        return 0
    state = migrate(chunk.states, chunk.form)
    kept = np.flatnonzero(state.last_time >= before_us)
    gone = len(chunk.tracks) - len(kept)
    if gone:
        _put(cold_store, number, migrate.form, chunk.tracks[kept], monitor.rearranged(state, kept))
    return gone


def _put(
    cold_store: ColdStore, number: int, form: MonitorForm, tracks: NDArray[np.object_], state: MonitorState
) -> None:
    cold_store.put(number, Chunk(form, tracks, encode_states(state)) if len(tracks) else None)
