"""Kernels over the bytes of a text file: where lines and cells are, and what numbers and instants the plain ones spell.

What is not plain (a quote inside a cell, a number of many digits, an instant in another form) is said to be odd; it is
read exactly, and slowly, by `foresail.pipeline.feeds.exact`.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import boolean, float64, int64, njit, types, uint8

from foresail.patterns.recognition.compilation import Kernel, ready

compiled = njit(cache=True, error_model="numpy", _nrt=False)

LF, CR, QUOTE, SPACE, POINT, MINUS, PLUS, COLON = (ord(c) for c in '\n\r" .-+:')
ZERO, NINE, T, Z = (ord(c) for c in "09TZ")
KNOWN, UNKNOWN, ODD = 0, 1, 2
"""What a cell is: a value, none, or one that must be read exactly."""
PLAIN, ODD_LINE, BLANK, HEADER, MISFIT = 0, 1, 2, 3, 4
NO_TEXT = -1
"""The end of a cell that holds nothing."""
MOST_DIGITS = 15
"""A whole number of so many digits, over a power of ten, is the nearest number there is after one division."""
MOST_DECIMALS = 22
_TENS = 10.0 ** np.arange(MOST_DECIMALS + 1)
_DAYS_BEFORE = np.array([0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365], dtype=np.int64)
NO_TIME = -(1 << 63)
"""An instant that there is none of."""
MOST_FRACTION = 6


@compiled
def find_lines(data: Any, starts: Any, ends: Any) -> int:
    """Where lines begin and end (by LF, CR or both); how many there are. The last need not have an end."""
    lines, begin, i, size = 0, 0, 0, len(data)
    while i < size:
        c = data[i]
        if c == LF or c == CR:  # noqa: SIM109, PLR1714 - numba would make a tuple
            starts[lines], ends[lines] = begin, i
            lines += 1
            if c == CR and i + 1 < size and data[i + 1] == LF:
                i += 1
            begin = i + 1
        i += 1
    if begin < size:
        starts[lines], ends[lines] = begin, size
        lines += 1
    return lines


@compiled
def count_line_ends(data: Any) -> int:
    """At most so many lines end here."""
    count = 0
    for i in range(len(data)):
        count += data[i] == LF or data[i] == CR
    return count


@compiled
def _is_header(data: Any, begin: int, end: int, header: Any) -> bool:
    if end - begin != len(header) or end == begin:
        return False
    for k in range(len(header)):  # noqa: SIM110 - numba has no all()
        if data[begin + k] != header[k]:
            return False
    return True


@compiled
def split_cells(
    data: Any,
    starts: Any,
    ends: Any,
    delimiter: int,
    slots: Any,
    header: Any,
    odd_high: bool,
    longest: int,
    cell_starts: Any,
    cell_ends: Any,
    states: Any,
) -> None:
    """Where the cells of each line are, of the columns that have a slot; and what kind of line it is.

    `odd_high` says that the bytes are not all UTF-8, so that lines beyond ASCII must be looked at one by one.
    """
    fields = len(slots)
    for row in range(len(starts)):
        begin, end = starts[row], ends[row]
        for slot in range(cell_ends.shape[0]):
            cell_ends[slot, row] = NO_TEXT
        low, high = begin, end
        while low < high and data[low] == SPACE:
            low += 1
        while high > low and data[high - 1] == SPACE:
            high -= 1
        if low == high:
            states[row] = BLANK
            continue
        odd = end - begin > longest
        field, i = 0, begin
        while not odd:
            first = i
            if i < end and data[i] == QUOTE:
                i += 1
                while i < end and data[i] != QUOTE:
                    odd |= odd_high and data[i] >= 128
                    i += 1
                if i == end or (i + 1 < end and data[i + 1] != delimiter):
                    odd = True
                    break
                if field < fields and slots[field] >= 0:
                    cell_starts[slots[field], row], cell_ends[slots[field], row] = first + 1, i
                i += 1
            else:
                while i < end and data[i] != delimiter:
                    odd |= data[i] == QUOTE or (odd_high and data[i] >= 128)
                    i += 1
                if i > first and field < fields and slots[field] >= 0:
                    cell_starts[slots[field], row], cell_ends[slots[field], row] = first, i
            field += 1
            if i >= end:
                break
            i += 1  # past the delimiter: a line that ends with one has an empty cell after it
        if odd:
            states[row] = ODD_LINE
        elif _is_header(data, low, high, header):
            states[row] = HEADER
        else:
            states[row] = PLAIN if field == fields else MISFIT


@compiled
def numbers(data: Any, starts: Any, ends: Any, values: Any, states: Any) -> None:
    """The numbers that plain cells spell."""
    for row in range(len(starts)):
        i, end = starts[row], ends[row]
        values[row] = 0.0
        if end < 0:
            states[row] = UNKNOWN
            continue
        negative = i < end and data[i] == MINUS
        if negative:
            i += 1
        whole, digits, decimals, significant = 0, 0, 0, 0
        while i < end and ZERO <= data[i] <= NINE:
            whole = whole * 10 + np.int64(data[i] - ZERO)
            digits += 1
            significant += whole != 0
            i += 1
            if significant > MOST_DIGITS:
                break
        if digits and i < end and data[i] == POINT:
            i += 1
            while i < end and ZERO <= data[i] <= NINE and significant <= MOST_DIGITS and decimals < MOST_DECIMALS:
                whole = whole * 10 + np.int64(data[i] - ZERO)
                decimals += 1
                significant += whole != 0
                i += 1
        if i < end or digits == 0 or significant > MOST_DIGITS:
            states[row] = ODD
            continue
        value = np.float64(whole) / _TENS[decimals]
        values[row] = -value if negative else value
        states[row] = KNOWN


@compiled
def _two(data: Any, i: int) -> int:
    a, b = np.int64(data[i]) - ZERO, np.int64(data[i + 1]) - ZERO
    return a * 10 + b if 0 <= a <= 9 and 0 <= b <= 9 else -1


@compiled
def micros_of(year: int, month: int, day: int, hour: int, minute: int, second: int) -> int:
    """Microseconds since 1970 of a date and a time of day; NO_TIME where there is none such."""
    if year < 1 or month < 1 or month > 12 or day < 1:
        return NO_TIME
    if hour < 0 or hour > 23 or minute < 0 or minute > 59 or second < 0 or second > 59:
        return NO_TIME
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    in_month = _DAYS_BEFORE[month] - _DAYS_BEFORE[month - 1] + (1 if leap and month == 2 else 0)
    if day > in_month:
        return NO_TIME
    before = year - 1
    days = 365 * (year - 1970) + before // 4 - before // 100 + before // 400 - 477 + _DAYS_BEFORE[month - 1] + day - 1
    if leap and month > 2:
        days += 1
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000


@compiled
def iso_instants(data: Any, starts: Any, ends: Any, values: Any, zoned: Any, states: Any) -> None:
    """The instants of `2026-01-31T12:00:00[.123456][Z|+02|+02:00]`; `zoned` where the text names its offset."""
    for row in range(len(starts)):
        i, end = starts[row], ends[row]
        values[row], zoned[row] = 0, False
        if end < 0:
            states[row] = UNKNOWN
            continue
        states[row] = ODD
        if end - i < 19 or data[i + 4] != MINUS or data[i + 7] != MINUS or data[i + 13] != COLON:
            continue
        if (data[i + 10] != T and data[i + 10] != SPACE) or data[i + 16] != COLON:
            continue
        century, years = _two(data, i), _two(data, i + 2)
        if century < 0 or years < 0:
            continue
        micros = micros_of(
            century * 100 + years,
            _two(data, i + 5),
            _two(data, i + 8),
            _two(data, i + 11),
            _two(data, i + 14),
            _two(data, i + 17),
        )
        if micros == NO_TIME:
            continue
        i += 19
        if i < end and data[i] == POINT:
            i += 1
            unit, begin = 100_000, i
            while i < end and i - begin < MOST_FRACTION and ZERO <= data[i] <= NINE:
                micros += np.int64(data[i] - ZERO) * unit
                unit //= 10
                i += 1
            if i == begin:
                continue
        if i < end:
            if data[i] == Z and i + 1 == end:
                zoned[row] = True
                i += 1
            elif (data[i] == PLUS or data[i] == MINUS) and (end - i == 3 or (end - i == 6 and data[i + 3] == COLON)):
                hours = _two(data, i + 1)
                minutes = _two(data, i + 4) if end - i == 6 else 0
                if hours < 0 or hours > 17 or minutes < 0 or minutes > 59:
                    continue
                away = (hours * 60 + minutes) * 60_000_000
                micros += -away if data[i] == PLUS else away
                zoned[row] = True
                i = end
        if i == end:
            values[row] = micros
            states[row] = KNOWN


@compiled
def formed_instants(data: Any, starts: Any, ends: Any, form: Any, length: int, values: Any, states: Any) -> None:
    """The instants of texts of one form: where in it year, month, day, hour, minute and second stand (-1: not there).

    `form` continues with pairs of a place and the sign that must stand there.
    """
    for row in range(len(starts)):
        i, end = starts[row], ends[row]
        values[row], states[row] = 0, UNKNOWN
        if end < 0 or end - i != length:
            continue
        fits = True
        for k in range(6, len(form), 2):
            fits &= data[i + form[k]] == form[k + 1]
        century, years = _two(data, i + form[0]), _two(data, i + form[0] + 2)
        if not fits or century < 0 or years < 0:
            continue
        hour = _two(data, i + form[3]) if form[3] >= 0 else 0
        minute = _two(data, i + form[4]) if form[4] >= 0 else 0
        second = _two(data, i + form[5]) if form[5] >= 0 else 0
        micros = micros_of(
            century * 100 + years, _two(data, i + form[1]), _two(data, i + form[2]), hour, minute, second
        )
        if micros != NO_TIME:
            values[row], states[row] = micros, KNOWN


@compiled
def gather_texts(data: Any, starts: Any, cuts: Any, out: Any) -> None:
    """Copy the texts one after the other; `cuts` is where each begins in `out`, and the end."""
    for row in range(len(starts)):
        at, begin = cuts[row], starts[row]
        for k in range(cuts[row + 1] - at):
            out[at + k] = data[begin + k]


@compiled
def strip_texts(data: Any, starts: Any, ends: Any, signs: Any) -> None:
    """Leave out the signs of a table of 256 at both ends of texts; what is left empty holds nothing."""
    for row in range(len(starts)):
        i, end = starts[row], ends[row]
        if end >= 0:
            while i < end and signs[data[i]]:
                i += 1
            while end > i and signs[data[end - 1]]:
                end -= 1
            starts[row], ends[row] = i, (end if end > i else NO_TEXT)


_BYTES = types.Array(uint8, 1, "C", readonly=True)
_LONGS = types.Array(int64, 1, "C", readonly=True)
_OUT, _OUT_STATES = types.Array(int64, 1, "C"), types.Array(uint8, 1, "C")
_FLAGS = types.Array(boolean, 1, "C")
_GRID = types.Array(int64, 2, "C")

SIGNATURES: dict[Any, tuple[Any, ...]] = {
    find_lines: (_BYTES, _OUT, _OUT),
    count_line_ends: (_BYTES,),
    split_cells: (_BYTES, _LONGS, _LONGS, int64, _LONGS, _BYTES, boolean, int64, _GRID, _GRID, _OUT_STATES),
    numbers: (_BYTES, _LONGS, _LONGS, types.Array(float64, 1, "C"), _OUT_STATES),
    iso_instants: (_BYTES, _LONGS, _LONGS, _OUT, _FLAGS, _OUT_STATES),
    formed_instants: (_BYTES, _LONGS, _LONGS, _LONGS, int64, _OUT, _OUT_STATES),
    gather_texts: (_BYTES, _LONGS, _LONGS, _OUT_STATES),
    strip_texts: (_BYTES, _OUT, _OUT, types.Array(boolean, 1, "C", readonly=True)),
}


@cache
def kernel(function: Callable[..., Any]) -> Kernel:
    """One of the functions above, ready to be called."""
    return ready(function, SIGNATURES[function])


def _compile_all() -> None:
    for function in SIGNATURES:
        kernel(function)


KERNELS: dict[str, Callable[[], object]] = {"cells of text": _compile_all}
"""What `foresail kernels` compiles."""
