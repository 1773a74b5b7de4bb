"""The ids of many results at once: SHA-256 (FIPS 180-4) of the fields that name each, as a kernel.

Made one by one in Python, ids take longer than finding the matches they name.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numba import int64, typeof
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled, inlined
from foresail.patterns.recognition.compilation import Kernel, ready
from foresail.pipeline.results.ids import ID_DIGITS, SEPARATOR

_BLOCK, _LENGTH_AT = 64, 56
_SEPARATOR, _MINUS, _COMMA, _ZERO = (ord(sign) for sign in (SEPARATOR, "-", ",", "0"))
_HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
_PRIMES = [n for n in range(2, 312) if all(n % m for m in range(2, n))]


def _fraction(number: int, root: int) -> int:
    """The first 32 bits of the fraction of the second or third root, which the standard takes its constants from."""
    shifted, low, high = number << (32 * root), 0, number << 32
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**root <= shifted else (low, middle)
    return low & 0xFFFFFFFF


_BEGIN = np.array([_fraction(prime, 2) for prime in _PRIMES[:8]], dtype=np.uint32)
_ROUND = np.array([_fraction(prime, 3) for prime in _PRIMES], dtype=np.uint32)


class Texts(NamedTuple):
    """Some texts one after the other as UTF-8, and where each begins and the last ends."""

    data: NDArray[np.uint8]
    cuts: NDArray[np.int64]


class Named(NamedTuple):
    """What names each result: three texts by their number, two numbers, and a list `[begin, end)` of numbers."""

    head: NDArray[np.integer]
    instance: NDArray[np.integer]
    track: NDArray[np.integer]
    time: NDArray[np.integer]
    tie: NDArray[np.integer]
    begin: NDArray[np.integer]
    end: NDArray[np.integer]
    position: NDArray[np.integer]
    """The numbers of the list are told by how far they lie before this one."""


class Hashing(NamedTuple):
    """A message under way: its state, its words, the block that is being filled, and room for digits of a number."""

    state: NDArray[np.uint32]
    words: NDArray[np.uint32]
    block: NDArray[np.uint8]
    digits: NDArray[np.uint8]

    @classmethod
    def room(cls) -> "Hashing":
        """Room for one message at a time."""
        return cls(np.empty(8, np.uint32), np.empty(64, np.uint32), np.empty(_BLOCK, np.uint8), np.empty(20, np.uint8))


@inlined
def _turned(word: Any, by: int) -> Any:
    return np.uint32((word >> np.uint32(by)) | (word << np.uint32(32 - by)))


@compiled
def _mix(hashing: Hashing) -> None:
    """Take the full block into the state."""
    w, block, state = hashing.words, hashing.block, hashing.state
    for i in range(16):
        at = 4 * i
        w[i] = np.uint32(
            (np.uint32(block[at]) << np.uint32(24))
            | (np.uint32(block[at + 1]) << np.uint32(16))
            | (np.uint32(block[at + 2]) << np.uint32(8))
            | np.uint32(block[at + 3])
        )
    for i in range(16, 64):
        early, late = w[i - 15], w[i - 2]
        low = _turned(early, 7) ^ _turned(early, 18) ^ (early >> np.uint32(3))
        high = _turned(late, 17) ^ _turned(late, 19) ^ (late >> np.uint32(10))
        w[i] = np.uint32(w[i - 16] + low + w[i - 7] + high)
    a, b, c, d = state[0], state[1], state[2], state[3]
    e, f, g, h = state[4], state[5], state[6], state[7]
    for i in range(64):
        chosen = (e & f) ^ (~e & g)
        one = np.uint32(h + (_turned(e, 6) ^ _turned(e, 11) ^ _turned(e, 25)) + chosen + _ROUND[i] + w[i])
        most = (a & b) ^ (a & c) ^ (b & c)
        two = np.uint32((_turned(a, 2) ^ _turned(a, 13) ^ _turned(a, 22)) + most)
        h, g, f, e = g, f, e, np.uint32(d + one)
        d, c, b, a = c, b, a, np.uint32(one + two)
    state[0] = np.uint32(state[0] + a)
    state[1] = np.uint32(state[1] + b)
    state[2] = np.uint32(state[2] + c)
    state[3] = np.uint32(state[3] + d)
    state[4] = np.uint32(state[4] + e)
    state[5] = np.uint32(state[5] + f)
    state[6] = np.uint32(state[6] + g)
    state[7] = np.uint32(state[7] + h)


@compiled
def _put(hashing: Hashing, length: int, byte: int) -> int:
    """Add a byte to a message of that length; the length after it."""
    hashing.block[length % _BLOCK] = byte
    if length % _BLOCK == _BLOCK - 1:
        _mix(hashing)
    return length + 1


@compiled
def _put_text(hashing: Hashing, length: int, texts: Texts, number: int) -> int:
    for i in range(texts.cuts[number], texts.cuts[number + 1]):
        length = _put(hashing, length, texts.data[i])
    return _put(hashing, length, _SEPARATOR)


@compiled
def _put_number(hashing: Hashing, length: int, value: int) -> int:
    if value < 0:
        length = _put(hashing, length, _MINUS)
        value = -value
    many = 0
    while many == 0 or value > 0:
        hashing.digits[many] = _ZERO + value % 10
        value //= 10
        many += 1
    for place in range(many - 1, -1, -1):
        length = _put(hashing, length, hashing.digits[place])
    return length


@compiled
def _end(hashing: Hashing, length: int) -> None:
    """Fill up the last block as the standard asks: a bit, zeros, the length in bits."""
    at = _put(hashing, length, 0x80)
    while at % _BLOCK != _LENGTH_AT:
        at = _put(hashing, at, 0)
    for shift in range(_LENGTH_AT, -1, -8):
        at = _put(hashing, at, (8 * length >> shift) & 0xFF)


@compiled
def write_ids(
    heads: Texts,
    instances: Texts,
    tracks: Texts,
    named: Named,
    members: NDArray[np.int64],
    listing: int,
    hashing: Hashing,
    out: NDArray[np.uint8],
) -> None:
    """Write the digits of each id; where `listing` is set, the list is part of what names a result."""
    for row in range(len(named.head)):
        for i in range(8):
            hashing.state[i] = _BEGIN[i]
        length = _put_text(hashing, 0, heads, named.head[row])
        length = _put_text(hashing, length, instances, named.instance[row])
        length = _put_text(hashing, length, tracks, named.track[row])
        length = _put_number(hashing, length, named.time[row])
        length = _put(hashing, length, _SEPARATOR)
        length = _put_number(hashing, length, named.tie[row])
        if listing:
            length = _put(hashing, length, _SEPARATOR)
            for member in range(named.begin[row], named.end[row]):
                if member > named.begin[row]:
                    length = _put(hashing, length, _COMMA)
                length = _put_number(hashing, length, named.position[row] - members[member])
        _end(hashing, length)
        for digit in range(ID_DIGITS):
            shift = np.uint32(28 - 4 * (digit % 8))
            out[row * ID_DIGITS + digit] = _HEX[(hashing.state[digit // 8] >> shift) & np.uint32(15)]


def texts_of(texts: pa.Array) -> Texts:
    """The bytes of an array of texts that lacks none."""
    plain = texts.cast(pa.large_string())
    if not len(plain):
        return Texts(np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64))
    _, cuts, data = plain.buffers()
    held = np.zeros(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    at = np.frombuffer(cuts, dtype=np.int64)[plain.offset : plain.offset + len(plain) + 1]
    return Texts(held[at[0] : at[-1]].copy(), at - at[0])


def ids_of(
    heads: pa.Array, instances: pa.Array, tracks: pa.Array, named: Named, members: NDArray[np.int64] | None = None
) -> pa.Array:
    """The id of each result, as `ids.id_of` makes it of head, instance, track, time, tie and, if given, the list."""
    rows = len(named.head)
    out = np.empty(rows * ID_DIGITS, dtype=np.uint8)
    columns = Named(
        *(np.array(values, dtype=np.int64) for values in named)
    )  # copies: the kernel asks for writable ones
    listed = np.zeros(0, dtype=np.int64) if members is None else np.array(members, dtype=np.int64)
    texts = (texts_of(heads), texts_of(instances), texts_of(tracks))
    id_kernel()(*texts, columns, listed, int(members is not None), Hashing.room(), out)
    cuts = np.arange(rows + 1, dtype=np.int32) * np.int32(ID_DIGITS)
    return pa.StringArray.from_buffers(rows, pa.py_buffer(cuts), pa.py_buffer(out))


@cache
def id_kernel() -> Kernel:
    """`write_ids`, ready to be called."""
    longs = np.zeros(0, dtype=np.int64)
    texts, named = typeof(Texts(np.zeros(0, dtype=np.uint8), longs)), typeof(Named(*[longs] * len(Named._fields)))
    hashing = Hashing.room()
    return ready(write_ids, (texts, texts, texts, named, typeof(longs), int64, typeof(hashing), typeof(hashing.block)))


KERNELS: dict[str, Callable[[], Kernel]] = {"ids": id_kernel}
