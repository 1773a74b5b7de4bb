"""Kernels over NMEA lines: position reports and static data of AIS, decoded where their line is plain and dated.

A plain line is a sentence with nothing around it but a tag block before or an epoch after, its checksum right, whole or
the first of two lines that make a message together. All others are left open, to be read one by one.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import float64, int64, njit, types, uint8

from foresail.patterns.recognition.compilation import Kernel, ready

compiled = njit(cache=True, error_model="numpy", _nrt=False)

OPEN, WHOLE, FIRST, SECOND = 0, 1, 2, 3
"""What a line is: to be read one by one, a message, or the first or second line of one."""
TIME, KIND, MMSI, STATUS, SHIP_TYPE, IMO = range(6)
LON, LAT, SPEED, COURSE, HEADING, TURN, LENGTH, DRAUGHT = range(8)
NAME, CALL_SIGN, DESTINATION = range(3)
TEXTS = ((0, 20), (20, 27), (27, 47))
"""Where in the letters of a message each of its texts stands."""
NONE = -1
MOST_LETTERS = 80
NO_TIME = -1
EARLIEST_EPOCH_S, MILLISECONDS_FROM, LATEST_US = 946_684_800, 100_000_000_000, 253_402_300_799_999_999
MOST_DIGITS = 15
BANG, BACKSLASH, COMMA, STAR, COLON, SMALL_C, CR = (ord(sign) for sign in "!\\,*:c\r")
ZERO, NINE, AT, SPACE = (ord(sign) for sign in "09@ ")
_PARTS, _PART, _KEY, _KEY_END, _PAYLOAD, _LETTERS, _FILL, _SENT = range(8)


@compiled
def _is_digit(c: int) -> bool:
    return bool(ZERO <= c <= NINE)


@compiled
def _hex(c: int) -> int:
    if _is_digit(c):
        return c - ZERO
    lower = c | 32
    return lower - 87 if 97 <= lower <= 102 else NONE


@compiled
def _epoch_us(data: Any, begin: int, end: int) -> int:
    """Microseconds of an epoch in seconds or milliseconds; none where the digits must be looked at."""
    if not 1 <= end - begin <= MOST_DIGITS:
        return NO_TIME
    value = 0
    for i in range(begin, end):
        if not _is_digit(data[i]):
            return NO_TIME
        value = value * 10 + (data[i] - ZERO)
    if value == 0:
        return NO_TIME
    micros = value * 1000 if value >= MILLISECONDS_FROM else value * 1_000_000
    return micros if micros <= LATEST_US else NO_TIME


@compiled
def _tag_block(data: Any, begin: int, end: int) -> tuple[int, int]:
    """Where the block that begins there is over, and the time it tells; nowhere if it must be read by itself."""
    sent, told, field, i = NO_TIME, False, begin + 1, begin + 1
    while i < end and data[i] != BACKSLASH:
        if data[i] == BANG or data[i] >= 128:
            return NONE, NO_TIME
        if data[i] == COMMA:
            field = i + 1
        elif i == field + 1 and data[field] == SMALL_C and data[i] == COLON and not told:
            told = True
            stop = i + 1
            while stop < end and _is_digit(data[stop]):
                stop += 1
            if stop >= end or (data[stop] != COMMA and data[stop] != STAR and data[stop] != BACKSLASH):
                return NONE, NO_TIME
            sent = _epoch_us(data, i + 1, stop)
            if sent == NO_TIME:
                return NONE, NO_TIME
        i += 1
    return i + 1, sent


@compiled
def _sentence(data: Any, begin: int, end: int, found: Any) -> bool:
    """Take a plain line apart into `found`; False where it must be read by itself."""
    if end > begin and data[end - 1] == CR:
        end -= 1
    i, sent = begin, NO_TIME
    tagged = i < end and data[i] == BACKSLASH
    if tagged:
        i, sent = _tag_block(data, begin, end)
        if i == NONE:
            return False
    if i + 14 > end or data[i] != BANG:
        return False
    for k in range(i + 1, i + 3):
        if not 65 <= data[k] <= 90:
            return False
    if data[i + 3] != 86 or data[i + 4] != 68 or (data[i + 5] != 77 and data[i + 5] != 79):
        return False
    if data[i + 6] != COMMA or data[i + 8] != COMMA or data[i + 10] != COMMA:
        return False
    if not _is_digit(data[i + 7]) or not _is_digit(data[i + 9]):
        return False
    found[_PARTS], found[_PART] = data[i + 7] - ZERO, data[i + 9] - ZERO
    k = i + 11
    found[_KEY] = k
    if _is_digit(data[k]):
        k += 1
    if k + 1 >= end or data[k] != COMMA:
        return False
    k += 1
    if data[k] != COMMA:
        if not (65 <= data[k] <= 90 or _is_digit(data[k])):
            return False
        k += 1
    if k >= end or data[k] != COMMA:
        return False
    found[_KEY_END] = k
    k += 1
    found[_PAYLOAD] = k
    while k < end and (48 <= data[k] <= 87 or 96 <= data[k] <= 119):
        k += 1
    found[_LETTERS] = k - found[_PAYLOAD]
    if k + 5 > end or data[k] != COMMA or data[k + 2] != STAR or not ZERO <= data[k + 1] <= ZERO + 5:
        return False
    found[_FILL] = data[k + 1] - ZERO
    high, low = _hex(data[k + 3]), _hex(data[k + 4])
    total = 0
    for at in range(i + 1, k + 2):
        total ^= data[at]
    if high < 0 or low < 0 or total != high * 16 + low:
        return False
    rest = k + 5
    if rest < end:
        if tagged or data[rest] != COMMA:
            return False
        sent = _epoch_us(data, rest + 1, end)
        if sent < EARLIEST_EPOCH_S * 1_000_000:
            return False
    found[_SENT] = sent
    return True


@compiled
def _bits(letters: Any, begin: int, width: int) -> int:
    value = 0
    for bit in range(begin, begin + width):
        value = value * 2 + ((letters[bit // 6] >> (5 - bit % 6)) & 1)
    return value


@compiled
def _signed(letters: Any, begin: int, width: int) -> int:
    value = _bits(letters, begin, width)
    return value - (1 << width) if value >> (width - 1) else value


@compiled
def _text(letters: Any, begin: int, out: Any, row: int, first: int, last: int, spans: Any, text: int) -> None:
    """The letters of a text without the signs that fill it up; where in `out` it begins and ends."""
    for k in range(last - first):
        code = _bits(letters, begin + 6 * k, 6)
        out[row, first + k] = code + 64 if code < 32 else code
    low, high = first, last
    while high > low and out[row, high - 1] == AT:
        high -= 1
    while high > low and out[row, high - 1] == SPACE:
        high -= 1
    while low < high and out[row, low] == SPACE:
        low += 1
    spans[row, 2 * text], spans[row, 2 * text + 1] = low, high


@compiled
def _message(
    letters: Any, count: int, fill: int, turns: Any, ship_types: Any,
    row: int, whole: Any, real: Any, texts: Any, spans: Any,
) -> bool:  # fmt: skip
    """Decode a message into its row; False where it is of another type or length."""
    kind, bits = _bits(letters, 0, 6), count * 6 - fill
    whole[row, KIND], whole[row, MMSI] = kind, 0
    if bits < 40:
        return False
    whole[row, MMSI] = _bits(letters, 8, 30)
    if 1 <= kind <= 3 and bits == 168:
        whole[row, STATUS] = _bits(letters, 38, 4)
        real[row, TURN] = turns[_bits(letters, 42, 8)]
        real[row, SPEED] = _bits(letters, 50, 10) / 10.0
        at = 61
    elif kind == 9 and bits == 168:
        real[row, SPEED] = _bits(letters, 50, 10)
        at = 61
    elif (kind == 18 and bits == 168) or (kind == 19 and bits == 312):
        real[row, SPEED] = _bits(letters, 46, 10) / 10.0
        at = 57
    elif kind == 27 and bits == 96:
        whole[row, STATUS] = _bits(letters, 40, 4)
        real[row, LON] = ((10000 * _signed(letters, 44, 18) + 3) // 6) / 1e6
        real[row, LAT] = ((10000 * _signed(letters, 62, 17) + 3) // 6) / 1e6
        speed, course = _bits(letters, 79, 6), _bits(letters, 85, 9)
        real[row, SPEED] = 102.3 if speed == 63 else speed
        real[row, COURSE] = 360.0 if course == 511 else course
        return True
    else:
        return _static(letters, kind, bits, ship_types, row, whole, real, texts, spans)
    real[row, LON] = ((10 * _signed(letters, at, 28) + 3) // 6) / 1e6
    real[row, LAT] = ((10 * _signed(letters, at + 28, 27) + 3) // 6) / 1e6
    real[row, COURSE] = _bits(letters, at + 55, 12) / 10.0
    if kind != 9:
        real[row, HEADING] = _bits(letters, at + 67, 9)
    if kind == 19:
        _text(letters, 143, texts, row, 0, 20, spans, NAME)
        whole[row, SHIP_TYPE] = ship_types[_bits(letters, 263, 8)]
        real[row, LENGTH] = _bits(letters, 271, 9) + _bits(letters, 280, 9)
    return True


@compiled
def _static(
    letters: Any, kind: int, bits: int, ship_types: Any, row: int, whole: Any, real: Any, texts: Any, spans: Any
) -> bool:
    if kind == 5 and 422 <= bits <= 426:
        whole[row, IMO] = _bits(letters, 40, 30)
        _text(letters, 70, texts, row, 20, 27, spans, CALL_SIGN)
        _text(letters, 112, texts, row, 0, 20, spans, NAME)
        whole[row, SHIP_TYPE] = ship_types[_bits(letters, 232, 8)]
        real[row, LENGTH] = _bits(letters, 240, 9) + _bits(letters, 249, 9)
        real[row, DRAUGHT] = _bits(letters, 294, 8) / 10.0
        _text(letters, 302, texts, row, 27, 47, spans, DESTINATION)
        return True
    if kind != 24 or not 160 <= bits <= 168:
        return False
    part = _bits(letters, 38, 2)
    if part == 0:
        _text(letters, 40, texts, row, 0, 20, spans, NAME)
        return True
    if part == 1 and bits >= 162 and whole[row, MMSI] // 10_000_000 != 98:
        whole[row, SHIP_TYPE] = _bits(letters, 40, 8)
        _text(letters, 90, texts, row, 20, 27, spans, CALL_SIGN)
        real[row, LENGTH] = _bits(letters, 132, 9) + _bits(letters, 141, 9)
        return True
    return False


@compiled
def _payload(data: Any, found: Any, letters: Any, at: int) -> int:
    """Unpack the letters of a sentence behind those that are there; how many there are then."""
    for k in range(found[_LETTERS]):
        c = data[found[_PAYLOAD] + k] - 48
        letters[at + k] = c - 8 if c > 40 else c
    return at + found[_LETTERS]


@compiled
def _same_key(data: Any, one: Any, other: Any) -> bool:
    """Whether two sentences have the same message number and channel."""
    length = one[_KEY_END] - one[_KEY]
    if other[_KEY_END] - other[_KEY] != length:
        return False
    same = True
    for k in range(length):
        same &= data[one[_KEY] + k] == data[other[_KEY] + k]
    return bool(same)


@compiled
def decode(
    data: Any, starts: Any, ends: Any, turns: Any, ship_types: Any, scratch: Any, letters: Any,
    states: Any, whole: Any, real: Any, texts: Any, spans: Any,
) -> None:  # fmt: skip
    """What each line is; the values of a message stand in the row of its last line."""
    one, other = scratch[0], scratch[1]
    row, rows = 0, len(starts)
    while row < rows:
        this = row
        row += 1
        if not _sentence(data, starts[this], ends[this], one) or not 0 < one[_LETTERS] <= MOST_LETTERS:
            continue
        count = _payload(data, one, letters, 0)
        if one[_PARTS] == 1 and one[_PART] == 1:
            if one[_SENT] != NO_TIME and _message(
                letters, count, one[_FILL], turns, ship_types, this, whole, real, texts, spans
            ):
                whole[this, TIME], states[this] = one[_SENT], WHOLE
            continue
        if one[_PARTS] != 2 or one[_PART] != 1 or one[_FILL] != 0 or row >= rows:
            continue
        if not _sentence(data, starts[row], ends[row], other) or other[_PARTS] != 2 or other[_PART] != 2:
            continue
        sent = one[_SENT] if one[_SENT] != NO_TIME else other[_SENT]
        together = count + other[_LETTERS]
        if sent == NO_TIME or not other[_LETTERS] or together > MOST_LETTERS or not _same_key(data, one, other):
            continue
        count = _payload(data, other, letters, count)
        if _message(letters, count, other[_FILL], turns, ship_types, row, whole, real, texts, spans):
            whole[row, TIME], states[this], states[row] = sent, FIRST, SECOND
            row += 1


_BYTES, _PLACES = types.Array(uint8, 1, "C", readonly=True), types.Array(int64, 1, "C", readonly=True)
_TURNS = types.Array(float64, 1, "C", readonly=True)
_GRID, _REALS, _LETTER_GRID = types.Array(int64, 2, "C"), types.Array(float64, 2, "C"), types.Array(uint8, 2, "C")

SIGNATURES: dict[Any, tuple[Any, ...]] = {
    decode: (
        _BYTES, _PLACES, _PLACES, _TURNS, _PLACES, _GRID, types.Array(int64, 1, "C"),
        types.Array(uint8, 1, "C"), _GRID, _REALS, _LETTER_GRID, _GRID,
    ),
}  # fmt: skip


@cache
def kernel(function: Callable[..., Any]) -> Kernel:
    """One of the functions above, ready to be called."""
    return ready(function, SIGNATURES[function])


def _compile_all() -> None:
    for function in SIGNATURES:
        kernel(function)


def scratch_arrays() -> tuple[Any, Any]:
    """What `decode` needs to work in."""
    return np.zeros((2, 8), np.int64), np.zeros(MOST_LETTERS, np.int64)


KERNELS: dict[str, Callable[[], object]] = {"messages of AIS": _compile_all}
"""What `foresail kernels` compiles."""
