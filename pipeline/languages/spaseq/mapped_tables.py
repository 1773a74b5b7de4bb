"""Tables as streams of graphs: the rows of a table under a mapping, as columns of numbers and as texts of graphs.

Both come from the same values, so that a query finds the same over either.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foresail.patterns.errors import nearest
from foresail.patterns.spaseq.column_table import Column, ColumnTable
from foresail.patterns.spaseq.events import GraphEvent, Rejected
from foresail.patterns.spaseq.lower import SUBJECT
from foresail.patterns.spaseq.mapping import DECIMALS, LARGEST, Kind, MappedColumn, TableMapping, Terms
from foresail.pipeline.errors import InputError
from foresail.pipeline.local.event_times import Times, read_times
from foresail.pipeline.local.frames import Frame, whole

Floats: TypeAlias = NDArray[np.float64]
ORIGIN = "row"


@dataclass(frozen=True, slots=True)
class MappedRows:
    """Rows in the order of subject and time."""

    first_of: NDArray[np.int64]
    """The first row of each subject, and the end."""
    times: NDArray[np.int64]
    rows: NDArray[np.int64]
    """Their places in the table."""
    columns: Mapping[str, Column]
    """By predicate; the subject's is `SUBJECT`."""
    rejected: tuple[Rejected, ...] = ()
    twice: bool = False
    """Whether rows of one subject and instant were kept, to be merged."""
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.times)

    def by_subject(self) -> ColumnTable:
        """Each subject by itself."""
        return ColumnTable(self.first_of, self.times, self.columns)

    def by_time(self) -> ColumnTable | None:
        """All rows in the order of time; None where an instant has several."""
        order = np.argsort(self.times, kind="stable")
        times = self.times[order]
        if (times[1:] == times[:-1]).any():
            return None
        ends = np.array([0, len(times)], np.int64)
        return ColumnTable(ends, times, {name: one.taken(order) for name, one in self.columns.items()})

    def graphs(self, stream: str) -> Iterator[GraphEvent]:
        """A graph for each instant: the union of its rows."""
        order = np.argsort(self.times, kind="stable")
        times = self.times[order].tolist()
        columns = {name: self.columns[name].taken(order) for name in self.columns}
        subjects = columns.pop(SUBJECT)
        said = [""] * len(times)
        who = [subjects.term(value) for value in subjects.values.tolist()]
        for predicate, column in columns.items():
            known = np.flatnonzero(~np.isnan(column.values))
            remembered: dict[float, str] = {}
            for row, value in zip(known.tolist(), column.values[known].tolist(), strict=True):
                term = remembered.get(value)
                if term is None:
                    term = remembered[value] = column.term(value)
                said[row] += f"{who[row]} <{predicate}> {term} ."
        begin = 0
        for end in range(1, len(times) + 1):
            if end == len(times) or times[end] != times[begin]:
                yield GraphEvent(
                    stream, times[begin], "\n".join(said[begin:end]), f"{ORIGIN} {self.rows[order[begin]]}"
                )
                begin = end


def terms_of(mapping: TableMapping, schema: Mapping[str, pa.DataType], source: str) -> dict[str, Terms]:
    """How every column of a mapping is written, told by the types of the table; `source` names the mapping."""
    found = {SUBJECT: _terms(mapping.subject, schema, source)}
    found |= {predicate: _terms(column, schema, source) for predicate, column in mapping.columns.items()}
    return found


def _terms(column: MappedColumn, schema: Mapping[str, pa.DataType], source: str) -> Terms:
    if column.name not in schema:
        known = ", ".join(schema)
        msg = f"{source}: the events have no column '{column.name}'. {nearest(column.name, schema)}Columns: {known}."
        raise InputError(msg)
    kind = column.kind or _kind_of(schema[column.name])
    if kind is None:
        msg = (
            f"{source}: column '{column.name}' is {schema[column.name]}, which no term is written for. "
            f"Say type: string, or leave it out."
        )
        raise InputError(msg)
    return Terms(kind, column.before, column.after)


def _kind_of(kind: pa.DataType) -> Kind | None:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    return "string" if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind) else None


def schema_of(frame: Frame, names: Iterable[str]) -> dict[str, pa.DataType]:
    """The types of a frame's columns; of those that are not named, only that they are there."""
    named = set(names)
    return {name: frame.column(name).type if name in named else pa.null() for name in frame.columns}


