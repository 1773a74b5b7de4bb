"""Rows of tables as notifications: which types a row is of, its time, its place in the input and its attributes.

Tables differ in their columns, and so do the types in one table; what a row does not have is null.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.conditions import AttributeType, Condition, attributes_of, check_types
from foresail.patterns.conditions.evaluate import ArrayColumn, evaluate
from foresail.patterns.errors import UnknownAttributeError, nearest
from foresail.patterns.tesla.entry import TeslaEntry
from foresail.patterns.tesla.machine import Notifications
from foresail.patterns.tesla.plan import TICK, RulePlan
from foresail.patterns.tesla.values import Dictionary, number_values, text_values, truth_values
from foresail.pipeline.api.notices import rejected_text
from foresail.pipeline.conditions.arrow import array_column, attribute_type
from foresail.pipeline.errors import InputError
from foresail.pipeline.local.event_times import read_times
from foresail.pipeline.local.files import MIXED, Reading, read_each
from foresail.pipeline.local.frames import ArrowFrame, Frame, whole
from foresail.pipeline.local.sorted_events import BAD_TIME, NO_TIME, Named, require
from foresail.pipeline.local.trying import EventSource

TYPE, TIME = "type", "time"
NO_TYPE = "no_type"
MOST_TICKS = 5_000_000
NO_PLACE = 2**62
"""The place in the input of what is not from the input."""
_SECOND_US = 1e6


@dataclass(frozen=True, slots=True, eq=False)
class EventTable:
    """One table of the input; `first` is the place of its first row in all of it."""

    frame: Frame
    first: int
    times: NDArray[np.int64]
    rows: NDArray[np.int64]
    """The rows that have a time."""
    of_type: str | None = None
    """The type that all rows are of, where a table is of one type."""
    _columns: dict[str, ArrayColumn | None] = field(default_factory=dict)

    def column(self, name: str) -> ArrayColumn | None:
        """A column as conditions read it; None where it is not there or cannot be read."""
        if name not in self._columns:
            held = whole(self.frame.column(name)) if name in self.frame.columns else None
            readable = held is not None and attribute_type(held.type) is not None
            self._columns[name] = array_column(held, name) if readable and held is not None else None
        return self._columns[name]

    def values(self, name: str, dictionary: Dictionary) -> NDArray[np.float64] | None:
        """A column as the numbers that rules read, by the row of the frame."""
        if name not in self.frame.columns:
            return None
        held = whole(self.frame.column(name))
        if held.type == MIXED:
            parts = [_encoded(array_column(held.field(n), name), dictionary) for n in range(MIXED.num_fields)]
            return np.where(~np.isnan(parts[0]), parts[0], np.where(~np.isnan(parts[1]), parts[1], parts[2]))
        column = self.column(name)
        return None if column is None else _encoded(column, dictionary)


@dataclass(frozen=True, slots=True, eq=False)
class EventTables:
    """All tables of the input."""

    tables: tuple[EventTable, ...]
    notes: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()

    @property
    def events(self) -> int:
        """How many rows are events."""
        return sum(len(table.rows) for table in self.tables)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of any table."""
        return tuple(dict.fromkeys(name for table in self.tables for name in table.frame.columns))


def read_event_files(source: EventSource, by_column: bool) -> EventTables:
    """The tables of some files, in the order given; `by_column` where the column `type` tells the types."""
    reading = Reading(source.named.track, source.named.time, source.types, mixed=True)
    parts = read_each(source.paths, reading)
    frames = [ArrowFrame(part.table) for part in parts]
    unreadable = [line for part in parts for line in part.unreadable]
    return event_tables(frames, source.named, by_column, unreadable, guess=True)


