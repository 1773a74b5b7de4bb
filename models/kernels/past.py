"""The recent past of each track as numbers, event by event: a ring of the last values, and since when things hold."""

from math import asin, cos, isnan, radians, sin, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled, inlined

KEPT = 16
"""Events that are remembered, the present one among them."""
SHORT, LONG = 5, 15
"""How many events back the past is looked at, besides the event before."""
NEVER = np.int64(-1)
EARTH_M = 6_371_000.0
DAY_US, HOUR_US, MINUTE_US = 86_400_000_000, 3_600_000_000.0, 60_000_000.0
NUMBER_INPUTS, ANGLE_INPUTS, STEP_INPUTS, TRACK_INPUTS = 6, 5, 3, 10
"""How many inputs a column of each kind gives, and the track itself."""
NO_GAP = -1


class Past(NamedTuple):
    """What is remembered of each track, one row each."""

    count: NDArray[np.int64]
    """Events since the history began."""
    times: NDArray[np.int64]
    """Of the last events; that of the n-th event is in place n modulo KEPT, and so are the next two."""
    legs: NDArray[np.float64]
    """Metres sailed with each."""
    ring: NDArray[np.float64]
    """For each of them the values of all columns."""
    before: NDArray[np.float64]
    """Per column the value before the last change."""
    since: NDArray[np.int64]
    """Per column the time of the last change."""
    state: NDArray[np.int32]
    """The automaton state, since when, and for how many events."""
    state_since: NDArray[np.int64]
    state_events: NDArray[np.int64]
    match_time: NDArray[np.int64]
    """The time of the last match and the events since; NEVER where there was none."""
    match_events: NDArray[np.int64]
    positive: NDArray[np.uint8]
    """Whether the last forecast was positive; the kernel leaves it alone."""


@inlined
def turned(angle: float) -> float:
    """A difference of directions, from -180 to 180 degrees."""
    return angle - 360.0 * np.floor((angle + 180.0) / 360.0)


@compiled
def metres_between(lon: float, lat: float, other_lon: float, other_lat: float) -> float:
    """The great circle between two places; NaN where one is unknown."""
    if isnan(lon) or isnan(lat) or isnan(other_lon) or isnan(other_lat):
        return np.nan
    half_lat = sin(radians(other_lat - lat) / 2.0)
    half_lon = sin(radians(other_lon - lon) / 2.0)
    inner = half_lat * half_lat + cos(radians(lat)) * cos(radians(other_lat)) * half_lon * half_lon
    return 2.0 * EARTH_M * asin(min(1.0, sqrt(inner)))


@compiled
def note_event(
    past: Past,
    track: int,
    kinds: NDArray[np.int32],
    lon: int,
    lat: int,
    values: NDArray[np.float64],
    event: int,
    time: int,
) -> None:
    """Put one event into the ring, and tell since when each column has its value."""
    columns = len(kinds)
    now = past.count[track]
    here, last = now & (KEPT - 1), (now - 1) & (KEPT - 1)
    past.times[track, here] = time
    past.legs[track, here] = 0.0
    if now > 0 and lon >= 0:
        at = last * columns
        past.legs[track, here] = metres_between(
            past.ring[track, at + lon], past.ring[track, at + lat], values[event, lon], values[event, lat]
        )
    for column in range(columns):
        value = values[event, column]
        if now == 0:
            past.before[track, column] = np.nan
            past.since[track, column] = time
        else:
            was = past.ring[track, last * columns + column]
            if was != value and not (isnan(was) and isnan(value)):
                past.before[track, column] = was
                past.since[track, column] = time
        past.ring[track, here * columns + column] = value
    past.count[track] = now + 1