def mapped_rows(
    frame: Frame,
    mapping: TableMapping,
    terms: Mapping[str, Terms],
    time: str,
    time_unit: str | None,
    merge: bool = False,
) -> MappedRows:
    """The rows of a frame; without `merge` the first of each subject and instant alone."""
    notes: list[str] = []

    def say(unit: str) -> None:
        notes.append(f"column '{time}' holds numbers, taken as {unit}; --time-unit says otherwise")

    times = read_times(frame.column(time), time, time_unit, say)
    if times.naive:
        notes.append("times without a zone are taken as UTC")
    names = {SUBJECT: mapping.subject.name} | {iri: column.name for iri, column in mapping.columns.items()}
    columns = _columns(frame, {key: (names[key], terms[key]) for key in names if key in terms})
    subjects = columns[SUBJECT].values
    good, rejected = _good(subjects, times)
    order = good[np.lexsort((times.micros[good], subjects[good]))]
    again = (np.diff(subjects[order]) == 0) & (np.diff(times.micros[order]) == 0)
    if again.any() and not merge:
        twice = order[1:][again]
        detail = "its subject has a row at this instant already"
        rejected += [Rejected(f"{ORIGIN} {row}", "second graph at one instant", detail) for row in twice.tolist()]
        order = np.concatenate([order[:1], order[1:][~again]])
    codes = subjects[order]
    first = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]])) if len(codes) else np.zeros(0, np.int64)
    return MappedRows(
        np.append(first, len(codes)).astype(np.int64),
        times.micros[order],
        order,
        {name: column.taken(order) for name, column in columns.items()},
        tuple(rejected),
        bool(again.any()) and merge,
        tuple(notes),
    )


def _good(subjects: Floats, times: Times) -> tuple[NDArray[np.int64], list[Rejected]]:
    nameless = np.isnan(subjects)
    untimed = ~times.known if times.known is not None else np.zeros(len(subjects), np.bool_)
    rejected = [Rejected(f"{ORIGIN} {row}", "no subject", "none given") for row in np.flatnonzero(nameless).tolist()]
    for row in np.flatnonzero(untimed & ~nameless).tolist():
        rejected.append(Rejected(f"{ORIGIN} {row}", "no time", "no time that can be read"))
    return np.flatnonzero(~(nameless | untimed)), rejected


def _columns(frame: Frame, wanted: Mapping[str, tuple[str, Terms]]) -> dict[str, Column]:
    """Columns as numbers; those of texts by places in lists that columns of one kind of terms share."""
    lists: dict[Terms, dict[str, int]] = {}
    coded: dict[str, Floats] = {}
    for key, (name, terms) in wanted.items():
        array = whole(frame.column(name))
        if terms.kind in ("string", "iri"):
            coded[key] = _coded(array, lists.setdefault(terms, {}), terms.kind == "iri")
        else:
            coded[key] = _numbers(array, terms.kind)
    texts: dict[Terms, Sequence[str]] = {terms: tuple(places) for terms, places in lists.items()}
    return {key: Column(coded[key], terms, texts.get(terms, ())) for key, (_, terms) in wanted.items()}


def _coded(array: pa.Array, places: dict[str, int], needs_text: bool) -> Floats:
    if pa.types.is_floating(array.type):
        array = _as_whole(array)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    encoded = array.cast(pa.string()).dictionary_encode()
    words = encoded.dictionary.to_pylist()
    codes = [np.nan if needs_text and not word else float(places.setdefault(word, len(places))) for word in words]
    places_of: NDArray[np.int64] = np.asarray(pc.fill_null(encoded.indices, len(words)), np.int64)
    values: Floats = np.array([*codes, np.nan])[places_of]
    return values


def _as_whole(array: pa.Array) -> pa.Array:
    """Numbers of vessels that became fractions because some are missing, as whole numbers again."""
    values = array.to_numpy(zero_copy_only=False).astype(np.float64)
    missing = ~np.isfinite(values)
    if (np.where(missing, 0.0, values) % 1 != 0).any():
        return array
    return pa.array(np.where(missing, 0.0, values).astype(np.int64), mask=missing)


def _numbers(array: pa.Array, kind: Kind) -> Floats:
    """Values that have a term: finite, exact, without a negative zero."""
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_boolean(array.type) != (kind == "boolean") or pa.types.is_null(array.type):
        return np.full(len(array), np.nan)
    try:
        plain = array.cast(pa.int8() if kind == "boolean" else pa.float64(), safe=False)
    except pa.ArrowException:
        return np.full(len(array), np.nan)
    values = np.array(plain.to_numpy(zero_copy_only=False), np.float64)
    if kind == "boolean":
        return values
    with np.errstate(invalid="ignore", over="ignore"):
        values = (values if kind == "double" else np.round(values, DECIMALS)) + 0.0
        none = ~(np.abs(values) < LARGEST) | ((values % 1 != 0) if kind == "integer" else False)
    values[none] = np.nan
    return values
