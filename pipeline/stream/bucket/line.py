"""All that reads the events of a bucket: recognisers and forecasters behind one face, with one state per track.

Built once per worker and configuration; holds no state of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.models.family_forecaster import FamilyForecaster
from foresail.models.forecaster import Forecaster
from foresail.models.forecasts import Forecasts
from foresail.models.model import Model
from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.recognition.expiry import Clock, overdue, without_told
from foresail.patterns.recognition.families import FamilyRecogniser, Near
from foresail.patterns.recognition.matches import Matches
from foresail.patterns.recognition.migration import migrated, migrated_family
from foresail.patterns.recognition.recogniser import Batch, Recogniser
from foresail.patterns.recognition.rows import TIMED_OUT
from foresail.patterns.recognition.tables import NEVER
from foresail.patterns.recognition.track_state import NO_RUN, TrackStates
from foresail.patterns.spec import Output
from foresail.pipeline.batch.forecast_worker import ForecastColumns
from foresail.pipeline.stream.bucket.ordering import NEVER_SEEN
from foresail.pipeline.stream.state.form import (
    Kind,
    LeftModels,
    LineForm,
    LoadModel,
    ModelForm,
    PartForm,
    blank,
    counted,
)
from foresail.pipeline.stream.state.joining import joined


class LineState(NamedTuple):
    """One row per track: until when it has been read, and what each part remembers of it."""

    last_time: NDArray[np.int64]
    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Families over one layer, and what forecasts them."""

    recogniser: FamilyRecogniser
    forecaster: FamilyForecaster | None = None
    layer: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Events of a bucket as the kernels read them; `near[n]` belongs to the n-th family group."""

    times: NDArray[np.int64]
    first_of: NDArray[np.int64]
    words: NDArray[np.int64]
    family_words: tuple[NDArray[np.int64], ...] = ()
    near: tuple[Near, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What one part found: matches or forecasts of these patterns; `group` is that of a family, or None."""

    patterns: tuple[CompiledPattern, ...]
    matches: Matches | None = None
    forecasts: Forecasts | None = None
    group: int | None = None


