"""Finds the fields of JSON messages in one pass over their bytes.

Only what is written plainly is read: a flat object in ASCII, every field at most once, numbers without an exponent,
texts that are wanted without escapes. Any other message is left alone, for a parser that knows all of JSON: so nothing
has to be decided here on which two parsers could differ.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import boolean, float64, int32, int64, njit, types, uint8

from foresail.patterns.recognition.compilation import Kernel, ready

ABSENT, NUMBER, WHOLE, LONG, TEXT, TRUE, FALSE = range(7)
"""How a field is written: not at all or null; a number, one of digits alone, one of more digits than a double is sure
to keep; a text; true; false."""
LONGEST_PLAIN = 1_000
"""Bytes of a message. Shorter ones cannot be nested too deep, nor have a number too long, for any parser."""
MOST_FIELDS = 60
MOST_KEYS = 128

_BRACE, _END, _QUOTE, _COLON, _COMMA, _BACKSLASH = (ord(c) for c in '{}":,\\')
_MINUS, _POINT, _ZERO, _NINE, _BLANK, _TAB, _LINE, _RETURN = (ord(c) for c in "-.09 \t\n\r")
_AT, _FIRST_PRINTED, _FIRST_WIDE = ord("@"), 0x20, 0x80
_ESCAPED = tuple(ord(c) for c in '"\\/bfnrt')
_NULL, _TRUE, _FALSE = (np.frombuffer(word, dtype=np.uint8) for word in (b"null", b"true", b"false"))
_POWERS = np.array([10.0**n for n in range(19)])
_MOST_DIGITS = 18
_MOST_EXACT = 2**53
_NOT_ASKED = -1

compiled = njit(cache=True, error_model="numpy", _nrt=False)
step = njit(cache=True, error_model="numpy", _nrt=False, inline="always")


@step
def _after_blanks(data: Any, i: int, end: int) -> int:
    while i < end and (data[i] == _BLANK or data[i] == _TAB or data[i] == _LINE or data[i] == _RETURN):
        i += 1
    return i


@step
def _is_at(data: Any, i: int, end: int, word: Any) -> bool:
    if end - i < len(word):
        return False
    for k in range(len(word)):  # noqa: SIM110 - a kernel
        if data[i + k] != word[k]:
            return False
    return True


@step
def _same(data: Any, one: int, other: int, length: int) -> bool:
    for k in range(length):  # noqa: SIM110 - a kernel
        if data[one + k] != data[other + k]:
            return False
    return True


@compiled
def _field_of(data: Any, start: int, end: int, names: Any, name_at: Any) -> int:
    """The number of the field that is called so, or that nobody asked for it."""
    for field in range(len(name_at) - 1):
        begin = name_at[field]
        if name_at[field + 1] - begin != end - start:
            continue
        same = True
        for k in range(end - start):
            if data[start + k] != names[begin + k]:
                same = False
                break
        if same:
            return field
    return _NOT_ASKED


@compiled
def _text_end(data: Any, i: int, end: int, asked: bool) -> int:
    """Where the text that begins here ends, or -1 if it is not plain."""
    while i < end:
        c = data[i]
        if c == _QUOTE:
            return i
        if c < _FIRST_PRINTED or c >= _FIRST_WIDE:
            return -1
        if c == _BACKSLASH:
            if asked or i + 1 >= end:
                return -1
            i += 1
            c = data[i]
            if c not in _ESCAPED:
                return -1
        i += 1
    return -1


@compiled
def _number(data: Any, i: int, end: int) -> tuple[int, int, float]:
    """Where the number that begins here ends (-1 if it is not plain), how it is written, and its value."""
    negative = data[i] == _MINUS
    if negative:
        i += 1
    first = i
    mantissa, digits, decimals = np.int64(0), 0, 0
    while i < end and _ZERO <= data[i] <= _NINE:
        if digits < _MOST_DIGITS:
            mantissa = mantissa * 10 + np.int64(data[i] - _ZERO)
        digits += 1
        i += 1
    if digits == 0 or (digits > 1 and data[first] == _ZERO):
        return -1, ABSENT, 0.0
    whole = True
    if i < end and data[i] == _POINT:
        whole = False
        i += 1
        while i < end and _ZERO <= data[i] <= _NINE:
            if digits < _MOST_DIGITS:
                mantissa = mantissa * 10 + np.int64(data[i] - _ZERO)
            digits += 1
            decimals += 1
            i += 1
        if decimals == 0:
            return -1, ABSENT, 0.0
    if mantissa == 0 and (negative or digits > _MOST_DIGITS):
        return -1, ABSENT, 0.0  # parsers differ on minus zero
    if digits > _MOST_DIGITS or mantissa > _MOST_EXACT:
        return i, LONG, 0.0
    # both are exact, so the quotient is rounded once, to the nearest double
    value = float(mantissa) / _POWERS[decimals]
    return i, (WHOLE if whole and not negative else NUMBER), (-value if negative else value)


@compiled
def _key(data: Any, start: int, end: int, number: int, names: Any, name_at: Any, keys: Any) -> tuple[int, int]:
    """Where the key that begins here ends (-1 if it is not plain), and which field it names.

    `keys` remembers where each key of the message before stood and which field it is: messages of a stream are alike.
    """
    length = keys[number, 1]
    alike = length >= 0 and start + length < end and data[start + length] == _QUOTE
    if alike and _same(data, start, keys[number, 0], length):
        return start + length, keys[number, 2]
    i = _text_end(data, start, end, True)
    if i < 0:
        return -1, _NOT_ASKED
    field = _field_of(data, start, i, names, name_at)
    keys[number, 0], keys[number, 1], keys[number, 2] = start, i - start, field
    return i, field


@compiled
def _value(data: Any, i: int, end: int, field: int, row: int, found: Any, numbers: Any) -> int:
    """Read the value that begins here into `field`, if that was asked for; where it ends, or -1 if it is not plain."""
    starts, ends, states = found
    asked = field >= 0
    c, state, start = data[i], ABSENT, i
    if c == _QUOTE:
        start = i + 1
        until = _text_end(data, start, end, asked)
        if until < 0:
            return -1
        i = until + 1
        # blanks and AIS filling around a text are no part of it
        while start < until and (data[start] == _BLANK or data[start] == _AT):
            start += 1
        while start < until and (data[until - 1] == _BLANK or data[until - 1] == _AT):
            until -= 1
        if asked:
            state = TEXT if until > start else ABSENT
            starts[field, row], ends[field, row] = start, until
    elif c == _MINUS or _ZERO <= c <= _NINE:
        i, state, value = _number(data, i, end)
        if asked and i >= 0:
            numbers[field, row] = value
            starts[field, row], ends[field, row] = start, i
    elif _is_at(data, i, end, _TRUE):
        i, state = i + len(_TRUE), TRUE
    elif _is_at(data, i, end, _FALSE):
        i, state = i + len(_FALSE), FALSE
    elif _is_at(data, i, end, _NULL):
        i += len(_NULL)
    else:
        return -1
    if asked:
        states[field, row] = state
    return i


@compiled
def _message(
    data: Any, begin: int, end: int, row: int, names: Any, name_at: Any, keys: Any, found: Any, numbers: Any
) -> bool:
    """Read one message; whether it is plain."""
    if end - begin > LONGEST_PLAIN or end - begin < len("{}") or data[begin] != _BRACE or data[end - 1] != _END:
        return False
    i = _after_blanks(data, begin + 1, end)
    seen, number = np.int64(0), 0
    while True:
        if i >= end or data[i] != _QUOTE or number >= MOST_KEYS:
            return False
        i, field = _key(data, i + 1, end, number, names, name_at, keys)
        number += 1
        if i < 0:
            return False
        if field >= 0:
            if (seen >> field) & 1:
                return False
            seen |= np.int64(1) << field
        i = _after_blanks(data, i + 1, end)
        if i >= end or data[i] != _COLON:
            return False
        i = _after_blanks(data, i + 1, end)
        if i >= end:
            return False
        i = _value(data, i, end, field, row, found, numbers)
        if i < 0:
            return False
        i = _after_blanks(data, i, end)
        if i >= end:
            return False
        if data[i] == _END:
            return i == end - 1
        if data[i] != _COMMA:
            return False
        i = _after_blanks(data, i + 1, end)


@compiled
def scan(data: Any, at: Any, names: Any, name_at: Any, keys: Any, found: Any, numbers: Any, plain: Any) -> None:
    """Read every message of `data`, cut at `at`, for the fields whose names are `names`, cut at `name_at`."""
    for row in range(len(at) - 1):
        plain[row] = _message(data, at[row], at[row + 1], row, names, name_at, keys, found, numbers)


@cache
def scan_kernel() -> Kernel:
    """`scan`, ready to be called."""
    bytes_, cuts = types.Array(uint8, 1, "C", readonly=True), types.Array(int32, 1, "C", readonly=True)
    places, states = types.Array(int32, 2, "C"), types.Array(uint8, 2, "C")
    found = types.Tuple((places, places, states))
    keys, numbers = types.Array(int64, 2, "C"), types.Array(float64, 2, "C")
    return ready(scan, (bytes_, cuts, bytes_, cuts, keys, found, numbers, types.Array(boolean, 1, "C")))
