"""Lines of a CSV feed as judged messages, in whole arrays: what the stage `clean` makes of them, value by value.

Every line is one row; where it is no position it has a reason. The rules are the cleaning's own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import types as T  # noqa: N812

from foresail.pipeline.feeds import array_fields
from foresail.pipeline.feeds.exact import number_of
from foresail.pipeline.feeds.rows import Lines, SplitFile, split
from foresail.pipeline.feeds.texts import Longs, Mask, Texts
from foresail.pipeline.schemas import ENGINE_STATES, POSITION_COLUMNS
from foresail.pipeline.sources.codes import DEFAULT_MMSI, SHIP_MMSI, STATION_SPANS, VESSEL_TYPES
from foresail.pipeline.sources.feed import Feed
from foresail.pipeline.sources.repairs import BITS
from foresail.pipeline.stages.array_functions import Nullable
from foresail.pipeline.stages.clean import REASONS, full_turns, rules_of
from foresail.pipeline.stages.policy import Policy

REASON_CODES = {reason: code for code, reason in enumerate(REASONS)}
NO_REASON = -1
Value = Texts | Nullable


@dataclass(frozen=True, slots=True)
class Judge:
    """By which rules rows are judged."""

    feed: Feed
    policy: Policy
    now: datetime

    @property
    def domain(self) -> str:
        """Whose rules the cleaning follows."""
        return self.feed.domain


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Rows of one piece of a file: their columns, what was mended, and why some are no positions."""

    lines: Lines
    columns: dict[str, Value]
    """Canonical columns that the feed has, and further ones."""
    reasons: NDArray[np.int8]
    repairs: Longs

    @property
    def positions(self) -> Mask:
        """Which rows are positions."""
        positions: Mask = self.reasons == NO_REASON
        return positions


class _Cells:
    """The cells of a piece by the names of their columns."""

    def __init__(self, lines: Lines, file: SplitFile) -> None:
        self._lines, self._file = lines, file

    def __call__(self, *names: str) -> Texts:
        for name in names:
            slot = self._file.slot(name)
            if slot is not None:
                return Texts(self._lines.data, self._lines.cell_starts[slot], self._lines.cell_ends[slot])
        return Texts.none(len(self._lines))

    def file_name(self) -> Texts:
        """The name of the file without its endings, in every row."""
        name = PurePosixPath(self._file.source).name
        return Texts.of([name.split(".", 1)[0] or name], np.zeros(len(self._lines), np.int64))


def judge(data: NDArray[np.uint8], first_line: int, file: SplitFile, by: Judge) -> Judged:
    """The rows of `data`, whole lines of `file` from the line of that number on."""
    lines = split(data, first_line, file)
    made = columns_of(by.feed, _Cells(lines, file), file) if not file.strange else {}
    rows = len(lines)
    repairs = np.where(lines.recoded, BITS["encoding"], 0)
    for name in [name for name in made if name.startswith("repair_")]:
        repairs |= np.where(_holds(made.pop(name)), BITS[name.removeprefix("repair_")], 0)
    station = made.pop("station", None)
    columns = {name: _typed(name, value, rows) for name, value in made.items()}
    reasons = _reasons(lines, columns, station, by)
    repairs |= _mend(columns, by.domain)
    _complete(columns, by.domain, rows)
    return Judged(lines, columns, reasons, repairs)


def further_columns(files: Sequence[SplitFile], by: Judge) -> dict[str, pa.DataType]:
    """The columns beyond the canonical ones that these files give, and their types: found by judging no lines."""
    found: dict[str, pa.DataType] = {}
    for file in files:
        columns = judge(np.zeros(0, np.uint8), 0, file, by).columns
        found |= {name: as_arrow(value).type for name, value in columns.items() if name not in POSITION_COLUMNS}
    return found


def columns_of(feed: Feed, cells: Any, file: SplitFile) -> dict[str, Any]:
    """What the feed makes of cells, and the fields that pass through under their own names."""
    assert feed.arrays is not None, "only feeds that can be read in batches come here"
    columns = feed.arrays(cells, array_fields)
    if feed.keep_rest:
        columns |= {name: cells(name) for name in file.rest if name not in columns}
    return columns


