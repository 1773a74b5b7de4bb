"""The parcels of one bucket as finished tracks: sorted, settled, with derived attributes, and measured on the way."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import to_arrow_type

from foresail.pipeline.feeds import settle_kernels as kernels
from foresail.pipeline.feeds.judging import Judge, further_columns
from foresail.pipeline.feeds.parcels import LINE, RAW, Parcel, RowFigures
from foresail.pipeline.feeds.pieces import Piece
from foresail.pipeline.feeds.rows import SplitFile
from foresail.pipeline.feeds.settle_kernels import KEPT, kernel
from foresail.pipeline.feeds.settling import LATE_KINDS, LATE_REASONS, Settled, TrackRows, settle
from foresail.pipeline.feeds.texts import Longs
from foresail.pipeline.quality.figures import EventFigures
from foresail.pipeline.schemas import DERIVED_COLUMNS, POSITION_COLUMNS
from foresail.pipeline.stages.array_functions import Nullable
from foresail.pipeline.stages.derive import REMEMBERED, DeriveOptions, derived_arrays, options_of

SLICE_ROWS = 250_000
"""Attributes are derived for so many rows at once: the arrays in between stay small."""
UTC_MICROS = pa.timestamp("us", "UTC")
ASIDE = pa.schema([("source", pa.string()), (LINE, pa.int64()), ("reason", pa.string()), (RAW, pa.string())])
KINDS = {name: to_arrow_type(kind) for name, kind in {**POSITION_COLUMNS, **DERIVED_COLUMNS}.items()}
TRUNCATED = "truncated_file"


@dataclass(slots=True, eq=False)
class Finished:
    """A bucket of tracks: its events, the rows set aside, and what was counted."""

    events: pa.Table
    rejected: pa.Table
    duplicates: pa.Table
    counted: RowFigures
    measured: EventFigures
    out_of_order: int = 0
    mended: int = 0
    truncated: list[int] = field(default_factory=list)
    """The files that end in the middle."""


@dataclass(frozen=True, slots=True)
class Finishing:
    """What it takes to finish a bucket: the files, their pieces, and the rules."""

    pieces: tuple[Piece, ...]
    files: tuple[SplitFile, ...]
    by: Judge

    @property
    def options(self) -> DeriveOptions:
        """The thresholds of the derived attributes."""
        return options_of(self.by.policy, self.by.domain)

    def finish(self, parcels: Iterable[Parcel]) -> Finished:
        """Everything that became of the parcels of one bucket."""
        arrived = sorted(parcels, key=self._received)
        counted = RowFigures()
        for parcel in arrived:
            if parcel.counted:
                counted.merge(parcel.counted)
        before = self._lines_before(arrived)
        truncated = [self.pieces[parcel.piece].file for parcel in arrived if parcel.truncated]
        held = [parcel for parcel in arrived if parcel.positions is not None]
        rows = _Rows(self, held, before)
        settled, out_of_order = rows.settle()
        rejected = [*self._aside(arrived, before), *self._marks(truncated), *rows.left(settled, LATE_REASONS)]
        duplicates = rows.left(settled, LATE_KINDS)
        events = rows.events(settled)
        measured = EventFigures.of(events)
        return Finished(
            events,
            pa.concat_tables([ASIDE.empty_table(), *rejected]),
            pa.concat_tables([ASIDE.empty_table(), *duplicates]),
            counted,
            measured,
            out_of_order,
            int((settled.turned & (settled.late == KEPT)).sum()),
            truncated,
        )

    def _received(self, parcel: Parcel) -> tuple[str, int, int]:
        """The order in which rows were received: by the name of the file, and as they stand in it."""
        piece = self.pieces[parcel.piece]
        return self.files[piece.file].source, parcel.piece, parcel.batch

    def _lines_before(self, arrived: Sequence[Parcel]) -> dict[int, int]:
        """Of each piece what to add to its numbers of lines."""
        lines = {parcel.piece: parcel.lines for parcel in arrived if parcel.lines is not None}
        before, of_file = dict[int, int](), Counter[int]()
        for piece in self.pieces:
            before[piece.number] = piece.lines_before(of_file[piece.file])
            of_file[piece.file] += lines.get(piece.number, 0)
        return before

    def _aside(self, arrived: Sequence[Parcel], before: Mapping[int, int]) -> list[pa.Table]:
        tables = []
        for parcel in arrived:
            if parcel.aside is not None:
                source = self.files[self.pieces[parcel.piece].file].source
                tables.append(
                    _aside_table(
                        pa.repeat(source, parcel.aside.num_rows),
                        pc.add(parcel.aside.column(LINE), before[parcel.piece]),
                        parcel.aside.column("reason"),
                        parcel.aside.column(RAW),
                    )
                )
        return tables

    def _marks(self, truncated: Sequence[int]) -> list[pa.Table]:
        """A row for each file that ends in the middle: it stands for what is missing."""
        names = [self.files[file].source for file in truncated]
        nothing = [None] * len(names)
        reasons = pa.array([TRUNCATED] * len(names), pa.string())
        return [
            _aside_table(
                pa.array(names, pa.string()), pa.array(nothing, pa.int64()), reasons, pa.array(nothing, pa.string())
            )
        ]


def _aside_table(*columns: pa.Array) -> pa.Table:
    return pa.Table.from_arrays(list(columns), schema=ASIDE)


class _Rows:
    """Positions of one bucket, as they were received and as their tracks have them."""

    def __init__(self, work: Finishing, held: Sequence[Parcel], before: Mapping[int, int]) -> None:
        self._work, self._held = work, held
        tables = [pa.Table.from_batches([parcel.positions]) for parcel in held if parcel.positions is not None]
        self._table = pa.concat_tables(tables, promote_options="default") if tables else None
        sizes = [table.num_rows for table in tables]
        self._cuts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        files = [work.pieces[parcel.piece].file for parcel in held]
        self._files = np.repeat(np.array(files, np.int64), sizes)
        shifts = np.repeat(np.array([before[parcel.piece] for parcel in held], np.int64), sizes)
        self._lines = self._numbers(LINE).values + shifts if tables else np.zeros(0, np.int64)
        self._order = np.zeros(0, np.int64)
        self._sorted = TrackRows(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
        self._names: list[str] = []

    def _numbers(self, name: str) -> Nullable:
        assert self._table is not None
        column = self._table.column(name).combine_chunks()
        known = (
            column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else np.ones(len(column), np.bool_)
        )
        return Nullable(column.fill_null(0).to_numpy(zero_copy_only=False), known)

    def settle(self) -> tuple[Settled, int]:
        """Sort by track and time, and settle; how many rows came out of order comes with it."""
        if self._table is None:
            nothing = np.zeros(0, np.uint8)
            return Settled(nothing, nothing.astype(np.bool_), None), 0
        tracks = self._table.column("track").combine_chunks().dictionary_encode()
        names = tracks.dictionary.to_pylist()
        by_name = sorted(range(len(names)), key=lambda code: names[code].encode())
        rank = np.empty(len(names), np.int64)
        rank[by_name] = np.arange(len(names))
        self._names = [names[code] for code in by_name]
        codes = rank[tracks.indices.to_numpy()]
        times = self._numbers("time").values
        order = np.empty(len(codes), np.int64)
        kernel(kernels.counted_order)(codes, np.zeros(len(names) + 1, np.int64), order)
        codes, times = codes[order], times[order]
        late = int(kernel(kernels.count_late)(codes, times))
        if late:
            again = np.lexsort((times, codes))
            order, codes, times = order[again], codes[again], times[again]
        self._order = order
        self._sorted = TrackRows(codes, times, *(self._places(name)[order] for name in ("lon", "lat")))
        return settle(self._sorted, self._work.by.policy, self._work.options), late

    def _places(self, name: str) -> Any:
        assert self._table is not None
        if name not in self._table.column_names:
            return np.full(self._table.num_rows, np.nan)
        value = self._numbers(name)
        return np.where(value.known, value.values, np.nan)

    def left(self, settled: Settled, kinds: Mapping[int, str]) -> list[pa.Table]:
        """The rows that left their tracks for one of these reasons, with their text."""
        found = np.flatnonzero(np.isin(settled.late, list(kinds)))
        if not len(found):
            return []
        rows = self._order[found]
        received = np.argsort(rows)
        rows, late = rows[received], settled.late[found][received]
        sources = [file.source for file in self._work.files]
        return [
            _aside_table(
                pa.array(sources).take(pa.array(self._files[rows])),
                pa.array(self._lines[rows]),
                pa.array([kinds[kind] for kind in late], pa.string()),
                self._texts(rows),
            )
        ]

    def _texts(self, rows: Longs) -> pa.Array:
        """The lines of these rows, which are in the order received."""
        parcels = np.searchsorted(self._cuts, rows, side="right") - 1
        found: list[pa.Array] = []
        for number in np.unique(parcels):
            texts = self._held[number].texts
            assert texts is not None, "positions come with their lines"
            found.append(texts().column(0).take(pa.array(rows[parcels == number] - self._cuts[number])))
        return pa.concat_arrays(found)

    def events(self, settled: Settled) -> pa.Table:
        """What the tracks keep, with derived attributes, sorted by track, time and offset."""
        further = further_columns(self._work.files, self._work.by)
        kept = np.flatnonzero(settled.late == KEPT)
        codes = self._sorted.codes[kept]
        if settled.pieces is not None:
            codes = self._cut_tracks(codes, settled.pieces[kept])
        order = self._order[kept]
        times, lines = self._sorted.times[kept], self._lines[order]
        if self._work.by.policy.same_time == "keep" or settled.pieces is not None:
            again = np.lexsort((lines, times, codes))
            kept, codes, order, times, lines = kept[again], codes[again], order[again], times[again], lines[again]
        columns = self._kept_columns(order)
        columns["lon"], columns["lat"] = (
            pa.array(values[kept], from_pandas=True) for values in (self._sorted.lons, self._sorted.lats)
        )
        columns["track"] = pa.DictionaryArray.from_arrays(
            pa.array(codes.astype(np.int32)), pa.array(self._names, pa.string())
        ).cast(pa.string())
        columns["time"] = pa.array(times).cast(UTC_MICROS)
        sources = pa.array([file.source for file in self._work.files], pa.string())
        columns["source"] = sources.take(pa.array(self._files[order]))
        columns["offset"] = pa.array(lines)
        if self._table is not None:
            columns |= _derived(columns, codes, times, self._work.options)
        kinds = {name: further.get(name) or KINDS[name] for name in (*POSITION_COLUMNS, *further, *DERIVED_COLUMNS)}
        return pa.table({name: _of_kind(columns.get(name), kind, len(codes)) for name, kind in kinds.items()})

    def _kept_columns(self, order: Longs) -> dict[str, pa.Array]:
        if self._table is None:
            return {}
        rows = pa.array(order)
        own = ("lon", "lat", "track", "time", "source", "offset", LINE)
        names = [name for name in self._table.column_names if name not in own]
        return {name: self._table.column(name).combine_chunks().take(rows) for name in names}

    def _cut_tracks(self, codes: Longs, pieces: Longs) -> Longs:
        """Codes of the tracks that jumps cut the others into, in the order of their names."""
        keys = np.unique(np.stack([codes, pieces]), axis=1)
        names = [
            self._names[code] if not piece else f"{self._names[code]}#{piece + 1}" for code, piece in keys.T.tolist()
        ]
        by_name = sorted(range(len(names)), key=lambda number: names[number].encode())
        rank = np.empty(len(names), np.int64)
        rank[by_name] = np.arange(len(names))
        self._names = [names[number] for number in by_name]
        width = int(pieces.max(initial=0)) + 1
        at = np.searchsorted(keys[0] * width + keys[1], codes * width + pieces)
        cut: Longs = rank[at]
        return cut


def _of_kind(column: pa.Array | None, kind: pa.DataType, rows: int) -> pa.Array:
    if column is None:
        return pa.nulls(rows, kind)
    return column if column.type == kind else column.cast(kind)


def _derived(
    columns: Mapping[str, pa.Array], codes: Longs, times: Longs, options: DeriveOptions
) -> dict[str, pa.Array]:
    """The derived attributes, and the columns that they fill in."""
    statuses = _statuses(columns, len(codes))
    status_since, heard_since = np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)
    kernel(kernels.since)(codes, times, statuses, options.gap_us, status_since, heard_since)
    parts: dict[str, list[pa.Array]] = {}
    cuts = [*range(0, len(codes), SLICE_ROWS), len(codes)] if len(codes) else [0, 0]
    for begin, end in pairwise(cuts):
        known = _with_previous(columns, codes, times, begin, end)
        known["status_since"] = Nullable.of(status_since[begin:end])
        known["heard_since"] = Nullable.of(heard_since[begin:end])
        for name, made in derived_arrays(known, options).items():
            if name in KINDS:
                parts.setdefault(name, []).append(_as_column(made, end - begin))
    return {name: pa.concat_arrays(some) for name, some in parts.items()}


def _as_column(made: Nullable, rows: int) -> pa.Array:
    values, known = np.broadcast_to(made.values, rows), np.broadcast_to(made.known, rows)
    return pa.array(np.ascontiguousarray(values), mask=None if known.all() else ~known)


def _statuses(columns: Mapping[str, pa.Array], rows: int) -> Longs:
    """A number for each status: of the engine, else of navigation; one for none."""
    found = np.full(rows, -1, np.int64)
    if "nav_status" in columns:
        found = columns["nav_status"].fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    if "engine" in columns:
        coded = columns["engine"].dictionary_encode().indices
        engine = coded.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        found = np.where(engine >= 0, engine + (1 << 32), found)
    return found


def _with_previous(
    columns: Mapping[str, pa.Array], codes: Longs, times: Longs, begin: int, end: int
) -> dict[str, Nullable]:
    """The columns that rules read, and those of the previous position, of rows from `begin` to `end`."""
    low = max(0, begin - 1)
    first = np.ones(end - begin, np.bool_)
    first[begin == 0 :] = codes[low : end - 1] != codes[low + 1 : end]
    known: dict[str, Nullable] = {}
    for name in (*REMEMBERED, "engine", "nav_status", "accelerating", "speed_kmh"):
        whole = Nullable.of(times[low:end]) if name == "time" else _nullable(columns.get(name), low, end, name)
        known[name] = Nullable(whole.values[begin - low :], whole.known[begin - low :])
        if name in REMEMBERED:
            values, there = np.zeros_like(known[name].values), np.zeros(end - begin, np.bool_)
            values[begin == 0 :], there[begin == 0 :] = whole.values[:-1], whole.known[:-1]
            known[f"previous_{name}"] = Nullable(values, there & ~first)
    return known


def _nullable(column: pa.Array | None, low: int, end: int, name: str) -> Nullable:
    if column is None:
        kind = np.bool_ if name == "accelerating" else np.float64
        return Nullable(np.zeros(end - low, kind), np.zeros(end - low, np.bool_))
    some = column.slice(low, end - low)
    known = some.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_string(some.type):
        return Nullable(np.zeros(len(some)), known)
    filled = some.fill_null(False) if pa.types.is_boolean(some.type) else some.fill_null(0)
    return Nullable(filled.to_numpy(zero_copy_only=False), known)