def event_tables(
    frames: Sequence[Frame], named: Named, by_column: bool, unreadable: Sequence[str] = (), guess: bool = False
) -> EventTables:
    """Frames as tables of events; rows without a time are told as rejected."""
    tables: list[EventTable] = []
    notes: dict[str, None] = {}
    rejected = [{"reason": "unreadable", "raw": line} for line in unreadable]
    counts: dict[str, int] = {"unreadable": len(unreadable)} if unreadable else {}
    first = 0

    def say_unit(unit: str) -> None:
        notes[f"column '{named.time}' holds numbers, taken as {unit}; --time-unit says otherwise"] = None

    for frame in frames:
        require(frame, named.time, "time")
        if by_column:
            _require_type(frame)
        times = read_times(frame.column(named.time), named.time, named.time_unit, say_unit if guess else None)
        if times.naive:
            notes[f"column '{named.time}' has times without a zone: they are taken as UTC"] = None
        good = np.ones(frame.rows, dtype=np.bool_) if times.known is None else times.known.copy()
        given = good if times.given is None else times.given
        faults = {NO_TIME: ~good & ~given, BAD_TIME: ~good & given}
        if by_column:
            known = ~np.asarray(whole(frame.column(TYPE)).is_null())
            faults[NO_TYPE] = good & ~known
            good &= known
        for reason, rows in faults.items():
            for row in np.flatnonzero(rows):
                counts[reason] = counts.get(reason, 0) + 1
                rejected.append({"reason": reason, "raw": _raw(frame, int(row))})
        tables.append(EventTable(frame, first, times.micros, np.flatnonzero(good)))
        first += frame.rows
    if counts:
        notes[rejected_text(counts, first + len(unreadable))] = None
    lines = tuple(json.dumps(row, ensure_ascii=False) for row in rejected)
    return EventTables(tuple(tables), tuple(notes), lines)


def _require_type(frame: Frame) -> None:
    if TYPE not in frame.columns:
        columns = ", ".join(frame.columns)
        msg = (
            f"events: there is no column 'type', which says what each event is. {nearest(TYPE, frame.columns)}"
            f"Add it, or write types: in the entry, as in types: {{Slow: speed_kn < 2}}. Columns: {columns}."
        )
        raise InputError(msg)


def _raw(frame: Frame, row: int) -> str:
    held = {name: whole(frame.column(name))[row].as_py() for name in frame.columns}
    return json.dumps({k: v for k, v in held.items() if v is not None}, default=str, ensure_ascii=False)


def _encoded(column: ArrayColumn, dictionary: Dictionary) -> NDArray[np.float64]:
    match column.type:
        case AttributeType.STRING:
            words = list(column.dictionary) if column.dictionary is not None else []
            values = text_values(dictionary.codes(words))
            found = np.append(values, np.nan)[np.clip(column.values, -1, len(words))] if words else _nulls(column)
        case AttributeType.BOOLEAN:
            found = truth_values(column.values.astype(np.bool_))
        case AttributeType.TIMESTAMP:
            found = number_values(column.values) / _SECOND_US
        case _:
            found = number_values(column.values)
    return found if column.valid is None else np.where(column.valid, found, np.nan)


