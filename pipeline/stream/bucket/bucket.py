"""One bucket of tracks through one micro-batch: events in order, read by the line, timers looked at, all told.

Pure but for the cold store of idle tracks: what comes in and the saved state decide what goes out, so that a
micro-batch that is repeated after a crash says the same again.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from foresail.models.model import Model
from foresail.patterns.recognition.expiry import Clock
from foresail.patterns.recognition.families import Near
from foresail.pipeline.results.match_batch import Places
from foresail.pipeline.stream.bucket.alerts import Alerting, BucketAlerts
from foresail.pipeline.stream.bucket.eviction import CHUNKS, ColdStore, KnownChunks, Migrating, evict, fetch, forget
from foresail.pipeline.stream.bucket.findings import ReadEvents
from foresail.pipeline.stream.bucket.line import Finding, Line, LineState, Seen, track_array
from foresail.pipeline.stream.bucket.line_spec import LineSpec, line_for, stored_model
from foresail.pipeline.stream.bucket.near import near_of
from foresail.pipeline.stream.bucket.ordering import (
    LATE,
    NEVER_SEEN,
    Ordered,
    agreed_us,
    due,
    in_order,
    together,
    without_late,
)
from foresail.pipeline.stream.bucket.output_rows import Tally, finding_rows
from foresail.pipeline.stream.bucket.recrossing import recrossed
from foresail.pipeline.stream.bucket.rerun import Past, may_rerun, rerun
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.bucket.words import packed, words_of
from foresail.pipeline.stream.control.configuration import Configuration
from foresail.pipeline.stream.learning.outcomes import Outcomes, chosen
from foresail.pipeline.stream.learning.training import counted_rows
from foresail.pipeline.stream.state.form import what_begins_anew
from foresail.pipeline.stream.state.saved import BucketClock, Saved, encode_states

_NOWHERE: NDArray[np.int64] = np.empty(0, dtype=np.int64)
SWEPT_AT_ONCE = 4
"""Chunks of resting tracks that are looked at for forgotten ones in a micro-batch: a cycle takes some minutes."""


class Bucket:
    """The tracks of one bucket; `advance` once, then `saved` is what to keep."""

    def __init__(
        self, spec: LineSpec, rules: BucketRules, alerts: Alerting, saved: Saved | None, cold_store: ColdStore
    ) -> None:
        self.spec, self.rules = spec, rules
        before = saved or _new(spec)
        self.cold_store = KnownChunks(cold_store, before.chunks)
        self._use(before.configuration)
        self.clock = before.clock
        self.anew = what_begins_anew(before.form, self.line.form, self.load) if saved else []
        """How the line is another than the one that saved the state, a sentence each."""
        self.waiting = None if before.waiting is None else recrossed(before.waiting, before.crossed, spec)
        self.tracks = before.tracks
        self.state = self.migrate(before.states, before.form) if before.states else self.line.fresh(0)
        self.past = self._past(before)
        self._again: NDArray[np.object_] = np.empty(0, dtype=object)
        """Tracks that this micro-batch has read again: what the clock has told of them may be different now."""
        layers = [part.layer for part in before.form.of("families")]
        met = {layer: dict.fromkeys(names) for layer, names in zip(layers, before.features, strict=True)}
        self.features = [met.get(family.layer, {}) for family in spec.families]
        self.sweep = before.sweep
        self.alerts = BucketAlerts(alerts, self.line, spec.emission, before.alerts)
        self.outcomes = Outcomes(spec.score_share, before.pending, before.notes.get("positive", []))
        self.outcomes.go_on(before.form, self.line.form)
        self.tally = Tally()

    def _past(self, before: Saved) -> Past:
        """What late events are put into; events read by another line are not read again, as before a rest."""
        if before.crossed != self.spec.crossed:
            kept = (self.tracks, self.state) if self.rules.rerun_us else (self.tracks[:0], self.line.fresh(0))
            return Past(*kept)
        state = self.migrate(before.past, before.form) if before.past else self.line.fresh(0)
        return Past(before.past_tracks, state, before.recent)

    def load(self, pattern: str, version: str) -> Model | None:
        """A model that served once, if it is still to be had."""
        return stored_model(self.spec, pattern, version)

    def _use(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.line: Line = line_for(self.spec, configuration)
        self.migrate = Migrating(self.line, self.load)

    def reconfigure(self, configuration: Configuration) -> None:
        """From now on `configuration` holds; tracks keep what they have gathered."""
        before, held = self.line, self.configuration
        try:
            self._use(configuration)
            if self.line is not before:
                states = [self.line.migrated(state, before.form, self.load) for state in (self.state, self.past.state)]
                self.state, self.past.state = states
        except Exception:
            self._use(held)
            raise
        self.alerts.use(self.line)
        self.outcomes.go_on(before.form, self.line.form)

    def advance(
        self, arrived: pd.DataFrame, tick_us: int, flush: bool = False, again: pd.DataFrame | None = None
    ) -> list[pa.Table]:
        """Read what has arrived by the last tick, if there is any; the rows to be told. `flush` waits for nothing more.

        `again` are events of the past as they should have been: late ones, and those that are different for them.
        """
        rows = together(arrived, self.waiting)
        agreed = agreed_us(rows, self.tracks, self.state.last_time) if len(arrived) else None
        clock = self.clock.hearing(agreed, tick_us)
        reached = clock.reached_us
        watermark = reached if flush else reached - self.rules.out_of_order_us
        until = np.iinfo(np.int64).max if flush else watermark
        rows, self.waiting = due(rows, until, self.rules.out_of_order_us)
        touched, told = self._read_again(again) if again is not None and len(again) else (_NOWHERE, [])
        if len(rows):
            ordered = in_order(rows)
            places = self._places(ordered.tracks)
            ordered, behind, staying = without_late(ordered, self._last_times(places), self.rules.keep_same_time)
            for some in (self._read_late(behind), self._read(ordered, places[staying])):
                touched, told = np.concatenate([touched, some[0]]), told + some[1]
        told += self._expire(clock, watermark - self.rules.timers_wait_us, touched)
        self._settle(reached)
        return told

    def _places(self, tracks: NDArray[np.object_]) -> NDArray[np.int64]:
        """Where these tracks are among those at hand, resting ones fetched; -1 for new ones."""
        places = pd.Index(self.tracks).get_indexer(pd.Index(tracks)) if len(self.tracks) else np.full(len(tracks), -1)
        unknown = tracks[places < 0]
        if len(unknown):
            names, states = fetch(unknown, self.cold_store, self.line, self.migrate)
            if len(names):
                self.tracks = np.concatenate([self.tracks, names])
                self.state = self.line.joined([self.state, states])
                if self.rules.rerun_us:
                    self.past.begin(self.line, names, states)
                places = pd.Index(self.tracks).get_indexer(pd.Index(tracks))
        return np.asarray(places, dtype=np.int64)

    def _last_times(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        last = np.full(len(places), NEVER_SEEN, dtype=np.int64)
        known = places >= 0
        last[known] = self.state.last_time[places[known]]
        return last

    def _read(self, ordered: Ordered, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[pa.Table]]:
        """Have the line read the events; where their tracks are now, and what was found."""
        if not len(ordered.rows):
            return _NOWHERE, []
        seen = self._seen(ordered)
        state = self.line.rearranged(self.state, places)
        told_until = np.where(np.isin(ordered.tracks, self._again), NEVER_SEEN, self.clock.now_us)
        found, after = self.line.advance(seen, state, told_until)
        self.tally.events += len(seen.times)
        told: list[pa.Table] = []
        read = _as_read(ordered, seen)
        told += counted_rows(self.spec, self.line, seen, state) if self.spec.train else []
        found = self._scored(found, ordered)
        for finding in found:
            rows, events = self._rows(finding, read)
            self.alerts.note(rows, events, ordered.rows)
            told += self.tally.counted(rows, self.spec.episodes)
        if self.rules.rerun_us:
            self.past.note(ordered.rows)
        return self._keep(ordered.tracks, places, after), told

    def _read_late(self, behind: pd.DataFrame) -> tuple[NDArray[np.int64], list[pa.Table]]:
        """Tell of late events, and read those after all that are not too late for that."""
        if not len(behind):
            return _NOWHERE, []
        late = (behind["reason"] == LATE).to_numpy()
        if self.rules.rerun_us:
            last = self._last_times(self._places(behind["track"].to_numpy(dtype=object)))
            again = late & may_rerun(behind, last, self.past, self.rules.rerun_us)
            touched, told = self._read_again(behind[again].drop(columns="reason"))
            return touched, told + self.tally.counted_late(behind.assign(rerun=again))
        return _NOWHERE, self.tally.counted_late(behind)

    def _read_again(self, rows: pd.DataFrame) -> tuple[NDArray[np.int64], list[pa.Table]]:
        """Read tracks again with these events in their past; where the tracks are, and what is different."""
        known = set() if self.past.rows is None else set(self.past.rows["track"])
        rows = rows[rows["track"].isin(known)]
        if not len(rows):
            return _NOWHERE, []
        read = rerun(self.line, self.past, rows, self._found)
        places = self._places(read.tracks)
        touched = self._keep(read.tracks, places, read.state)
        self._again = np.concatenate([self._again, read.tracks])
        self.tally.rerun += len(rows)
        for table in read.new:
            self.alerts.note([table], None, pd.DataFrame())
        return touched, self.tally.counted(read.told, self.spec.episodes, read.new)

    def _found(self, ordered: Ordered, state: LineState) -> tuple[list[pa.Table], LineState]:
        """The matches of events read from a state on, whatever a clock has told, and the state after."""
        seen = self._seen(ordered)
        found, after = self.line.advance(seen, state, np.full(len(ordered.tracks), NEVER_SEEN))
        read = _as_read(ordered, seen)
        matches = [finding for finding in found if finding.matches is not None]
        return [rows for finding in matches for rows in self._rows(finding, read)[0]], after

    def _scored(self, found: list[Finding], ordered: Ordered) -> list[Finding]:
        """Compare forecasts with what happened, then keep those that are to be told."""
        if not self.spec.score_share or self.line.forecaster is None:
            return found
        models = self.line.forecaster.models
        matches = next((f for f in found if f.matches is not None and f.group is None), None)
        out = []
        for finding in found:
            if finding.forecasts is None:
                out.append(finding)
                continue
            if finding.group is None:
                self.outcomes.read(finding.forecasts, models, matches, ordered)
            kept = chosen(finding.forecasts, self.spec.emission, ordered, self.outcomes.positive, finding.group)
            out.append(replace(finding, forecasts=kept))
        return out

    def _keep(self, tracks: NDArray[np.object_], places: NDArray[np.int64], after: LineState) -> NDArray[np.int64]:
        """Put the states after the events in place of those before; where the tracks are now."""
        at_hand, new = len(self.tracks), places < 0
        moved = places.copy()
        moved[new] = at_hand + np.arange(int(new.sum()))
        rows = np.arange(at_hand + int(new.sum()))
        rows[moved] = at_hand + np.arange(len(tracks))
        self.state = self.line.rearranged(self.line.joined([self.state, after]), rows)
        self.tracks = np.concatenate([self.tracks, tracks[new]])
        return moved

    def _seen(self, ordered: Ordered) -> Seen:
        rows = ordered.rows
        words = words_of(rows, self.spec.conditions, self.line.conditions, self.spec.types)
        families, near = [], []
        for n, family in enumerate(self.spec.families):
            count = max(1, -(-len(family.conditions) // 64))
            families.append(packed(rows, f"family_{n}", count))
            near.append(self._near(n, rows, count))
        return Seen(rows["time_us"].to_numpy(dtype=np.int64), ordered.first_of, words, tuple(families), tuple(near))

    def _near(self, n: int, rows: pd.DataFrame, words: int) -> Near:
        return near_of(rows[f"near_{n}"].to_numpy(dtype=object), words, self.features[n])

    def _rows(self, finding: Finding, read: ReadEvents) -> tuple[list[pa.Table], NDArray[np.int64]]:
        features = [] if finding.group is None else list(self.features[finding.group])
        return finding_rows(finding, self.line, features, read, self.configuration.disabled)

    def _expire(self, clock: BucketClock, watermark: int, touched: NDArray[np.int64]) -> list[pa.Table]:
        """Tell the episodes that ran out, up to what the watermark has passed."""
        now = max(self.clock.now_us, watermark)
        mask = np.zeros(len(self.tracks), dtype=np.bool_)
        mask[touched] = True
        told = []
        for finding in self.line.overdue(self.state, Clock(self.clock.now_us, now), mask):
            assert finding.matches is not None
            none = np.zeros(len(self.tracks), dtype=np.int64)
            rows, _ = self._rows(finding, ReadEvents(pa.array(self.tracks, pa.string()), none, none))
            self.alerts.note(rows, None, pd.DataFrame())
            told += self.tally.counted(rows, self.spec.episodes)
        self.clock = replace(clock, now_us=now)
        alerts, opened = self.alerts.advance(now)
        return [*told, *self.tally.counted_alerts(alerts, opened)]

    def _settle(self, now: int) -> None:
        """Lay down tracks that rest, forget those that have rested too long."""
        sweep = [(self.sweep + n) % CHUNKS for n in range(SWEPT_AT_ONCE)]
        self.sweep = (self.sweep + SWEPT_AT_ONCE) % CHUNKS
        for number in sweep:
            before = now - self.rules.forget_after_us
            self.tally.forgotten += forget(number, before, self.cold_store, self.line, self.migrate)
        idle = self.state.last_time < now - self.rules.rest_after_us
        if idle.any():
            self._evict(idle & ~self.line.waits(self.state, self.clock.now_us), now)
        if self.rules.rerun_us:
            newest = pd.Series(self.state.last_time, index=pd.Index(self.tracks, dtype=object))
            self.past.move_on(self.line, newest, self.rules.rerun_us, self._found)
        self.tally.tracks, self.tally.runs = len(self.tracks), self.line.runs(self.state)
        self.tally.waiting = 0 if self.waiting is None else len(self.waiting)

    def _evict(self, resting: NDArray[np.bool_], now: int) -> None:
        forgotten = resting & (self.state.last_time < now - self.rules.forget_after_us)
        self.tally.forgotten += int(forgotten.sum())
        resting = resting & ~forgotten
        if resting.any():
            rows = np.flatnonzero(resting)
            evict(self.tracks[rows], self.line.rearranged(self.state, rows), self.cold_store, self.line, self.migrate)
        staying = np.flatnonzero(~(resting | forgotten))
        self.tracks, self.state = self.tracks[staying], self.line.rearranged(self.state, staying)

    def saved(self) -> Saved:
        """What to keep until the next micro-batch."""
        return Saved(
            self.configuration,
            self.clock,
            self.tracks,
            encode_states(self.line.joined([self.state])),
            self.line.form,
            self.spec.crossed,
            self.waiting,
            tuple(tuple(names) for names in self.features),
            tuple(sorted(self.cold_store.numbers)),
            self.sweep,
            {"positive": sorted(self.outcomes.positive)},
            self.outcomes.saved(),
            self.alerts.encoded(),
            self.past.tracks,
            encode_states(self.line.joined([self.past.state])) if len(self.past.tracks) else b"",
            self.past.rows,
        )


def _as_read(ordered: Ordered, seen: Seen) -> ReadEvents:
    rows, lengths = ordered.rows, np.diff(ordered.first_of)
    names = track_array(ordered.tracks, np.repeat(np.arange(len(ordered.tracks)), lengths))
    there = "lon" in rows.columns
    where = Places(*(rows[name].to_numpy(dtype=np.float64) for name in ("lon", "lat"))) if there else None
    return ReadEvents(names, seen.times, rows["arrived_us"].to_numpy(), where)


def _new(spec: LineSpec) -> Saved:
    form = line_for(spec, Configuration()).form
    return Saved(
        Configuration(),
        BucketClock(),
        np.empty(0, dtype=object),
        b"",
        form,
        spec.crossed,
        features=tuple(() for _ in spec.families),
    )