class Line:
    """The parts in a fixed order: plain patterns, family groups, plain models, models of family groups."""

    def __init__(
        self,
        plain: Sequence[CompiledPattern],
        conditions: Sequence[Condition],
        groups: Sequence[Group] = (),
        forecaster: Forecaster | None = None,
        entries: Mapping[str, PatternEntry] | None = None,
    ) -> None:
        self.conditions = tuple(conditions)
        self.entries = entries
        """The catalog, where it is another than the one that the query was started with."""
        self.recogniser = Recogniser(plain, conditions) if plain else None
        self.groups = tuple(groups)
        self.forecaster = forecaster
        self._sayings: dict[int | None, ForecastColumns] = {}
        self._parts = [
            part
            for part in (
                self.recogniser,
                *(group.recogniser for group in self.groups),
                forecaster,
                *(group.forecaster for group in self.groups),
            )
            if part is not None
        ]

    @property
    def patterns(self) -> tuple[CompiledPattern, ...]:
        """All patterns that are recognised, plain ones first."""
        plain = self.recogniser.patterns if self.recogniser else ()
        return (*plain, *(pattern for group in self.groups for pattern in group.recogniser.patterns))

    def part_number(self, part: object) -> int:
        """Where the state of a part is among `LineState.parts`."""
        return next(n for n, other in enumerate(self._parts) if other is part)

    @property
    def models(self) -> tuple[Model, ...]:
        """All models that forecast, plain ones first."""
        parts = (self.forecaster, *(group.forecaster for group in self.groups))
        return tuple(model for part in parts if part is not None for model in part.models)

    def sayings(self, group: int | None) -> ForecastColumns:
        """All that the models of plain patterns can say, or those of a family group."""
        forecaster = self.forecaster if group is None else self.groups[group].forecaster
        assert forecaster is not None, "only models say something"
        if group not in self._sayings:
            self._sayings[group] = ForecastColumns.of(forecaster)
        return self._sayings[group]

    @cached_property
    def form(self) -> LineForm:
        """What the states of this line belong to."""
        return LineForm(tuple(self._form_of(part) for part in self._parts))

    def _form_of(self, part: Any) -> PartForm:
        group = self._group_of(part)
        layer = None if group is None else self.groups[group].layer
        kind: Kind
        if isinstance(part, Recogniser | FamilyRecogniser):
            kind = "patterns" if group is None else "families"
            return PartForm(kind, layer, part.form)
        kind = "models" if group is None else "family_models"
        models = tuple(ModelForm(m.pattern, m.version, m.header.max_order) for m in part.models)
        return PartForm(kind, layer, models=models)

    def fresh(self, tracks: int) -> LineState:
        """The state of tracks of which nothing has been read."""
        never = np.full(tracks, NEVER_SEEN, dtype=np.int64)
        return LineState(never, tuple(part.fresh(tracks) for part in self._parts))

    def rearranged(self, state: LineState, rows: NDArray[np.int64]) -> LineState:
        """A state whose row i is row `rows[i]` of `state`, or fresh where that is negative."""
        times = np.where(rows >= 0, state.last_time[rows], NEVER_SEEN) if len(state.last_time) else None
        if times is None:
            return self.fresh(len(rows))
        parts = tuple(part.rearranged(some, rows) for part, some in zip(self._parts, state.parts, strict=True))
        return LineState(times, parts)

    def joined(self, states: Sequence[LineState]) -> LineState:
        """The tracks of all `states`, one after the other."""
        whole: LineState = joined(list(states))
        return whole

    def advance(self, seen: Seen, state: LineState, before_us: NDArray[np.int64]) -> tuple[list[Finding], LineState]:
        """What the events tell, and the state after them; what a clock has told of a track is not told again.

        `before_us` is up to when it has, for each track.
        """
        found: list[Finding] = []
        after: list[Any] = []
        plain = Batch(seen.words, seen.times, seen.first_of)
        for part, saved in zip(self._parts, state.parts, strict=True):
            group = self._group_of(part)
            batch = plain if group is None else Batch(seen.family_words[group], seen.times, seen.first_of)
            match part:
                case Recogniser():
                    matches, after_matches = part.advance(batch, saved)
                    after.append(after_matches)
                    told = _told(matches, part.patterns, seen, state.last_time, before_us)
                    found.append(Finding(part.patterns, without_told(matches, told)))
                case FamilyRecogniser():
                    assert group is not None
                    matches, after_family = part.advance(batch, seen.near[group], saved)
                    after.append(after_family)
                    told = _told(matches, part.patterns, seen, state.last_time, before_us)
                    found.append(Finding(part.patterns, without_told(matches, told), group=group))
                case Forecaster():
                    forecasts, after_forecasts = part.advance(batch, saved)
                    after.append(after_forecasts)
                    found.append(Finding((), forecasts=forecasts))
                case _:
                    assert group is not None
                    forecasts, after_near = part.advance(batch, seen.near[group], saved)
                    after.append(after_near)
                    found.append(Finding((), forecasts=forecasts, group=group))
        last = seen.times[seen.first_of[1:] - 1] if len(seen.times) else state.last_time
        return found, LineState(last, tuple(after))

    def migrated(self, state: LineState, before: LineForm, load: LoadModel) -> LineState:
        """The state of tracks that a line of the form `before` has read, as this line goes on with it."""
        tracks = counted(before, state.parts)
        old = {(form.kind, form.layer): (form, some) for form, some in zip(before.parts, state.parts, strict=True)}
        parts: list[Any] = []
        for part, form in zip(self._parts, self.form.parts, strict=True):
            nothing = PartForm(form.kind, form.layer)
            twin, some = old.get((form.kind, form.layer)) or (nothing, blank(nothing, tracks))
            if isinstance(part, Recogniser):
                parts.append(migrated(some, twin.recognised, part))
            elif isinstance(part, FamilyRecogniser):
                parts.append(migrated_family(some, twin.recognised, part))
            else:
                parts.append(part.migrated(some, LeftModels(twin, load)))
        return LineState(state.last_time, tuple(parts))

    def overdue(self, state: LineState, clock: Clock, touched: NDArray[np.bool_]) -> list[Finding]:
        """The episodes that a clock closes; the column `event` of the matches is the track's row in `state`."""
        found = []
        for part, saved in zip(self._parts, state.parts, strict=True):
            if isinstance(part, Recogniser):
                numbers = _detecting(part.patterns)
                patterns = [part.patterns[n] for n in numbers]
                found.append(Finding(part.patterns, overdue(patterns, saved.detecting, numbers, clock, touched)))
            elif isinstance(part, FamilyRecogniser):
                found.append(self._overdue_family(part, saved, clock, touched))
        return [finding for finding in found if finding.matches is not None and len(finding.matches)]

    def _overdue_family(self, part: FamilyRecogniser, saved: Any, clock: Clock, touched: NDArray[np.bool_]) -> Finding:
        tracks = np.repeat(np.arange(len(saved.rows_at) - 1), np.diff(saved.rows_at))
        filled = int(saved.rows_at[-1])
        states = TrackStates(**{name: getattr(saved.states, name)[:filled] for name in TrackStates._fields})
        numbers = np.arange(len(part.patterns), dtype=np.int32)
        matches = overdue(list(part.patterns), states, numbers, clock, touched[tracks], saved.feature[:filled])
        by_track = {name: getattr(matches, name) for name in Matches.__dataclass_fields__}
        by_track["event"] = tracks[matches.event].astype(np.int64)
        return Finding(part.patterns, Matches(**by_track), group=self._group_of(part))

    def runs(self, state: LineState) -> int:
        """How many runs are under way."""
        count = 0
        for part, saved in zip(self._parts, state.parts, strict=True):
            if isinstance(part, Recogniser):
                count += int((saved.detecting.start_index != NO_RUN).sum())
                count += sum(int(sets.configurations_at[-1]) for sets in saved.counting)
            elif isinstance(part, FamilyRecogniser):
                count += int((saved.states.start_index[: int(saved.rows_at[-1])] != NO_RUN).sum())
        return count

    def waits(self, state: LineState, now_us: int) -> NDArray[np.bool_]:
        """Which tracks have an open episode that a clock will close."""
        waiting = np.zeros(len(state.last_time), dtype=np.bool_)
        for finding in self.overdue(state, Clock(now_us, np.iinfo(np.int64).max), np.zeros_like(waiting)):
            assert finding.matches is not None
            waiting[finding.matches.event] = True
        return waiting

    def _group_of(self, part: Any) -> int | None:
        for n, group in enumerate(self.groups):
            if part is group.recogniser or part is group.forecaster:
                return n
        return None


