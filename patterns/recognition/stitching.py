"""One long track run in slices at once: each slice as if nothing came before it, then stitched together, exactly.

A slice is first run from a fresh state, and its beginning is kept: block by block the events, what they show and the
state after them. All that comes after the beginning is shown at once. When the true state at the slice's first event
is known, only the beginning is run again from there, and only until the state after a block is the noted one: from then
on the future is the same, and what was found stands. If that does not come about, the slices cannot be stitched.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.joining import RecogniserState
from foresail.patterns.recognition.matches import Matches, joined
from foresail.patterns.recognition.monitor import Monitor, MonitorState
from foresail.patterns.recognition.starts import Begun
from foresail.patterns.recognition.track_state import NO_EPISODE, NO_RUN, UNMARKED, TrackStates

BLOCK_EVENTS = 8192
LEAST_BLOCKS = 8
"""A beginning is at least so long: what was under way before a slice need not look like anything in it."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """What the first events of a slice show when nothing came before them: per block its matches, the state after."""

    events: int
    """How many."""
    block: int
    found: tuple[Matches, ...]
    after: tuple[MonitorState, ...]


@dataclass(frozen=True, slots=True)
class Stitched:
    """What a beginning truly shows."""

    matches: Matches
    after: MonitorState
    """The true state after it."""
    blocks_again: int
    settled: bool
    """Whether the state after it is the noted one, so that what the rest of the slice has shown stands."""


def beginning_of(
    monitor: Monitor, slice_: EventBatch, block: int = BLOCK_EVENTS, least: int = LEAST_BLOCKS
) -> Beginning:
    """The part of a slice that may depend on what came before it.

    A guess, which `stitch` checks: twice as long as a run that begins one block later needs to show the same.
    """
    state, later = monitor.fresh(1), monitor.fresh(1)
    found, after = list[Matches](), list[MonitorState]()
    agreed: int | None = None
    for number, part in enumerate(blocks_of(slice_, block)):
        if agreed is not None and number >= max(least, 2 * agreed):
            break
        matches, state = _advance(monitor, part, state)
        found.append(matches)
        after.append(state)
        if number and agreed is None:
            _, later = monitor.advance(part, later)
            agreed = number if same_future(state, later, block) else None
    return Beginning(min(len(found) * block, len(slice_.times)), block, tuple(found), tuple(after))


def state_after(beginning: Beginning, before: int) -> MonitorState:
    """The state after a beginning as it is noted, when `before` events came before the slice."""
    return shifted(beginning.after[-1], before)


def stitch(monitor: Monitor, events: EventBatch, beginning: Beginning, state: MonitorState) -> Stitched:
    """What the events of a beginning show when the slice begins in `state`."""
    before, block, found = int(_of_patterns(state).detecting.seen[0]), beginning.block, list[Matches]()
    for number, part in enumerate(blocks_of(events, block)):
        matches, state = _advance(monitor, part, state)
        found.append(_moved(matches, number * block, 0))
        if same_future(state, beginning.after[number], before):
            rest = enumerate(beginning.found[number + 1 :], number + 1)
            found += [_moved(matches, n * block, before) for n, matches in rest]
            return Stitched(joined(found), state_after(beginning, before), number + 1, settled=True)
    return Stitched(joined(found), state, len(found), settled=False)


def blocks_of(slice_: EventBatch, block: int) -> Iterator[EventBatch]:
    """The events of one track in blocks."""
    return slice_.in_slices(block)


def _of_patterns(state: MonitorState) -> RecogniserState:
    (recognised,) = state.parts  # only plain patterns are run in slices
    assert isinstance(recognised, RecogniserState)
    return recognised


def _advance(monitor: Monitor, events: EventBatch, state: MonitorState) -> tuple[Matches, MonitorState]:
    (finding,), after = monitor.advance(events, state)
    assert isinstance(finding.results, Matches)
    return finding.results, after


def same_future(first: MonitorState, second: MonitorState, shift: int) -> bool:
    """Whether two states of one track, whose events are numbered `shift` apart, will show the same from now on."""
    one, noted = _of_patterns(first), _of_patterns(shifted(second, shift))
    true, moved = one.detecting, noted.detecting
    run = (moved.start_index != NO_RUN) & (moved.start_index != UNMARKED)
    episode = moved.episode != NO_EPISODE
    same = ("seen", "last_time", "tie", "states", "start_index", "first_start_time", "episode")
    return (
        all(np.array_equal(getattr(true, name), getattr(moved, name)) for name in same)
        and np.array_equal(true.start_time[run], moved.start_time[run])
        and all(np.array_equal(getattr(one.begun, name), getattr(noted.begun, name)) for name in Begun._fields)
        and all(
            np.array_equal(getattr(true, name)[episode], getattr(moved, name)[episode])
            for name in TrackStates._fields
            if name.startswith("episode_")
        )
    )


def shifted(state: MonitorState, shift: int) -> MonitorState:
    """The same state when `shift` more events came before all that it knows."""
    part = _of_patterns(state)
    states = part.detecting
    known = (states.start_index != NO_RUN) & (states.start_index != UNMARKED)
    moved = states._replace(
        seen=states.seen + shift,
        start_index=np.where(known, states.start_index + shift, states.start_index),
        episode_start_index=states.episode_start_index + shift,
        episode_last_index=states.episode_last_index + shift,
    )
    shifted_part = replace(part, detecting=moved, begun=part.begun._replace(index=part.begun.index + shift))
    return state._replace(parts=(shifted_part,))


def _moved(matches: Matches, events: int, positions: int) -> Matches:
    """The same matches, their rows `events` and their places in the track `positions` later."""
    return replace(matches, event=matches.event + events, index=matches.index + positions)