@compiled
def write_column(
    past: Past, track: int, kind: int, column: int, columns: int, out: NDArray[np.float32], event: int, at: int
) -> int:
    """Write what a column gives after the last event; the next free place."""
    last = past.count[track] - 1
    here = last & (KEPT - 1)
    now = past.ring[track, here * columns + column]
    out[event, at] = now
    if kind == 2:
        out[event, at + 1] = past.before[track, column]
        out[event, at + 2] = (past.times[track, here] - past.since[track, column]) / MINUTE_US
        return at + STEP_INPUTS
    for n in range(3):
        back = 1 if n == 0 else (SHORT if n == 1 else LONG)
        change = np.nan
        if last >= back:
            change = now - past.ring[track, ((last - back) & (KEPT - 1)) * columns + column]
            if kind == 1:
                change = turned(change)
        out[event, at + 1 + n] = change
    minutes = (
        (past.times[track, here] - past.times[track, (last - SHORT) & (KEPT - 1)]) / MINUTE_US if last >= SHORT else 0.0
    )
    out[event, at + 4] = out[event, at + 2] / minutes if minutes > 0.0 else np.nan
    if kind == 1:
        return at + ANGLE_INPUTS
    total, known = 0.0, 0
    for n in range(min(last + 1, LONG)):
        value = past.ring[track, ((last - n) & (KEPT - 1)) * columns + column]
        if not isnan(value):
            total += value
            known += 1
    out[event, at + 5] = total / known if known else np.nan
    return at + NUMBER_INPUTS


@compiled
def write_track(
    past: Past, track: int, lon: int, lat: int, columns: int, out: NDArray[np.float32], event: int, at: int
) -> None:
    """Write what the track itself gives: its pace, its way, the hour, how far its automaton is and since when."""
    last = past.count[track] - 1
    here = last & (KEPT - 1)
    time = past.times[track, here]
    out[event, at] = (time - past.times[track, (last - 1) & (KEPT - 1)]) / 1e6 if last >= 1 else np.nan
    out[event, at + 1] = (time % DAY_US) / HOUR_US
    near, far = np.nan, np.nan
    if lon >= 0:
        near, far = 0.0, 0.0
        for n in range(min(last, LONG)):
            far += past.legs[track, (last - n) & (KEPT - 1)]
            if n < SHORT:
                near = far
    out[event, at + 2], out[event, at + 3] = near, far
    net = np.nan
    if lon >= 0:
        first = ((last - min(last, LONG)) & (KEPT - 1)) * columns
        net = metres_between(
            past.ring[track, first + lon],
            past.ring[track, first + lat],
            past.ring[track, here * columns + lon],
            past.ring[track, here * columns + lat],
        )
    out[event, at + 4] = net
    out[event, at + 5] = past.state[track]
    out[event, at + 6] = past.state_events[track]
    out[event, at + 7] = (time - past.state_since[track]) / MINUTE_US
    matched = past.match_events[track] != NEVER
    out[event, at + 8] = past.match_events[track] if matched else np.nan
    out[event, at + 9] = (time - past.match_time[track]) / MINUTE_US if matched else np.nan


@compiled
def forget(past: Past, track: int) -> None:
    """Begin the history of a track anew."""
    past.count[track] = 0
    past.state_events[track] = 0
    past.match_events[track] = NEVER
    past.match_time[track] = NEVER


@compiled
def recall(
    kinds: NDArray[np.int32],
    lon: int,
    lat: int,
    accepting: NDArray[np.bool_],
    max_gap: int,
    values: NDArray[np.float64],
    times: NDArray[np.int64],
    first_of: NDArray[np.int64],
    states: NDArray[np.int32],
    past: Past,
    out: NDArray[np.float32],
) -> None:
    """Write the inputs after each event, and leave what is remembered of each track as it is at its end.

    `states` is the automaton state after each event; `lon` and `lat` are columns, below zero where there are none.
    """
    for track in range(len(first_of) - 1):
        for event in range(first_of[track], first_of[track + 1]):
            time = times[event]
            last = (past.count[track] - 1) & (KEPT - 1)
            if past.count[track] > 0 and max_gap != NO_GAP and time - past.times[track, last] > max_gap:
                forget(past, track)
            fresh = past.count[track] == 0
            note_event(past, track, kinds, lon, lat, values, event, time)
            state = states[event]
            if fresh or state != past.state[track]:
                past.state[track] = state
                past.state_since[track] = time
                past.state_events[track] = 0
            past.state_events[track] += 1
            if accepting[state]:
                past.match_events[track] = 0
                past.match_time[track] = time
            elif past.match_events[track] != NEVER:
                past.match_events[track] += 1
            at = 0
            for column in range(len(kinds)):
                at = write_column(past, track, kinds[column], column, len(kinds), out, event, at)
            write_track(past, track, lon, lat, len(kinds), out, event, at)
