"""One long track run in slices at once: each slice as if nothing came before it, then stitched together, exactly.

A slice is first run from a fresh state, with the state noted after every block of events. When the true state at its
beginning is known, its blocks are run again from there, but only until the state after a block is the noted one: from
then on the future is the same, and what was found stands. Most patterns forget within a few events, so that little is
run twice; a pattern that never forgets is run twice in full, and still right.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from patterns.recognition.matches import Matches, joined
from patterns.recognition.recogniser import Batch, Recogniser, RecogniserState
from patterns.recognition.track_state import NO_EPISODE, NO_RUN, UNMARKED, TrackStates

BLOCK_EVENTS = 8192
SAME = ("seen", "last_time", "tie", "states", "start_index", "episode")


@dataclass(frozen=True, slots=True)
class Speculation:
    """What a slice shows when nothing came before it: per block its matches and the state after it."""

    found: tuple[Matches, ...]
    after: tuple[TrackStates, ...]


def speculate(recogniser: Recogniser, slice_: Batch, block: int = BLOCK_EVENTS) -> Speculation:
    """Run a slice of one track from a fresh state."""
    state, found, after = recogniser.fresh(1), [], []
    for part in blocks_of(slice_, block):
        matches, state = recogniser.advance(part, state)
        found.append(matches)
        after.append(state.detecting)
    return Speculation(tuple(found), tuple(after))


def stitch(
    recogniser: Recogniser, slice_: Batch, state: RecogniserState, speculation: Speculation, block: int = BLOCK_EVENTS
) -> tuple[Matches, RecogniserState, int]:
    """The matches of a slice that begins in `state`, the state after it, and how many blocks were run again."""
    shift, found = int(state.detecting.seen[0]), []
    for number, part in enumerate(blocks_of(slice_, block)):
        matches, state = recogniser.advance(part, state)
        found.append(_moved(matches, number * block, 0))
        if same_future(state.detecting, speculation.after[number], shift):
            rest = speculation.found[number + 1 :]
            found += [_moved(m, (number + 1 + n) * block, shift) for n, m in enumerate(rest)]
            last = RecogniserState(shifted(speculation.after[-1], shift), ())
            return joined(found), last, number + 1
    return joined(found), state, len(speculation.found)


def blocks_of(slice_: Batch, block: int) -> Sequence[Batch]:
    """The events of one track in blocks."""
    return [
        Batch(words, times, np.array([0, len(times)]))
        for words, times in (
            (slice_.words[at : at + block], slice_.times[at : at + block]) for at in range(0, len(slice_.times), block)
        )
    ]


def same_future(true: TrackStates, noted: TrackStates, shift: int) -> bool:
    """Whether two states of one track, whose events are numbered `shift` apart, will show the same from now on."""
    moved = shifted(noted, shift)
    run = (moved.start_index != NO_RUN) & (moved.start_index != UNMARKED)
    episode = moved.episode != NO_EPISODE
    return (
        all(
            np.array_equal(getattr(true, name), getattr(moved, name)) for name in ("seen", "last_time", "tie", "states")
        )
        and np.array_equal(true.start_index, moved.start_index)
        and np.array_equal(true.start_time[run], moved.start_time[run])
        and all(
            np.array_equal(getattr(true, name)[episode], getattr(moved, name)[episode])
            for name in TrackStates._fields
            if name.startswith("episode_")
        )
    )


def shifted(states: TrackStates, shift: int) -> TrackStates:
    """The same state when `shift` more events came before all that it knows."""
    known = (states.start_index != NO_RUN) & (states.start_index != UNMARKED)
    return states._replace(
        seen=states.seen + shift,
        start_index=np.where(known, states.start_index + shift, states.start_index),
        episode_start_index=states.episode_start_index + shift,
        episode_last_index=states.episode_last_index + shift,
    )


def _moved(matches: Matches, events: int, positions: int) -> Matches:
    """The same matches, their rows `events` and their places in the track `positions` later."""
    return replace(matches, event=matches.event + events, index=matches.index + positions)