def _nulls(column: ArrayColumn) -> NDArray[np.float64]:
    return np.full(len(column.values), np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class Notified:
    """The notifications of a rule set, and what a reader should know of them."""

    notifications: Notifications
    notes: tuple[str, ...]


def notify(
    entry: TeslaEntry,
    plan: RulePlan,
    tables: EventTables,
    named: Named,
    dictionary: Dictionary,
    matches: Mapping[str, Sequence[EventTable]] | None = None,
    ticking: tuple[int, int] | None = None,
) -> Notified:
    """The events of all tables that rules read, in order of time and then of the input; `matches` are by pattern.

    Ticks come from the first to the last event, or within `ticking`.
    """
    numbers = {name: number for number, name in enumerate(plan.lowered.types)}
    conditions = entry.conditions()
    schema = _schema(tables, named)
    for name, condition in conditions.items():
        _check_condition(entry, name, condition, schema)
    sources = [*tables.tables]
    for name, pattern in entry.matched().items():
        sources += [replace(table, of_type=name) for table in (matches or {}).get(pattern, ())]
    parts = [
        _of_table(table, plan, numbers, conditions, schema, bool(entry.types), named, dictionary) for table in sources
    ]
    merged = _merged([part for part in parts if len(part)], len(plan.lowered.attributes))
    notes = _missing_notes(entry, plan, tables, merged)
    ordered = in_order(merged)
    if entry.tick_us is not None and TICK in numbers:
        ordered = with_ticks(ordered, numbers[TICK], entry.tick_us, ticking or span_of(tables), entry.name)
    return Notified(ordered, tuple(notes))


def span_of(tables: EventTables) -> tuple[int, int] | None:
    """The times of the first and last event of any type."""
    times = [table.times[table.rows] for table in tables.tables if len(table.rows)]
    return (min(int(t.min()) for t in times), max(int(t.max()) for t in times)) if times else None


def _schema(tables: EventTables, named: Named) -> dict[str, AttributeType]:
    found: dict[str, AttributeType] = {}
    for table in tables.tables:
        for name in table.frame.columns:
            kind = attribute_type(whole(table.frame.column(name)).type)
            if kind is not None:
                found.setdefault(name, kind)
    found[named.time] = AttributeType.TIMESTAMP
    found.setdefault(TIME, AttributeType.TIMESTAMP)
    return found


def _check_condition(entry: TeslaEntry, name: str, condition: Condition, schema: Mapping[str, AttributeType]) -> None:
    place = entry.placed("types", name).place
    for attribute in attributes_of(condition):
        if attribute.key not in schema:
            raise UnknownAttributeError(attribute.key, schema, place)
    check_types(condition, schema, place)


def _of_table(
    table: EventTable,
    plan: RulePlan,
    numbers: Mapping[str, int],
    conditions: Mapping[str, Condition],
    schema: Mapping[str, AttributeType],
    declared: bool,
    named: Named,
    dictionary: Dictionary,
) -> Notifications:
    if table.of_type is not None:
        found = [(numbers[table.of_type], table.rows)] if table.of_type in numbers else []
    elif declared:
        found = [
            (numbers[name], _holding(table, condition, schema, named))
            for name, condition in conditions.items()
            if name in numbers
        ]
    else:
        found = list(_by_column(table, numbers))
    rows = np.concatenate([rows for _, rows in found]) if found else np.empty(0, dtype=np.int64)
    types = np.concatenate([np.full(len(rows), n) for n, rows in found]) if found else rows
    order = np.argsort(rows, kind="stable")
    rows, types = rows[order], types[order].astype(np.int64)
    distinct, at = np.unique(rows, return_inverse=True)
    values = np.full((len(distinct), max(len(plan.lowered.attributes), 1)), np.nan)
    for place, name in enumerate(plan.lowered.attributes):
        held = table.values(name, dictionary)
        if held is not None:
            values[:, place] = held[distinct]
    return Notifications(types, table.times[rows], table.first + rows, at.astype(np.int64), values)


def _by_column(table: EventTable, numbers: Mapping[str, int]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    column = table.column(TYPE)
    if column is None or column.type is not AttributeType.STRING or column.dictionary is None:
        msg = "events: the column 'type' holds no names of types. Give texts, such as Temp."
        raise InputError(msg)
    codes = np.array([numbers.get(word, -1) for word in column.dictionary] or [-1], dtype=np.int64)
    of_row = codes[np.clip(column.values[table.rows], 0, len(codes) - 1)]
    for number in np.unique(of_row[of_row >= 0]):
        yield int(number), table.rows[of_row == number]


def _holding(
    table: EventTable, condition: Condition, schema: Mapping[str, AttributeType], named: Named
) -> NDArray[np.int64]:
    """The rows on which a condition holds; what the table does not have is unknown."""
    columns: dict[str, ArrayColumn] = {}
    for attribute in attributes_of(condition):
        name = attribute.key
        held = table.column(name)
        if name in (TIME, named.time):
            held = ArrayColumn(table.times, None, AttributeType.TIMESTAMP)
        elif held is None or held.type is not schema[name]:
            held = _as_kind(held, schema[name], len(table.times))
        columns[name] = held
    holds = evaluate(condition, columns, len(table.times))
    return table.rows[holds[table.rows]]


def _as_kind(column: ArrayColumn | None, kind: AttributeType, rows: int) -> ArrayColumn:
    """A column that another table has in another type: numbers are numbers, all else is unknown."""
    if column is not None and {column.type, kind} <= {AttributeType.NUMBER, AttributeType.INTEGER}:
        if kind is AttributeType.NUMBER:
            return ArrayColumn(column.values.astype(np.float64), column.valid, kind)
        return column
    dictionary = () if kind is AttributeType.STRING else None
    empty = {AttributeType.NUMBER: np.float64, AttributeType.BOOLEAN: np.bool_, AttributeType.STRING: np.int32}
    return ArrayColumn(
        np.zeros(rows, dtype=empty.get(kind, np.int64)), np.zeros(rows, dtype=np.bool_), kind, dictionary
    )


def _merged(parts: Sequence[Notifications], attributes: int) -> Notifications:
    if not parts:
        none = np.empty(0, dtype=np.int64)
        return Notifications(none, none, none, none, np.empty((0, max(attributes, 1))))
    starts = np.cumsum([0, *(len(part.values) for part in parts)])
    return Notifications(
        np.concatenate([part.types for part in parts]),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.sources for part in parts]),
        np.concatenate([part.at + start for part, start in zip(parts, starts, strict=False)]),
        np.concatenate([part.values for part in parts]),
    )


