"""Plain messages as cleaned positions: what `foresail.pipeline.stages.clean` makes of them, in whole arrays.

A message that cleaning would reject, or mend in more than setting a value to null, is not taken: it goes the way of all
messages. That the others come out as they would there is what the tests compare.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foresail.pipeline.schemas import ENGINE_STATES
from foresail.pipeline.sources.codes import DEFAULT_MMSI, VESSEL_TYPES
from foresail.pipeline.sources.fields import EPOCH_MICROSECONDS
from foresail.pipeline.stages.clean import full_turns, rules_of
from foresail.pipeline.stream.messages.scan_kernel import ABSENT, FALSE, LONG, NUMBER, TEXT, TRUE, WHOLE
from foresail.pipeline.stream.messages.scanning import ScannedFields, instants_at, texts_at

Kind = Literal["number", "integer", "long", "text", "boolean"]
Mask = NDArray[np.bool_]
FIRST_SHIP, LAST_SHIP = 200_000_000, 799_999_999
DAY_US = 86_400_000_000
MOST_EXACT = 2.0**53
ARROW = {
    "number": pa.float64(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "text": pa.string(),
    "boolean": pa.bool_(),
}


@dataclass(frozen=True, slots=True)
class PlainFeed:
    """Which fields are read and as what, and what is judged plausible."""

    fields: Mapping[str, Kind]
    """Every field that must be parsed, `track`, `time`, `lon`, `lat` and `mmsi` among them."""
    carried: tuple[str, ...]
    """The columns that are wanted beside track and time."""
    domain: str
    earliest_us: int
    latest_us: int | None
    """The last plausible instant; a day after its arrival if None."""


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """Plain messages: which ones they are, and their columns."""

    plain: Mask
    track: pa.StringArray
    time_us: NDArray[np.int64]
    columns: dict[str, pa.Array]


@dataclass(slots=True, eq=False)
class _Values:
    """A column under way: values, and where there are any."""

    values: NDArray[Any]
    known: Mask

    def forget(self, wrong: Mask) -> None:
        self.known = self.known & ~wrong


class _Reader:
    """The fields of scanned messages by name; what is not as its kind says makes a message odd."""

    def __init__(self, feed: PlainFeed, scanned: ScannedFields) -> None:
        self._scanned = scanned
        self._number = {name: n for n, name in enumerate(feed.fields)}
        self.plain = scanned.plain

    def state(self, name: str) -> NDArray[np.uint8]:
        states: NDArray[np.uint8] = self._scanned.states[self._number[name]]
        return states

    def require(self, condition: Mask) -> None:
        self.plain = self.plain & condition

    def _doubles(self, name: str) -> NDArray[np.float64]:
        """The numbers of a field, those of many digits too."""
        n = self._number[name]
        values: NDArray[np.float64] = self._scanned.numbers[n]
        long = np.flatnonzero(self.state(name) == LONG)
        if len(long):
            texts = texts_at(self._scanned.data, self._scanned.starts[n][long], self._scanned.ends[n][long])
            values[long] = pc.cast(texts, pa.float64()).to_numpy()
        return values

    def numbers(self, name: str) -> _Values:
        state = self.state(name)
        self.require(state <= LONG)
        return _Values(self._doubles(name), state != ABSENT)

    def whole(self, name: str, most: float) -> _Values:
        column = self.numbers(name)
        values = column.values.astype(np.float64, copy=False)
        self.require(~column.known | ((values == np.trunc(values)) & (np.abs(values) <= most)))
        return _Values(np.where(self.plain, values, 0.0).astype(np.int64), column.known)

    def booleans(self, name: str) -> _Values:
        state = self.state(name)
        self.require((state == ABSENT) | (state == TRUE) | (state == FALSE))
        return _Values(state == TRUE, state != ABSENT)

    def texts(self, name: str) -> pa.StringArray:
        """Empty where there is none."""
        n, state = self._number[name], self.state(name)
        self.require((state == ABSENT) | (state == TEXT) | (state == WHOLE))
        starts, ends = self._scanned.starts[n], self._scanned.ends[n]
        none = (state == ABSENT) | ~self.plain
        return texts_at(self._scanned.data, starts, np.where(none, starts, ends))

    def instants(self, name: str) -> NDArray[np.int64]:
        """Microseconds since 1970 of ISO texts and of epochs in whichever unit."""
        n, state = self._number[name], self.state(name)
        spelled = state == TEXT
        self.require(spelled | (state == NUMBER) | (state == WHOLE) | (state == LONG))
        out = instants_at(self._scanned.data, self._scanned.starts[n], self._scanned.ends[n], spelled)
        if not spelled.all():
            out = np.where(spelled, out, _micros_of(self._doubles(name)))
        self.require(out > 0)
        return out


def _micros_of(epoch: NDArray[np.float64]) -> NDArray[np.int64]:
    """As `pipeline.sources.fields.time_from_epoch`: the unit by the size, halves rounded up; 0 where out of range."""
    size = np.abs(epoch)
    units = [EPOCH_MICROSECONDS[unit] for unit in ("s", "ms", "us", "ns")]
    factor = np.select([size < 1e11, size < 1e14, size < 1e17], units[:3], default=units[3])
    micros = epoch * factor
    micros = np.where(np.abs(micros) < MOST_EXACT, micros, 0.0)
    rounded: NDArray[np.int64] = np.where(micros == np.trunc(micros), micros, np.floor(micros + 0.5)).astype(np.int64)
    return rounded


def plain_positions(
    data: NDArray[np.uint8], cuts: NDArray[np.int32], arrived_us: NDArray[np.int64], feed: PlainFeed
) -> Positions:
    """The messages of `data`, cut at `cuts`, that are plain positions."""
    reader = _Reader(feed, ScannedFields(data, cuts, tuple(feed.fields)))
    time_us = reader.instants("time")
    latest = arrived_us + DAY_US if feed.latest_us is None else np.int64(feed.latest_us)
    reader.require((time_us >= feed.earliest_us) & (time_us <= latest))
    mmsi = reader.whole("mmsi", MOST_EXACT)
    if feed.domain == "maritime":
        ship = (mmsi.values >= FIRST_SHIP) & (mmsi.values <= LAST_SHIP) & ~np.isin(mmsi.values, DEFAULT_MMSI)
        reader.require(~mmsi.known | ship)
    read = _read(reader, feed)
    lon, lat = read["lon"], read["lat"]
    nowhere = (lon.values == 0) & (lat.values == 0)
    on_earth = (np.abs(lon.values) <= 180) & (np.abs(lat.values) <= 90)
    reader.require(lon.known & lat.known & on_earth & ~nowhere)
    texts = {name: reader.texts(name) for name, kind in feed.fields.items() if kind == "text" and name != "time"}
    unnamed = pc.equal(texts["track"], "").to_numpy(zero_copy_only=False)
    reader.require(~unnamed | mmsi.known)
    _mend(read, feed.domain)
    return _taken(reader.plain, time_us, texts, read, mmsi, feed)


def _read(reader: _Reader, feed: PlainFeed) -> dict[str, _Values]:
    read: dict[str, _Values] = {}
    for name, kind in feed.fields.items():
        if name in ("time", "mmsi") or kind == "text":
            continue
        if kind == "number":
            read[name] = reader.numbers(name)
        elif kind == "boolean":
            read[name] = reader.booleans(name)
        else:
            read[name] = reader.whole(name, 2.0**31 - 1 if kind == "integer" else MOST_EXACT)
    return read


def _mend(read: Mapping[str, _Values], domain: str) -> None:
    """Set sentinels and impossible values to null, by the rules of cleaning."""
    for rule in rules_of(domain):
        if rule.forgets and rule.column in read:
            read[rule.column].forget(rule.holds(read[rule.column].values))
    for angle in full_turns(domain):
        if angle in read:
            values = read[angle].values
            read[angle].values = np.where(values == 360, 0.0, values)


def _taken(
    plain: Mask,
    time_us: NDArray[np.int64],
    texts: Mapping[str, pa.StringArray],
    read: Mapping[str, _Values],
    mmsi: _Values,
    feed: PlainFeed,
) -> Positions:
    """The plain ones of all columns, completed as cleaning completes them."""
    every = bool(plain.all())
    mask = pa.array(plain)

    def text(name: str) -> pa.StringArray:
        array = texts[name] if every else texts[name].filter(mask)
        return pc.if_else(pc.equal(array, ""), pa.scalar(None, pa.string()), array)

    def column(name: str) -> pa.Array:
        values, known, kind = read[name].values, read[name].known, ARROW[feed.fields[name]]
        if not every:
            values, known = values[plain], known[plain]
        return pa.array(values.astype(kind.to_pandas_dtype(), copy=False), kind, mask=None if known.all() else ~known)

    columns = {}
    for name in feed.carried:
        if name == "vessel_type":
            columns[name] = _vessel_type(text(name), column("ship_type"))
        elif name == "engine":
            words = text(name)
            known = pc.is_in(words, pa.array(ENGINE_STATES, pa.string()))
            columns[name] = pc.if_else(known, words, pa.scalar(None, pa.string()))
        elif name == "mmsi":
            columns[name] = _numbered(mmsi, plain)
        elif feed.fields[name] == "text":
            columns[name] = text(name)
        else:
            columns[name] = column(name)
    if feed.domain == "fleet":
        columns |= _speeds({name: column(name) for name in ("speed_kn", "speed_kmh") if name in read}, feed.carried)
    track = pc.coalesce(text("track"), _numbered(mmsi, plain).cast(pa.string()))
    return Positions(plain, track, time_us[plain], columns)


def _numbered(mmsi: _Values, plain: Mask) -> pa.Int64Array:
    return pa.array(mmsi.values[plain].astype(np.int64), mask=~mmsi.known[plain])


def _vessel_type(word: pa.StringArray, ship_type: pa.Int32Array) -> pa.StringArray:
    """The word of the message, or the one for its ship type."""
    if word.null_count == 0 or ship_type.null_count == len(ship_type):
        return word
    codes = pc.index_in(ship_type, pa.array(list(VESSEL_TYPES), pa.int32()))
    return pc.coalesce(word, pa.array(list(VESSEL_TYPES.values()), pa.string()).take(codes))


def _speeds(known: Mapping[str, pa.Array], wanted: Sequence[str]) -> dict[str, pa.Array]:
    """A vehicle's speed in the unit that the message does not have."""
    knots, kmh = known.get("speed_kn"), known.get("speed_kmh")
    made = {}
    if "speed_kn" in wanted and knots is not None and kmh is not None:
        made["speed_kn"] = pc.coalesce(knots, pc.divide(kmh, 1.852))
    if "speed_kmh" in wanted and knots is not None and kmh is not None:
        made["speed_kmh"] = pc.coalesce(kmh, pc.multiply(knots, 1.852))
    return made
