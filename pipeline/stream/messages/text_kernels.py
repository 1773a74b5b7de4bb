"""Kernels for texts among the bytes of messages: copied out, read as instants, and hashed as Spark hashes them."""

from functools import cache
from typing import Any

import numpy as np
from numba import boolean, int32, int64, njit, types, uint8

from foresail.patterns.recognition.compilation import Kernel, ready

_DASH, _SPACE, _T, _COLON, _POINT, _Z = (ord(c) for c in "- T:.Z")
_ZERO, _NINE = ord("0"), ord("9")
_SHORTEST, _MOST_DECIMALS = len("2026-01-31T00:00:00"), 6
_DAYS_BEFORE = np.array([0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365], dtype=np.int64)
_SEED, _ALL_BITS = 42, 0xFFFFFFFF

compiled = njit(cache=True, error_model="numpy", _nrt=False)


@compiled
def gather(data: Any, starts: Any, cuts: Any, out: Any) -> None:
    """Copy the texts that begin at `starts` one after the other; `cuts` is where each begins in `out`, and the end."""
    for row in range(len(starts)):
        begin = starts[row]
        for k in range(cuts[row + 1] - cuts[row]):
            out[cuts[row] + k] = data[begin + k]


@compiled
def _digits(data: Any, i: int, many: int) -> int:
    value = 0
    for k in range(many):
        c = data[i + k]
        if c < _ZERO or c > _NINE:
            return -1
        value = value * 10 + np.int64(c - _ZERO)
    return value


@compiled
def _instant(data: Any, i: int, end: int) -> int:
    """Microseconds since 1970 of `2026-01-31T12:00:00[.123456][Z]`, in UTC; -1 for anything else."""
    if end - i < _SHORTEST or data[i + 4] != _DASH or data[i + 7] != _DASH:
        return -1
    if (data[i + 10] != _T and data[i + 10] != _SPACE) or data[i + 13] != _COLON or data[i + 16] != _COLON:
        return -1
    year, month, day = _digits(data, i, 4), _digits(data, i + 5, 2), _digits(data, i + 8, 2)
    hour, minute, second = _digits(data, i + 11, 2), _digits(data, i + 14, 2), _digits(data, i + 17, 2)
    if year < 1970 or month < 1 or month > 12 or day < 1:
        return -1
    if hour < 0 or hour > 23 or minute < 0 or minute > 59 or second < 0 or second > 59:
        return -1
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    in_month = _DAYS_BEFORE[month] - _DAYS_BEFORE[month - 1] + (1 if leap and month == 2 else 0)
    if day > in_month:
        return -1
    i += _SHORTEST
    micros, decimals = 0, 0
    if i < end and data[i] == _POINT:
        i += 1
        while i < end and _ZERO <= data[i] <= _NINE:
            micros = micros * 10 + np.int64(data[i] - _ZERO)
            decimals += 1
            i += 1
            if decimals > _MOST_DECIMALS:
                return -1
        if decimals == 0:
            return -1
        for _ in range(_MOST_DECIMALS - decimals):
            micros *= 10
    if not (i == end or (i == end - 1 and data[i] == _Z)):
        return -1
    before = year - 1
    days = 365 * (year - 1970) + before // 4 - before // 100 + before // 400 - 477 + _DAYS_BEFORE[month - 1] + day - 1
    if leap and month > 2:
        days += 1
    return ((days * 24 + hour) * 60 + minute) * 60_000_000 + second * 1_000_000 + micros


@compiled
def instants(data: Any, starts: Any, ends: Any, chosen: Any, out: Any) -> None:
    """The instants of the chosen texts; -1 where one is not plainly written."""
    for row in range(len(starts)):
        if chosen[row]:
            out[row] = _instant(data, starts[row], ends[row])


@compiled
def _mixed(h: int, k: int) -> int:
    k = (k * 0xCC9E2D51) & _ALL_BITS
    k = ((k << 15) | (k >> 17)) & _ALL_BITS
    h ^= (k * 0x1B873593) & _ALL_BITS
    h = ((h << 13) | (h >> 19)) & _ALL_BITS
    return (h * 5 + 0xE6546B64) & _ALL_BITS


@compiled
def places(data: Any, cuts: Any, many: int, out: Any) -> None:
    """Spark's `pmod(hash(text), many)`: Murmur3 by words of four bytes, what is left over by signed bytes."""
    for row in range(len(cuts) - 1):
        begin, end = np.int64(cuts[row]), np.int64(cuts[row + 1])
        h, i = np.int64(_SEED), begin
        while i + 4 <= end:
            word = np.int64(data[i]) | (np.int64(data[i + 1]) << 8) | (np.int64(data[i + 2]) << 16)
            h = _mixed(h, word | (np.int64(data[i + 3]) << 24))
            i += 4
        while i < end:
            h = _mixed(h, np.int64(np.int8(data[i])) & _ALL_BITS)
            i += 1
        h ^= end - begin
        h = ((h ^ (h >> 16)) * 0x85EBCA6B) & _ALL_BITS
        h = ((h ^ (h >> 13)) * 0xC2B2AE35) & _ALL_BITS
        h ^= h >> 16
        signed = h - (np.int64(1) << 32) if h >> 31 else h
        out[row] = signed % many


def _arrays() -> tuple[Any, Any, Any]:
    return (
        types.Array(uint8, 1, "C", readonly=True),
        types.Array(int32, 1, "C", readonly=True),
        types.Array(int64, 1, "C"),
    )


@cache
def gather_kernel() -> Kernel:
    """`gather`, ready to be called."""
    data, cuts, _ = _arrays()
    return ready(gather, (data, cuts, cuts, types.Array(uint8, 1, "C")))


@cache
def instant_kernel() -> Kernel:
    """`instants`, ready to be called."""
    data, cuts, numbers = _arrays()
    return ready(instants, (data, cuts, cuts, types.Array(boolean, 1, "C", readonly=True), numbers))


@cache
def place_kernel() -> Kernel:
    """`places`, ready to be called."""
    data, cuts, numbers = _arrays()
    return ready(places, (data, cuts, int64, numbers))