def in_order(events: Notifications) -> Notifications:
    """The events by time; those of one instant in the order of the input."""
    if (np.diff(events.times) >= 0).all():
        return events
    order = np.argsort(events.times, kind="stable")
    return Notifications(
        events.types[order], events.times[order], events.sources[order], events.at[order], events.values
    )


def with_ticks(
    events: Notifications, number: int, tick_us: int, span: tuple[int, int] | None, name: str
) -> Notifications:
    """The events with a Tick at each multiple of `tick_us` in the span, after all events of its instant."""
    if span is None:
        return events
    first, last = -(-span[0] // tick_us), span[1] // tick_us
    if last - first >= MOST_TICKS:
        msg = (
            f"{name}: tick makes {last - first + 1:,} events over the span of the input; {MOST_TICKS:,} are the limit. "
            "Choose a longer one, or look for a row with a time that is far off."
        )
        raise InputError(msg)
    times = np.arange(first, last + 1, dtype=np.int64) * tick_us
    blank = np.full((1, events.values.shape[1]), np.nan)
    all_times = np.concatenate([events.times, times])
    order = np.argsort(all_times, kind="stable")
    return Notifications(
        np.concatenate([events.types, np.full(len(times), number)])[order],
        all_times[order],
        np.concatenate([events.sources, np.full(len(times), NO_PLACE)])[order],
        np.concatenate([events.at, np.full(len(times), len(events.values))])[order],
        np.concatenate([events.values, blank]),
    )


def _missing_notes(entry: TeslaEntry, plan: RulePlan, tables: EventTables, events: Notifications) -> list[str]:
    """Types and attributes that rules name and the events do not have."""
    notes: list[str] = []
    present = {plan.lowered.types[number] for number in np.unique(events.types)}
    other = set() if entry.types else _types_present(tables)
    for name in plan.read:
        if name in present or (name == TICK and entry.tick):
            continue
        hint = nearest(name, other - set(plan.read))
        notes.append(f"{entry.name}: no event is of type '{name}'. {hint}".rstrip())
    for name in sorted(present):
        known = events.values[events.at[events.types == plan.lowered.types.index(name)]]
        for attribute in plan.attributes_of(name):
            if np.isnan(known[:, plan.lowered.attributes.index(attribute)]).all():
                hint = nearest(attribute, set(tables.columns) - {TIME, TYPE, attribute})
                notes.append(
                    f"{entry.name}: no event of type '{name}' has the attribute '{attribute}'. {hint}".rstrip()
                )
    return notes


def _types_present(tables: EventTables) -> set[str]:
    found: set[str] = set()
    for table in tables.tables:
        column = table.column(TYPE)
        if column is not None and column.dictionary is not None:
            found |= set(column.dictionary)
    return found
