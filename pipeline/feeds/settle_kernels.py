"""Kernels over positions sorted by track and time: repeats, swapped places, spikes and pieces between jumps.

They do what `foresail.pipeline.stages.tracks` does with window functions; an unknown place is NaN and is never a jump.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import boolean, float64, int64, njit, types, uint8

from foresail.patterns.conditions.functions import EARTH_RADIUS_M
from foresail.patterns.recognition.compilation import Kernel, ready

compiled = njit(cache=True, error_model="numpy", _nrt=False)

KEPT, EXACT_DUPLICATE, SAME_TIME, OUT_OF_RANGE, SPIKE, STRAY = range(6)
VOUCHING_ROWS, VOUCHING_US = 3, 1_800_000_000
_KNOTS = 3600 / 1852.0
_FIRST = 2
"""Of a row that begins its track: whether it has jumped is unknown."""


@compiled
def counted_order(codes: Any, firsts: Any, order: Any) -> None:
    """The rows of code 0, then those of 1 ..., each in the order they come in; `firsts` has a place more than codes."""
    for row in range(len(codes)):
        firsts[codes[row] + 1] += 1
    for code in range(1, len(firsts)):
        firsts[code] += firsts[code - 1]
    for row in range(len(codes)):
        order[firsts[codes[row]]] = row
        firsts[codes[row]] += 1


@compiled
def _distance_m(lon: float, lat: float, to_lon: float, to_lat: float) -> float:
    half_lat = math.radians(to_lat - lat) / 2
    half_lon = math.radians(to_lon - lon) / 2
    across = math.sin(half_lon)
    up = math.sin(half_lat)
    chord = up * up + math.cos(math.radians(lat)) * math.cos(math.radians(to_lat)) * across * across
    return math.asin(math.sqrt(1.0 if chord > 1 else chord)) * (2 * EARTH_RADIUS_M)


@compiled
def _jumps(
    time: int, lon: float, lat: float, to_time: int, to_lon: float, to_lat: float, jump_kn: float, min_jump_m: float
) -> bool:
    if math.isnan(lon) or math.isnan(lat) or math.isnan(to_lon) or math.isnan(to_lat):
        return False
    distance_m = _distance_m(lon, lat, to_lon, to_lat)
    if not distance_m > min_jump_m:
        return False
    gap_s = (to_time - time) / 1e6
    return gap_s == 0 or (gap_s > 0 and distance_m / gap_s * _KNOTS > jump_kn)


@compiled
def _same_place(lon: float, lat: float, other_lon: float, other_lat: float) -> bool:
    same_lon = lon == other_lon or (math.isnan(lon) and math.isnan(other_lon))
    return same_lon and (lat == other_lat or (math.isnan(lat) and math.isnan(other_lat)))


@compiled
def mark_repeats(codes: Any, times: Any, lons: Any, lats: Any, late: Any) -> int:
    """Mark rows that repeat an instant of their track; how many there are."""
    first, repeats = 0, 0
    for row in range(1, len(codes)):
        if codes[row] != codes[first] or times[row] != times[first]:
            first = row
            continue
        late[row] = EXACT_DUPLICATE if _same_place(lons[row], lats[row], lons[first], lats[first]) else SAME_TIME
        repeats += 1
    return repeats


@compiled
def mark_copies(codes: Any, times: Any, lons: Any, lats: Any, late: Any) -> int:
    """Mark rows that repeat an instant and a place, of rows sorted by these; how many there are."""
    copies = 0
    for row in range(1, len(codes)):
        alike = codes[row] == codes[row - 1] and times[row] == times[row - 1]
        if alike and _same_place(lons[row], lats[row], lons[row - 1], lats[row - 1]):
            late[row] = EXACT_DUPLICATE
            copies += 1
    return copies


@compiled
def _sound(row: int, by: int, code: int, codes: Any, lats: Any) -> int:
    """The nearest row on one side, of the next three, that has a latitude; -1 where there is none."""
    other = row
    for _ in range(VOUCHING_ROWS):
        other += by
        if other < 0 or other >= len(codes) or codes[other] != code:
            return -1
        if abs(lats[other]) <= 90:
            return other
    return -1


@compiled
def mark_swaps(
    codes: Any, times: Any, lons: Any, lats: Any, jump_kn: float, min_jump_m: float, late: Any, turned: Any
) -> int:
    """Mark latitudes beyond 90: turned where the track vouches for it, else out of range; how many there are."""
    found = 0
    for row in range(len(codes)):
        if not abs(lats[row]) > 90:
            continue
        found += 1
        last = _sound(row, -1, codes[row], codes, lats)
        following = _sound(row, 1, codes[row], codes, lats)
        vouched = last >= 0 and following >= 0
        if vouched:
            time, lon, lat = times[row], lats[row], lons[row]
            vouched = (
                time - times[last] <= VOUCHING_US
                and times[following] - time <= VOUCHING_US
                and not _jumps(times[last], lons[last], lats[last], time, lon, lat, jump_kn, min_jump_m)
                and not _jumps(time, lon, lat, times[following], lons[following], lats[following], jump_kn, min_jump_m)
            )
        if vouched:
            turned[row] = True
        else:
            late[row] = OUT_OF_RANGE
    return found


@compiled
def mark_jumps(codes: Any, times: Any, lons: Any, lats: Any, jump_kn: float, min_jump_m: float, jumped: Any) -> int:
    """Whether the step to each row is a jump, and _FIRST where there is none; how many are."""
    jumps = 0
    for row in range(len(codes)):
        if row == 0 or codes[row] != codes[row - 1]:
            jumped[row] = _FIRST
            continue
        before = row - 1
        jump = _jumps(times[before], lons[before], lats[before], times[row], lons[row], lats[row], jump_kn, min_jump_m)
        jumped[row] = jump
        jumps += jump
    return jumps


@compiled
def mark_spikes(
    codes: Any,
    times: Any,
    lons: Any,
    lats: Any,
    jump_kn: float,
    min_jump_m: float,
    jumped: Any,
    late: Any,
    turned: Any,
) -> int:
    """Mark jumps there and back between positions that agree; turned where that fits. How many there are."""
    found = 0
    for row in range(2, len(codes) - 2):
        if jumped[row] != 1 or jumped[row + 1] != 1 or jumped[row - 1] != 0 or jumped[row + 2] != 0:
            continue
        a, b = row - 1, row + 1
        if _jumps(times[a], lons[a], lats[a], times[b], lons[b], lats[b], jump_kn, min_jump_m):
            continue
        found += 1
        lon, lat = lats[row], lons[row]
        fits = (
            abs(lat) <= 90
            and not _jumps(times[a], lons[a], lats[a], times[row], lon, lat, jump_kn, min_jump_m)
            and not _jumps(times[row], lon, lat, times[b], lons[b], lats[b], jump_kn, min_jump_m)
        )
        if fits:
            turned[row] = True
        else:
            late[row] = SPIKE
    return found


@compiled
def number_pieces(codes: Any, jumped: Any, pieces: Any) -> None:
    """Number the pieces of each track that jumps cut it into, from 0."""
    for row in range(len(codes)):
        fresh = row == 0 or codes[row] != codes[row - 1]
        pieces[row] = 0 if fresh else pieces[row - 1] + (jumped[row] == 1)


@compiled
def mark_strays(codes: Any, pieces: Any, least: int, late: Any) -> None:
    """Mark the rows of pieces that are too short."""
    begin = 0
    for row in range(1, len(codes) + 1):
        if row == len(codes) or codes[row] != codes[begin] or pieces[row] != pieces[begin]:
            if row - begin < least:
                for stray in range(begin, row):
                    late[stray] = STRAY
            begin = row


@compiled
def count_late(codes: Any, times: Any) -> int:
    """How many rows, in the order received, are earlier than the one before in their track."""
    late = 0
    for row in range(1, len(codes)):
        late += codes[row] == codes[row - 1] and times[row] < times[row - 1]
    return late


@compiled
def since(codes: Any, times: Any, statuses: Any, gap_us: int, status_since: Any, heard_since: Any) -> None:
    """Since when the status of each row holds, and since when its track is heard without a gap."""
    for row in range(len(codes)):
        fresh = row == 0 or codes[row] != codes[row - 1]
        changed = fresh or statuses[row] != statuses[row - 1]
        silent = fresh or times[row] - times[row - 1] > gap_us
        status_since[row] = times[row] if changed else status_since[row - 1]
        heard_since[row] = times[row] if silent else heard_since[row - 1]


_LONGS, _DOUBLES = types.Array(int64, 1, "C", readonly=True), types.Array(float64, 1, "C", readonly=True)
_OUT, _STATES, _FLAGS = types.Array(int64, 1, "C"), types.Array(uint8, 1, "C"), types.Array(boolean, 1, "C")
_ROWS = (_LONGS, _LONGS, _DOUBLES, _DOUBLES)

SIGNATURES: dict[Any, tuple[Any, ...]] = {
    counted_order: (_LONGS, _OUT, _OUT),
    mark_repeats: (*_ROWS, _STATES),
    mark_copies: (*_ROWS, _STATES),
    mark_swaps: (*_ROWS, float64, float64, _STATES, _FLAGS),
    mark_jumps: (*_ROWS, float64, float64, _STATES),
    mark_spikes: (*_ROWS, float64, float64, _STATES, _STATES, _FLAGS),
    number_pieces: (_LONGS, _STATES, _OUT),
    mark_strays: (_LONGS, _LONGS, int64, _STATES),
    count_late: (_LONGS, _LONGS),
    since: (_LONGS, _LONGS, _LONGS, int64, _OUT, _OUT),
}


@cache
def kernel(function: Callable[..., Any]) -> Kernel:
    """One of the functions above, ready to be called."""
    return ready(function, SIGNATURES[function])


def _compile_all() -> None:
    for function in SIGNATURES:
        kernel(function)


KERNELS: dict[str, Callable[[], object]] = {"settling tracks": _compile_all}
"""What `foresail kernels` compiles."""