def _detecting(patterns: Sequence[CompiledPattern]) -> NDArray[np.int32]:
    return np.array([n for n, p in enumerate(patterns) if p.spec.output is Output.DETECT], dtype=np.int32)


def _told(
    matches: Matches,
    patterns: Sequence[CompiledPattern],
    seen: Seen,
    last_time: NDArray[np.int64],
    before_us: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Which rows `timed_out` the clock has told before: those of a track's first event after a silence it has seen."""
    timed_out: NDArray[np.bool_] = matches.status == TIMED_OUT
    if not timed_out.any():
        return timed_out
    track = np.searchsorted(seen.first_of, matches.event, side="right") - 1
    gaps = np.array([NEVER if p.spec.max_gap_us is None else p.spec.max_gap_us for p in patterns], dtype=np.int64)
    gap = gaps[matches.pattern]
    first = matches.event == seen.first_of[track]
    silent_since = last_time[track]
    known = timed_out & first & (gap != NEVER) & (silent_since > NEVER_SEEN)
    told: NDArray[np.bool_] = known & (np.where(known, silent_since, 0) + np.where(known, gap, 0) < before_us[track])
    return told


def track_array(tracks: NDArray[np.object_], rows: NDArray[np.int64]) -> pa.Array:
    """The names of the tracks of these rows."""
    return pa.array(tracks, pa.string()).take(pa.array(rows))
