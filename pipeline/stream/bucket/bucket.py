"""One bucket of tracks through one micro-batch: events in order, read by the line, timers looked at, rows emitted.

Pure but for the cold store of idle tracks: what comes in and the saved state decide what goes out, so that a
micro-batch that is repeated after a crash says the same again.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from foresail.models.model import Model
from foresail.patterns.conditions.packing import words_for
from foresail.patterns.conditions.relations import value_columns
from foresail.patterns.recognition.events import LAT, LON, EventBatch, LayerEvents
from foresail.patterns.recognition.monitor import MonitorState
from foresail.patterns.recognition.protocol import NEVER_SEEN, Clock, Finding
from foresail.pipeline.conditions.arrow import array_columns
from foresail.pipeline.stream.bucket.alerts import Alerting, BucketAlerts
from foresail.pipeline.stream.bucket.eviction import CHUNKS, ColdStore, KnownChunks, Migrating, evict, fetch, forget
from foresail.pipeline.stream.bucket.findings import ARRIVED, FORECAST, MATCH, position_rows
from foresail.pipeline.stream.bucket.line_spec import LineSpec, monitor_for, stored_model
from foresail.pipeline.stream.bucket.monitor import BucketMonitor
from foresail.pipeline.stream.bucket.near import near_of
from foresail.pipeline.stream.bucket.ordering import (
    LATE,
    Ordered,
    agreed_us,
    due,
    in_order,
    together,
    without_late,
)
from foresail.pipeline.stream.bucket.output_rows import BatchCounts, finding_rows
from foresail.pipeline.stream.bucket.rerun import Past, may_rerun, rerun
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.bucket.words import carried, carried_attributes, packed, recrossed, words_of
from foresail.pipeline.stream.control.message import Configuration
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
        self.anew = what_begins_anew(before.form, self.monitor.form, self.load) if saved else []
        """How the line is another than the one that saved the state, a sentence each."""
        self.waiting = None if before.waiting is None else recrossed(before.waiting, before.crossed, spec)
        self.tracks = before.tracks
        self.state = self.migrate(before.states, before.form) if before.states else self.monitor.fresh(0)
        self.past = self._past(before)
        self._again: NDArray[np.object_] = np.empty(0, dtype=object)
        """Tracks that this micro-batch has read again: what the clock has told of them may be different now."""
        layers = [part.layer for part in before.form.of("families")]
        met = {layer: dict.fromkeys(names) for layer, names in zip(layers, before.features, strict=True)}
        self.features = {family.layer: met.get(family.layer, {}) for family in spec.families}
        """By layer the features that were met, in the order of their numbers."""
        self.sweep = before.sweep
        self.alerts = BucketAlerts(alerts, self.monitor, spec.emission, before.alerts)
        self.outcomes = Outcomes(spec.score_share, before.pending, before.notes.get("positive", []))
        self.outcomes.go_on(before.form, self.monitor.form)
        self.tally = BatchCounts()

    def _past(self, before: Saved) -> Past:
        """What late events are put into; events read by another line are not read again, as before a rest."""
        if before.crossed != self.spec.crossed:
            kept = (self.tracks, self.state) if self.rules.rerun_us else (self.tracks[:0], self.monitor.fresh(0))
            return Past(*kept)
        state = self.migrate(before.past, before.form) if before.past else self.monitor.fresh(0)
        return Past(before.past_tracks, state, before.recent)

    def load(self, pattern: str, version: str) -> Model | None:
        """A model that served once, if it is still to be had."""
        return stored_model(self.spec, pattern, version)

    def _use(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.monitor: BucketMonitor = monitor_for(self.spec, configuration)
        self.migrate = Migrating(self.monitor, self.load)

    def reconfigure(self, configuration: Configuration) -> None:
        """From now on `configuration` holds; tracks keep what they have gathered."""
        before, held = self.monitor, self.configuration
        try:
            self._use(configuration)
            if self.monitor is not before:
                states = [
                    self.monitor.migrated(state, before.form, self.load) for state in (self.state, self.past.state)
                ]
                self.state, self.past.state = states
        except Exception:
            self._use(held)
            raise
        self.alerts.use(self.monitor)
        self.outcomes.go_on(before.form, self.monitor.form)

    def advance(
        self, arrived: pd.DataFrame, tick_us: int, flush: bool = False, again: pd.DataFrame | None = None
    ) -> list[pa.Table]:
        """Read what has arrived by the last tick, if any; the rows to be emitted. `flush` waits for nothing more.

        `again` are events of the past as they should have been: late ones, and those that are different for them.
        """
        rows = together(arrived, self.waiting)
        agreed = agreed_us(rows, self.tracks, self.state.last_time) if len(arrived) else None
        clock = self.clock.hearing(agreed, tick_us)
        reached = clock.reached_us
        watermark = reached if flush else reached - self.rules.out_of_order_us
        until = np.iinfo(np.int64).max if flush else watermark
        rows, self.waiting = due(rows, until, self.rules.out_of_order_us)
        touched, output = self._read_again(again) if again is not None and len(again) else (_NOWHERE, [])
        if len(rows):
            ordered = in_order(rows)
            places = self._places(ordered.tracks)
            ordered, behind, staying = without_late(ordered, self._last_times(places), self.rules.keep_same_time)
            for some in (self._read_late(behind), self._read(ordered, places[staying])):
                touched, output = np.concatenate([touched, some[0]]), output + some[1]
        output += self._expire(clock, watermark - self.rules.timers_wait_us, touched)
        self._settle(reached)
        return output

    def _places(self, tracks: NDArray[np.object_]) -> NDArray[np.int64]:
        """Where these tracks are among those at hand, resting ones fetched; -1 for new ones."""
        places = pd.Index(self.tracks).get_indexer(pd.Index(tracks)) if len(self.tracks) else np.full(len(tracks), -1)
        unknown = tracks[places < 0]
        if len(unknown):
            names, states = fetch(unknown, self.cold_store, self.monitor, self.migrate)
            if len(names):
                self.tracks = np.concatenate([self.tracks, names])
                self.state = self.monitor.joined([self.state, states])
                if self.rules.rerun_us:
                    self.past.begin(self.monitor, names, states)
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
        events = self._events(ordered)
        state = self.monitor.rearranged(self.state, places)
        emitted_until = np.where(np.isin(ordered.tracks, self._again), NEVER_SEEN, self.clock.now_us)
        found, after = self.monitor.advance(events, state, emitted_until)
        self.tally.events += len(events)
        output: list[pa.Table] = []
        output += counted_rows(self.spec, self.monitor, events, state) if self.spec.train else []
        for finding in self._scored(found, ordered):
            rows, at = self._rows(finding, events)
            self.alerts.note(rows, at, ordered.rows)
            output += self.tally.counted(rows, self.spec.episodes)
        if self.spec.shown:
            output.append(position_rows(ordered.rows.iloc[ordered.first_of[1:] - 1], self.spec.shown))
        if self.rules.rerun_us:
            self.past.note(ordered.rows)
        return self._keep(ordered.tracks, places, after), output

    def _read_late(self, behind: pd.DataFrame) -> tuple[NDArray[np.int64], list[pa.Table]]:
        """Tell of late events, and read those after all that are not too late for that."""
        if not len(behind):
            return _NOWHERE, []
        late = (behind["reason"] == LATE).to_numpy()
        if self.rules.rerun_us:
            last = self._last_times(self._places(behind["track"].to_numpy(dtype=object)))
            again = late & may_rerun(behind, last, self.past, self.rules.rerun_us)
            touched, output = self._read_again(behind[again].drop(columns="reason"))
            return touched, output + self.tally.counted_late(behind.assign(rerun=again))
        return _NOWHERE, self.tally.counted_late(behind)

    def _read_again(self, rows: pd.DataFrame) -> tuple[NDArray[np.int64], list[pa.Table]]:
        """Read tracks again with these events in their past; where the tracks are, and what is different."""
        known = set() if self.past.rows is None else set(self.past.rows["track"])
        rows = rows[rows["track"].isin(known)]
        if not len(rows):
            return _NOWHERE, []
        read = rerun(self.monitor, self.past, rows, self._found)
        places = self._places(read.tracks)
        touched = self._keep(read.tracks, places, read.state)
        self._again = np.concatenate([self._again, read.tracks])
        self.tally.rerun += len(rows)
        for table in read.new:
            self.alerts.note([table], None, pd.DataFrame())
        return touched, self.tally.counted(read.emitted, self.spec.episodes, read.new)

    def _found(self, ordered: Ordered, state: MonitorState) -> tuple[list[pa.Table], MonitorState]:
        """The matches of events read from a state on, whatever a clock has emitted, and the state after."""
        events = self._events(ordered)
        found, after = self.monitor.advance(events, state)
        matches = [finding for finding in found if finding.kind == MATCH]
        return [rows for finding in matches for rows in self._rows(finding, events)[0]], after

    def _scored(self, found: list[Finding], ordered: Ordered) -> list[Finding]:
        """Compare forecasts with what happened, then keep those that are to be emitted."""
        if not self.spec.score_share or self.monitor.forecaster is None:
            return found
        models = self.monitor.forecaster.models
        matches = next((f for f in found if f.kind == MATCH and f.layer is None), None)
        layers = [family.layer for family in self.spec.families]
        out = []
        for finding in found:
            if finding.kind != FORECAST:
                out.append(finding)
                continue
            if finding.layer is None:
                self.outcomes.read(finding.results, models, matches, ordered)
            group = None if finding.layer is None else layers.index(finding.layer)
            kept = chosen(finding.results, self.spec.emission, ordered, self.outcomes.positive, group)
            out.append(replace(finding, results=kept))
        return out

    def _keep(self, tracks: NDArray[np.object_], places: NDArray[np.int64], after: MonitorState) -> NDArray[np.int64]:
        """Put the states after the events in place of those before; where the tracks are now."""
        at_hand, new = len(self.tracks), places < 0
        moved = places.copy()
        moved[new] = at_hand + np.arange(int(new.sum()))
        rows = np.arange(at_hand + int(new.sum()))
        rows[moved] = at_hand + np.arange(len(tracks))
        self.state = self.monitor.rearranged(self.monitor.joined([self.state, after]), rows)
        self.tracks = np.concatenate([self.tracks, tracks[new]])
        return moved

    def _events(self, ordered: Ordered) -> EventBatch:
        rows = ordered.rows
        columns = {ARRIVED: rows[ARRIVED].to_numpy()}
        if LON in rows.columns:
            columns |= {axis: rows[axis].to_numpy(dtype=np.float64) for axis in (LON, LAT)}
        if self.monitor.kept:
            values = array_columns(carried(rows, [some.value for some in self.monitor.kept], self.spec.types))
            columns |= value_columns(self.monitor.kept, values, len(rows))
        if self.monitor.inputs:
            names = dict.fromkeys(column.name for column in self.monitor.inputs)
            values = array_columns(carried_attributes(rows, names, self.spec.types))
            columns |= {column.key: column.numbers(values[column.name]) for column in self.monitor.inputs}
        layers = {}
        for n, family in enumerate(self.spec.families):
            count = words_for(len(family.conditions))
            near = near_of(rows, n, count, self.features[family.layer])
            layers[family.layer] = LayerEvents(packed(rows, f"family_{n}", count), near)
        return EventBatch(
            words_of(rows, self.spec.conditions, self.monitor.conditions, self.spec.types),
            rows["time_us"].to_numpy(dtype=np.int64),
            ordered.first_of,
            pa.array(ordered.tracks, pa.string()),
            columns,
            layers,
        )

    def _rows(self, finding: Finding, events: EventBatch) -> tuple[list[pa.Table], NDArray[np.int64]]:
        features = [] if finding.layer is None else list(self.features[finding.layer])
        return finding_rows(finding, self.monitor, events, features, self.configuration.disabled)

    def _expire(self, clock: BucketClock, watermark: int, touched: NDArray[np.int64]) -> list[pa.Table]:
        """Tell the episodes that ran out, up to what the watermark has passed."""
        now = max(self.clock.now_us, watermark)
        mask = np.zeros(len(self.tracks), dtype=np.bool_)
        mask[touched] = True
        output = []
        none = np.zeros(len(self.tracks), dtype=np.int64)
        each = np.arange(len(self.tracks) + 1)
        silent = EventBatch(none.reshape(-1, 1), none, each, pa.array(self.tracks, pa.string()), {ARRIVED: none})
        for finding in self.monitor.expired(self.state, Clock(self.clock.now_us, now), mask):
            rows, _ = self._rows(finding, silent)
            self.alerts.note(rows, None, pd.DataFrame())
            output += self.tally.counted(rows, self.spec.episodes)
        self.clock = replace(clock, now_us=now)
        alerts, opened = self.alerts.advance(now)
        return [*output, *self.tally.counted_alerts(alerts, opened)]

    def _settle(self, now: int) -> None:
        """Lay down tracks that rest, forget those that have rested too long."""
        sweep = [(self.sweep + n) % CHUNKS for n in range(SWEPT_AT_ONCE)]
        self.sweep = (self.sweep + SWEPT_AT_ONCE) % CHUNKS
        for number in sweep:
            before = now - self.rules.forget_after_us
            self.tally.forgotten += forget(number, before, self.cold_store, self.monitor, self.migrate)
        idle = self.state.last_time < now - self.rules.rest_after_us
        if idle.any():
            self._evict(idle & ~self.monitor.waiting(self.state, self.clock.now_us), now)
        if self.rules.rerun_us:
            newest = pd.Series(self.state.last_time, index=pd.Index(self.tracks, dtype=object))
            self.past.move_on(self.monitor, newest, self.rules.rerun_us, self._found)
        self.tally.tracks, self.tally.runs = len(self.tracks), self.monitor.runs(self.state)
        self.tally.waiting = 0 if self.waiting is None else len(self.waiting)

    def _evict(self, resting: NDArray[np.bool_], now: int) -> None:
        forgotten = resting & (self.state.last_time < now - self.rules.forget_after_us)
        self.tally.forgotten += int(forgotten.sum())
        resting = resting & ~forgotten
        if resting.any():
            rows = np.flatnonzero(resting)
            evict(
                self.tracks[rows],
                self.monitor.rearranged(self.state, rows),
                self.cold_store,
                self.monitor,
                self.migrate,
            )
        staying = np.flatnonzero(~(resting | forgotten))
        self.tracks, self.state = self.tracks[staying], self.monitor.rearranged(self.state, staying)

    def saved(self) -> Saved:
        """What to keep until the next micro-batch."""
        return Saved(
            self.configuration,
            self.clock,
            self.tracks,
            encode_states(self.monitor.joined([self.state])),
            self.monitor.form,
            self.spec.crossed,
            self.waiting,
            tuple(tuple(names) for names in self.features.values()),
            tuple(sorted(self.cold_store.numbers)),
            self.sweep,
            {"positive": sorted(self.outcomes.positive)},
            self.outcomes.saved(),
            self.alerts.encoded(),
            self.past.tracks,
            encode_states(self.monitor.joined([self.past.state])) if len(self.past.tracks) else b"",
            self.past.rows,
        )


def _new(spec: LineSpec) -> Saved:
    form = monitor_for(spec, Configuration()).form
    return Saved(
        Configuration(),
        BucketClock(),
        np.empty(0, dtype=object),
        b"",
        form,
        spec.crossed,
        features=tuple(() for _ in spec.families),
    )