def _typed(name: str, value: Any, rows: int) -> Value:
    """A value of the type that its column has."""
    if not isinstance(value, Texts | Nullable):
        value = _constant(name, value, rows)
    kind = POSITION_COLUMNS.get(name)
    if isinstance(kind, T.StringType) and isinstance(value, Nullable):
        value = array_fields.as_text(value)
    elif isinstance(kind, T.IntegerType) and isinstance(value, Nullable) and value.values.dtype != np.int32:
        value = array_fields.as_integer(value)
    typed: Value = value
    return typed


def _constant(name: str, value: Any, rows: int) -> Value:
    kind = POSITION_COLUMNS[name]
    if isinstance(kind, T.StringType):
        return Texts.of([str(value).lower() if isinstance(value, bool) else str(value)], np.zeros(rows, np.int64))
    figure = number_of(value) if isinstance(value, str) else value
    type_: Any = np.int64
    if isinstance(kind, T.DoubleType | T.BooleanType):
        type_ = np.float64 if isinstance(kind, T.DoubleType) else np.bool_
    known = np.full(rows, figure is not None)
    return Nullable(np.full(rows, figure or 0, type_), known)


def _holds(condition: Nullable) -> Mask:
    holds: Mask = condition.values & condition.known
    return holds


def _mend(columns: dict[str, Value], domain: str) -> Longs:
    """Make sentinels and impossible values null; which repairs each row has had."""
    repairs = np.zeros(1, np.int64)
    fixed: dict[str, Nullable] = {}
    for angle in full_turns(domain):
        if angle in columns:
            value = _numbers(columns, angle)
            fixed[angle] = Nullable(np.where(value.values == 360, 0.0, value.values), value.known)
    for rule in rules_of(domain):
        if rule.column not in columns:
            continue
        value = _numbers(columns, rule.column)
        holds = rule.holds(value.values) & value.known
        if not holds.any():
            continue
        repairs = repairs | np.where(holds, BITS[rule.repair], 0)
        if rule.forgets:
            before = fixed.get(rule.column, value)
            fixed[rule.column] = Nullable(before.values, before.known & ~holds)
    columns |= fixed
    return repairs


def _numbers(columns: Mapping[str, Value], name: str) -> Nullable:
    value = columns[name]
    assert isinstance(value, Nullable), f"{name} is a number"
    return value


def _complete(columns: dict[str, Value], domain: str, rows: int) -> None:
    """Columns that follow from others: the word for a ship type, and a vehicle's speed in knots."""
    if "ship_type" in columns:
        words = [*sorted(set(VESSEL_TYPES.values())), None]
        codes = array_fields.looked_up(
            _numbers(columns, "ship_type"), {code: words.index(word) for code, word in VESSEL_TYPES.items()}
        )
        word = Texts.of(words, np.where(codes.known, codes.values, len(words) - 1))
        own = columns.get("vessel_type")
        columns["vessel_type"] = word if own is None else _first_text(own, word)
    if "engine" in columns:
        engine = columns["engine"]
        assert isinstance(engine, Texts), "an engine has a word"
        columns["engine"] = engine.mapped(lambda value: value if value in ENGINE_STATES else None)
    if domain == "fleet":
        none = Nullable(np.zeros(rows), np.zeros(rows, np.bool_))
        knots, kmh = (columns.get(name, none) for name in ("speed_kn", "speed_kmh"))
        assert isinstance(knots, Nullable)
        assert isinstance(kmh, Nullable)
        columns["speed_kn"] = array_fields.coalesce(knots, kmh / 1.852)
        columns["speed_kmh"] = array_fields.coalesce(kmh, knots * 1.852)


def _first_text(one: Value, other: Texts) -> Texts:
    assert isinstance(one, Texts), "a vessel type has a word"
    if one.known.all():
        return one
    both = np.concatenate([one.data, other.data])
    return Texts(
        both,
        np.where(one.known, one.starts, other.starts + len(one.data)),
        np.where(one.known, one.ends, np.where(other.known, other.ends + len(one.data), other.ends)),
    )


