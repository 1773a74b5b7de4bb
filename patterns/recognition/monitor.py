"""All recognisers of a catalog over one batch, with one state per key: what batch, long tracks, stream and API drive.

A monitor holds no state of its own; whoever drives it carries the states (the last track of a partition, the tracks of
a bucket, the tracks of a notebook) and says which row goes on with which key.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.events import EventBatch, Keys
from foresail.patterns.recognition.forms import MonitorForm
from foresail.patterns.recognition.joining import joined
from foresail.patterns.recognition.migration import progress_of
from foresail.patterns.recognition.protocol import NEVER_SEEN, Clock, Finding, LoadModel, Recogniser, State


class MonitorState(NamedTuple):
    """One row per key: until when it has been read, and what each recogniser remembers of it."""

    last_time: NDArray[np.int64]
    parts: tuple[State, ...]


class Monitor:
    """Recognisers in a fixed order, behind one face."""

    def __init__(self, recognisers: Sequence[Recogniser]) -> None:
        self.recognisers = tuple(recognisers)

    @cached_property
    def form(self) -> MonitorForm:
        """What the states of this monitor belong to."""
        return MonitorForm(tuple(part.form for part in self.recognisers))

    def number_of(self, part: Recogniser) -> int:
        """Where the state of a recogniser is among `MonitorState.parts`."""
        return next(n for n, other in enumerate(self.recognisers) if other is part)

    def fresh(self, keys: int, names: Keys = None) -> MonitorState:
        """The state of keys of which nothing has been read."""
        never = np.full(keys, NEVER_SEEN, dtype=np.int64)
        return MonitorState(never, tuple(part.fresh(keys, names) for part in self.recognisers))

    def rearranged(self, state: MonitorState, rows: NDArray[np.int64], names: Keys = None) -> MonitorState:
        """A state whose row i is row `rows[i]` of `state`, or fresh where that is negative; `names` are of the rows."""
        if not len(state.last_time):
            return self.fresh(len(rows), names)
        times = np.where(rows >= 0, state.last_time[rows], NEVER_SEEN)
        arranged = zip(self.recognisers, state.parts, strict=True)
        return MonitorState(times, tuple(part.rearranged(some, rows, names) for part, some in arranged))

    def joined(self, states: Sequence[MonitorState]) -> MonitorState:
        """The keys of all `states`, one after the other."""
        whole: MonitorState = joined(list(states))
        return whole

    def advance(
        self, events: EventBatch, state: MonitorState, emitted_until: NDArray[np.int64] | None = None
    ) -> tuple[list[Finding], MonitorState]:
        """What the events tell, and the state after them.

        `emitted_until` says, for each key, up to when a clock has emitted its expired episodes: not emitted again.
        """
        findings, after = [], []
        for part, saved in zip(self.recognisers, state.parts, strict=True):
            results, left = part.advance(events, saved)
            if emitted_until is not None:
                results = part.not_yet_emitted(results, events, state.last_time, emitted_until)
            findings.append(Finding(part, results))
            after.append(left)
        heard = np.diff(events.first_of) > 0
        last = np.where(heard, events.times[events.first_of[1:] - 1], state.last_time) if len(events) else None
        return findings, MonitorState(state.last_time if last is None else last, tuple(after))

    def expired(self, state: MonitorState, clock: Clock, touched: NDArray[np.bool_]) -> list[Finding]:
        """The episodes that a clock closes; the column `event` of the results is the key's row in `state`."""
        ran_out = zip(self.recognisers, state.parts, strict=True)
        found = [(part, part.expired(saved, clock, touched)) for part, saved in ran_out]
        return [Finding(part, results) for part, results in found if results is not None and len(results)]

    def waiting(self, state: MonitorState, now_us: int) -> NDArray[np.bool_]:
        """Which keys have an open episode that a clock will close."""
        waits = np.zeros(len(state.last_time), dtype=np.bool_)
        for finding in self.expired(state, Clock(now_us, np.iinfo(np.int64).max), np.zeros_like(waits)):
            waits[finding.results.event] = True
        return waits

    def migrated(self, state: MonitorState, before: MonitorForm, load: LoadModel) -> MonitorState:
        """The state of keys that a monitor of the form `before` has read, as this one goes on with it."""
        progress = progress_of(state.parts)
        old = {(form.kind, form.layer): (some, form) for form, some in zip(before.parts, state.parts, strict=True)}
        parts = []
        for part in self.recognisers:
            twin = old.get((part.form.kind, part.form.layer))
            parts.append(part.joining(progress) if twin is None else part.migrated(*twin, load))
        return MonitorState(state.last_time, tuple(parts))

    def runs(self, state: MonitorState) -> int:
        """How many runs are under way."""
        return sum(part.runs(saved) for part, saved in zip(self.recognisers, state.parts, strict=True))
