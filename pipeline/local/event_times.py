"""Times of any Arrow type as microseconds since 1970 in UTC; what is no time is told apart from what is absent."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foresail.pipeline.errors import InputError
from foresail.pipeline.local.frames import whole

PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
UNITS_BELOW = (("s", 1e11), ("ms", 1e14), ("us", 1e17))
"""Epoch times up to the year 5138 are below these; larger ones are in nanoseconds."""
NO_EPOCH_FROM = 1e19
FIRST_US, LAST_US = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The years 1 to 9999."""


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """Microseconds, and which of them are times at all."""

    micros: NDArray[np.int64]
    known: NDArray[np.bool_] | None
    """None where all are."""
    given: NDArray[np.bool_] | None = None
    """Which rows have a value, be it a time or not; None where it is the same as `known`."""
    naive: bool = False
    """Whether they came without a zone, and were taken as UTC."""


def read_times(
    column: pa.Array | pa.ChunkedArray, name: str, unit: str | None, guess: Callable[[str], None] | None = None
) -> Times:
    """The times of a column; for epoch numbers in `unit`, or in the one that they tell if `guess` wants to hear it."""
    array = whole(column)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    kind = array.type
    if pa.types.is_null(kind):
        return Times(np.zeros(len(array), dtype=np.int64), np.zeros(len(array), dtype=np.bool_))
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _stamps(array, naive=getattr(kind, "tz", None) is None)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _epochs(array, name, unit, guess)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _texts(array.cast(pa.string()), name, unit, guess)
    msg = f"column {name}: is {kind}, not a time. Give ISO 8601 text, an epoch number or a timestamp."
    raise InputError(msg)


def _stamps(array: pa.Array, naive: bool) -> Times:
    kind = array.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        nanos = array.cast(pa.int64())
        micros = np.floor_divide(np.asarray(pc.fill_null(nanos, 0)), 1000)
    else:
        wide = array.cast(pa.timestamp("us"), safe=False) if pa.types.is_date(kind) else array
        try:
            micros = np.asarray(pc.fill_null(wide.cast(pa.timestamp("us", tz=getattr(kind, "tz", None))), 0)).view("i8")
        except pa.ArrowInvalid:  # beyond all years
            seconds = np.asarray(pc.fill_null(array.cast(pa.int64()), 0)).astype(np.float64)
            scale = 1e6 / PER_SECOND[kind.unit]
            micros = np.clip(seconds * scale, FIRST_US - 1, LAST_US + 1).astype(np.int64)
    return _bounded(micros, _valid(array), naive)


def _epochs(array: pa.Array, name: str, unit: str | None, guess: Callable[[str], None] | None) -> Times:
    if unit is None and guess is None:
        msg = (
            f"column {name}: holds numbers ({array.type}), which may be seconds or milliseconds. "
            "Say which: time_unit='s', 'ms', 'us' or 'ns'."
        )
        raise InputError(msg)
    numbers = np.asarray(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    chosen = unit or _unit_of_numbers(numbers, guess)
    if chosen not in PER_SECOND:
        msg = f"time_unit '{chosen}': is no unit of time. Give s, ms, us or ns."
        raise InputError(msg)
    if pa.types.is_integer(array.type) and array.type != pa.uint64():
        exact = np.asarray(pc.fill_null(array.cast(pa.int64()), 0))
        micros = _scaled(exact, numbers, chosen)
    else:
        seconds = np.nan_to_num(numbers, nan=0.0, posinf=2e18, neginf=-2e18)
        scaled = np.floor(seconds / 1000) if chosen == "ns" else np.round(seconds * (1e6 / PER_SECOND[chosen]))
        micros = np.clip(scaled, FIRST_US - 1, LAST_US + 1).astype(np.int64)
    valid = _valid(array)
    nan = np.isnan(numbers)
    if nan.any():
        valid = ~nan if valid is None else valid & ~nan
    return _bounded(micros, valid, naive=False)


def _scaled(exact: NDArray[np.int64], numbers: NDArray[np.float64], unit: str) -> NDArray[np.int64]:
    """Whole epoch numbers in microseconds, those beyond all years just outside of them."""
    if unit == "ns":
        return np.floor_divide(exact, 1000)
    factor = 1_000_000 // PER_SECOND[unit]
    far = np.abs(np.nan_to_num(numbers)) * factor > LAST_US + 1
    return np.where(far, LAST_US + 1, np.where(far, 0, exact) * factor)


def _unit_of_numbers(numbers: NDArray[np.float64], guess: Callable[[str], None] | None) -> str:
    """The unit that the median tells: one number that is out of all bounds must not change the others."""
    sizes = np.abs(numbers[np.isfinite(numbers)])
    sizes = np.sort(sizes[sizes < NO_EPOCH_FROM])
    median = float(sizes[(len(sizes) - 1) // 2]) if len(sizes) else 0.0
    unit = next((unit for unit, below in UNITS_BELOW if median < below), "ns")
    if guess:
        guess(unit)
    return unit


def _texts(array: pa.Array, name: str, unit: str | None, guess: Callable[[str], None] | None) -> Times:
    """Texts as times: whole columns at once where all have a zone or none has, else each distinct text."""
    for kind in (pa.timestamp("us", tz="UTC"), pa.timestamp("us")):
        try:
            return _stamps(array.cast(kind), naive=kind.tz is None)
        except pa.ArrowInvalid:
            continue
    distinct = array.dictionary_encode()
    words = [str(word).strip() for word in distinct.dictionary.to_pylist()]
    numbers = pa.array([_number(word) for word in words], pa.float64())
    epochs = _epochs(numbers, name, unit, guess) if numbers.null_count < len(words) else None
    parsed = [_parsed(word) for word in words]
    micros = np.array([0 if found is None else found for found, _ in parsed], dtype=np.int64)
    fine = np.array([found is not None for found, _ in parsed], dtype=np.bool_)
    if epochs is not None:
        is_number = np.asarray(numbers.is_valid())
        sound = np.ones(len(words), dtype=np.bool_) if epochs.known is None else epochs.known
        micros, fine = np.where(is_number, epochs.micros, micros), np.where(is_number, sound, fine)
    codes = np.asarray(pc.fill_null(distinct.indices, 0))
    given = _valid(array)
    known = fine[codes] if given is None else fine[codes] & given
    naive = any(found is not None and bare for found, bare in parsed)
    return Times(micros[codes], known, np.ones(len(array), dtype=np.bool_) if given is None else given, naive)


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _parsed(word: str) -> tuple[int | None, bool]:
    """One text as microseconds, None where it is no time; and whether it has no zone."""
    try:
        time = datetime.fromisoformat(word)
    except ValueError:
        return None, False
    aware = time if time.tzinfo else time.replace(tzinfo=UTC)
    delta = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds, time.tzinfo is None


def _valid(array: pa.Array) -> NDArray[np.bool_] | None:
    return None if not array.null_count else np.asarray(array.is_valid())


def _bounded(micros: NDArray[Any], valid: NDArray[np.bool_] | None, naive: bool) -> Times:
    """The times within the years 1 to 9999; others are given, but no times."""
    micros = micros.astype(np.int64, copy=False)
    if len(micros) and (micros.min() < FIRST_US or micros.max() > LAST_US):
        inside = (micros >= FIRST_US) & (micros <= LAST_US)
        given = np.ones(len(micros), dtype=np.bool_) if valid is None else valid
        return Times(np.where(inside, micros, 0), given & inside, given, naive)
    return Times(micros, valid, naive=naive)