def _reasons(lines: Lines, columns: Mapping[str, Value], station: Texts | None, by: Judge) -> NDArray[np.int8]:
    """The first thing that keeps each row from being a position."""
    reasons = lines.faults.copy()
    for conditions in (
        _identity(columns, station, by, len(lines)),
        _time(columns, by, len(lines)),
        _place(columns, by, len(lines)),
    ):
        for reason, holds in conditions:
            reasons[holds & (reasons == NO_REASON)] = REASON_CODES[reason]
    return reasons


Conditions = list[tuple[str, Mask]]


def _identity(columns: Mapping[str, Value], station: Texts | None, by: Judge, rows: int) -> Conditions:
    track = columns.get("track")
    named = track.known & (track.ends > track.starts) if isinstance(track, Texts) else np.zeros(rows, np.bool_)
    found: Conditions = [("no_id", ~named)]
    if by.domain != "maritime":
        return found
    defaults = np.zeros(rows, np.bool_)
    told: Conditions = []
    free = np.ones(rows, np.bool_)
    if "mmsi" in columns:
        mmsi = _numbers(columns, "mmsi")
        defaults = mmsi.known & np.isin(mmsi.values, DEFAULT_MMSI)
        ship = mmsi.known & ~defaults & (mmsi.values >= SHIP_MMSI[0]) & (mmsi.values <= SHIP_MMSI[1])
        rest = mmsi.known & ~defaults & ~ship
        free = ~mmsi.known | ship
        for low, high, reason in STATION_SPANS if rest.any() else ():
            inside = rest & (mmsi.values >= low) & (mmsi.values <= high)
            told.append((reason, inside))
            rest &= ~inside
        told.append(("not_a_ship_id", rest))
    if station is not None:
        # what the feed says counts where the number says nothing, or says what the policy does not mind
        heard = free | (defaults if by.policy.default_ids == "keep" else np.zeros(rows, np.bool_))
        codes, words = station.encoded()
        told += [(word, heard & (codes == code)) for code, word in enumerate(words) if word]
    if by.policy.default_ids != "keep":
        found.append(("default_id", defaults))
    return found if by.policy.non_ships == "keep" else found + told


def _time(columns: Mapping[str, Value], by: Judge, rows: int) -> Conditions:
    if "time" not in columns:
        return [("no_time", np.ones(rows, np.bool_))]
    time = _numbers(columns, "time")
    return [
        ("no_time", ~time.known),
        ("implausible_time", time.known & (time.values < micros(by.policy.earliest))),
        ("future_time", time.known & (time.values > micros(by.policy.end_of_time(by.now)))),
    ]


def micros(moment: datetime) -> int:
    """Microseconds since 1970."""
    return round(moment.timestamp() * 1_000_000)


def _place(columns: Mapping[str, Value], by: Judge, rows: int) -> Conditions:
    if "lon" not in columns or "lat" not in columns:
        return [("no_position", np.full(rows, by.policy.missing_position != "keep"))]
    lon, lat = _numbers(columns, "lon"), _numbers(columns, "lat")
    known = lon.known & lat.known
    found: Conditions = [] if by.policy.missing_position == "keep" else [("no_position", ~known)]
    if by.domain == "maritime":
        found.append(("position_not_available", known & ((lon.values == 181) | (lat.values == 91))))
    high, wide = np.abs(lat.values), np.abs(lon.values)
    possible = ((high <= 90) & (wide <= 180)) | ((high <= 180) & (wide <= 90))
    found.append(("position_out_of_range", known & ~possible))
    if by.policy.zero_position == "reject":
        found.append(("zero_position", known & (lon.values == 0) & (lat.values == 0)))
    return found


def as_arrow(value: Value, rows: Any = slice(None)) -> pa.Array:
    """Some rows of a column as an array of Arrow's."""
    if isinstance(value, Texts):
        return value.take(rows).array()
    known = value.known[rows]
    return pa.array(value.values[rows], mask=None if known.all() else ~known)
