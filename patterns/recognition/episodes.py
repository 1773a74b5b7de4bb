"""Consecutive detections merged into episodes: opened once they have lasted, updated, and closed."""

from foresail.patterns.recognition.arrays import inlined
from foresail.patterns.recognition.rows import OPENED, UPDATED, Moment, Rows, write
from foresail.patterns.recognition.tables import Tables
from foresail.patterns.recognition.track_state import NO_EPISODE, PENDING, REPORTED, TrackStates


@inlined
def end_episode(pattern: int, status: int, moment: Moment, states: TrackStates, rows: Rows) -> None:
    """Report that the open episode of `pattern` is over; one that was never reported ends in silence."""
    s = moment.slot
    if states.episode[s, pattern] == REPORTED:
        write(
            rows, moment, pattern, status,
            states.episode_last_index[s, pattern], states.episode_last_time[s, pattern],
            states.episode_start_index[s, pattern], states.episode_start_time[s, pattern],
            states.episode_first_start_time[s, pattern],
            states.episode_first_time[s, pattern], states.episode_first_tie[s, pattern],
        )  # fmt: skip
    states.episode[s, pattern] = NO_EPISODE


@inlined
def extend_episode(
    tables: Tables, pattern: int, start: int, began: int, first: int, moment: Moment, states: TrackStates, rows: Rows
) -> None:
    """Take one more detection into the episode of `pattern`; report it once it has dwelt long enough."""
    s = moment.slot
    if states.episode[s, pattern] == NO_EPISODE:
        states.episode[s, pattern] = PENDING
        states.episode_start_index[s, pattern] = start
        states.episode_start_time[s, pattern] = began
        states.episode_first_start_time[s, pattern] = first
        states.episode_first_time[s, pattern] = moment.time
        states.episode_first_tie[s, pattern] = moment.tie
    states.episode_last_index[s, pattern] = moment.position
    states.episode_last_time[s, pattern] = moment.time
    if moment.time - states.episode_start_time[s, pattern] < tables.min_dwell_us[pattern]:
        return
    status = UPDATED if states.episode[s, pattern] == REPORTED else OPENED
    states.episode[s, pattern] = REPORTED
    if status == UPDATED and not tables.updates[pattern]:
        return
    write(
        rows, moment, pattern, status, moment.position, moment.time,
        states.episode_start_index[s, pattern], states.episode_start_time[s, pattern],
        states.episode_first_start_time[s, pattern],
        states.episode_first_time[s, pattern], states.episode_first_tie[s, pattern],
    )  # fmt: skip
