"""What trees say after each event of a batch: the chain follows the automaton, the past gives inputs, trees the rest.

What trees say is no row of a table that is decided beforehand, so a batch brings its own decisions.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.models.decisions import NONE, Said, said_of
from foresail.models.inputs.plan import InputPlan, PastState, fresh_past
from foresail.models.kernels.decisions import Decisions
from foresail.models.kernels.forecast import CHANGES, POSITIVE
from foresail.models.kernels.past import KEPT, NEVER
from foresail.models.migration import corresponding_states
from foresail.models.model import Model
from foresail.models.trees.part import TreePart
from foresail.models.trees.reasons import reasons
from foresail.patterns.recognition.events import EventBatch

AT_ONCE = 8192
"""Events whose waiting times are in memory together."""


class TreeRows(NamedTuple):
    """The forecasts of one model: after which events, and what they say."""

    event: NDArray[np.int64]
    decisions: Decisions
    because: NDArray[np.object_]
    """Where positive begins, what moved it most; it is the same soon after, and takes as long as the forecast."""


def tree_rows(
    model: Model, number: int, events: EventBatch, chains: NDArray[np.int32], past: PastState, emission: int
) -> TreeRows:
    """What is emitted after these events, of which `chains` are the chain states; `past` is brought up to date."""
    part = model.trees
    assert part is not None, "only a model with trees is asked here"
    states = model.chain.state[chains]
    inputs = inputs_after(part, model, events, states, past)
    asked = np.arange(len(events))
    if not model.settings.forecast_in_accepting:
        asked = asked[~model.automaton.accepting[states]]
    said = _said(model, part, inputs, asked)
    changed = _changed(said, asked, events, past)
    shown = _emitted(said, changed, emission)
    event = asked[shown]
    told = Said._make(column[shown] for column in said)
    because = np.full(len(event), None, dtype=object)
    begins = told.positive & changed[shown]
    because[begins] = reasons(part, inputs, event[begins], model.rule.events_ahead)
    return TreeRows(event, _decisions(model, number, told, chains[event]), because)


def inputs_after(
    part: TreePart, model: Model, events: EventBatch, states: NDArray[np.int32], past: PastState
) -> NDArray[np.float32]:
    """What trees read after each event."""
    values = part.plan.values(events.columns, len(events))
    return part.plan.advance(
        values, events.times, events.first_of, states, model.automaton.accepting, model.max_gap_us, past
    )


def _said(model: Model, part: TreePart, inputs: NDArray[np.float32], asked: NDArray[np.int64]) -> Said:
    rule = model.rule
    parts = []
    for begin in range(0, max(len(asked), 1), AT_ONCE):
        hazard = part.trees.hazards(inputs, asked[begin : begin + AT_ONCE])
        parts.append(said_of(part.trees.waiting(hazard, rule.horizon), rule))
    return Said._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def _changed(said: Said, asked: NDArray[np.int64], events: EventBatch, past: PastState) -> NDArray[np.bool_]:
    """Where positive begins or ends; where no forecast is given, it counts as not positive."""
    positive = np.zeros(len(events), dtype=np.bool_)
    positive[asked] = said.positive
    before = np.concatenate([[False], positive[:-1]])
    heard = np.diff(events.first_of) > 0
    before[events.first_of[:-1][heard]] = past.positive[heard]
    past.positive[heard] = positive[events.first_of[1:][heard] - 1]
    changed: NDArray[np.bool_] = said.positive != before[asked]
    return changed


def _emitted(said: Said, changed: NDArray[np.bool_], emission: int) -> NDArray[np.bool_]:
    if emission == POSITIVE:
        return said.positive
    return changed if emission == CHANGES else np.ones(len(changed), dtype=np.bool_)


def _decisions(model: Model, number: int, said: Said, chains: NDArray[np.int32]) -> Decisions:
    return Decisions(
        emitted=np.ones(len(chains), dtype=np.uint8),
        model=np.full(len(chains), number, dtype=np.int32),
        chain=chains,
        state=model.chain.state[chains],
        probability=said.probability,
        positive=said.positive.astype(np.uint8),
        earliest=said.earliest,
        latest=said.latest,
        most_likely=said.most_likely,
        earliest_s=_seconds(model, said.earliest, chains),
        latest_s=_seconds(model, said.latest, chains),
        most_likely_s=_seconds(model, said.most_likely, chains),
    )


def _seconds(model: Model, events: NDArray[np.int32], chains: NDArray[np.int32]) -> NDArray[np.float32]:
    """The mean seconds that so many events take: as the chain tells, or at the usual pace where it knows of none."""
    step_s = model.header.constant_step_s or model.header.sampling_step_s
    usual = (events * np.float32(np.nan if step_s is None else step_s)).astype(np.float32)
    if model.seconds is not None:
        held = model.seconds[chains, np.clip(events - 1, 0, model.seconds.shape[1] - 1)]
        usual = np.where(held > 0, held, usual)
    return np.where(events == NONE, np.float32(np.nan), usual)


def taken_rows(decisions: Decisions, rows: NDArray[np.int32]) -> Decisions:
    """Some rows of a table of decisions."""
    return Decisions._make(column[rows] for column in decisions)


def migrated_past(old: Model, new: Model, past: PastState) -> PastState:
    """The recent past that `old` kept, as `new` would have it: what both read goes on, the rest begins unknown."""
    assert old.trees is not None and new.trees is not None, "both models have trees"  # noqa: PT018
    tracks, was, now = len(past.count), old.trees.plan, new.trees.plan
    after = fresh_past(tracks, len(now.columns))
    for name in ("count", "times", "legs", "match_time", "match_events", "positive"):
        getattr(after, name)[:] = getattr(past, name)
    _move_columns(was, now, past, after)
    states = corresponding_states(old, new)
    if states is not None:
        after.state[:] = states[past.state]
        after.state_since[:], after.state_events[:] = past.state_since, past.state_events
    else:
        after.match_time[:], after.match_events[:] = NEVER, NEVER
        last = past.times[np.arange(tracks), (past.count - 1) % KEPT]
        after.state_since[:] = last
    return after


def _move_columns(was: InputPlan, now: InputPlan, past: PastState, after: PastState) -> None:
    place = {column.key: n for n, column in enumerate(was.columns)}
    tracks, last = len(past.count), past.times[np.arange(len(past.count)), (past.count - 1) % KEPT]
    before = past.ring.reshape(tracks, KEPT, len(was.columns))
    ring = after.ring.reshape(tracks, KEPT, len(now.columns))
    for n, column in enumerate(now.columns):
        known = place.get(column.key)
        ring[:, :, n] = np.nan if known is None else before[:, :, known]
        after.before[:, n] = np.nan if known is None else past.before[:, known]
        after.since[:, n] = last if known is None else past.since[:, known]
