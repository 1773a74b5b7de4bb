"""Parquet files that workers can read themselves, told from their footers; otherwise the reason why they cannot.

A worker that reads its file decodes columns at a time and never turns an event into a row; through Spark's reader
every event becomes a row, and crosses into Python as one.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from foresail.pipeline.sources.parquet_files import FOOTER_THREADS, parquet_files
from foresail.pipeline.stages.layout import Layout, read_layout

TRACK, TIME, OFFSET, LON, LAT = "track", "time", "offset", "lon", "lat"


@dataclass(frozen=True, slots=True)
class Piece:
    """Row groups of one file, read by one task."""

    path: str
    row_groups: tuple[int, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class ParquetSource:
    """Files of positions whose tracks and times are all there."""

    pieces: tuple[Piece, ...]
    layout: Layout | None
    """How the files are laid out, if something vouches for it."""

    @property
    def rows(self) -> int:
        """How many events there are."""
        return sum(piece.rows for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why the workers cannot read the events themselves."""

    reason: str


def parquet_source(paths: Sequence[str], columns: Iterable[str], vouched: str | None = None) -> ParquetSource | Unfit:
    """The files below `paths`, if each has these columns, a track and a time in every row, and one type for each.

    `vouched` is the folder whose layout holds for `paths` when these are files of it.
    """
    if any("://" in path for path in paths):
        return Unfit("the events are not in files of this machine")
    if any(next(Path(path).rglob("*.zip"), None) for path in paths if Path(path).is_dir()):
        return Unfit("there are zips among the files")
    files = [file for path in paths for file in parquet_files(Path(path))]
    if not files:
        return Unfit("the events are not in Parquet files")
    if any("=" in part for file in files for part in file.parts):
        return Unfit("folders named COLUMN=VALUE are columns")
    wanted = tuple(dict.fromkeys([TRACK, TIME, OFFSET, *columns]))
    with ThreadPoolExecutor(FOOTER_THREADS) as threads:
        footers = list(threads.map(_footer, files))
    fault = next(
        (f"{file.name}: {f}" for file, f in zip(files, (_fault(f, wanted) for f in footers), strict=True) if f), None
    )
    if fault or len({_types(footer, wanted) for footer in footers if footer}) > 1:
        return Unfit(fault or "the files differ in the types of their columns")
    pieces = tuple(
        Piece(str(file), tuple(range(footer.num_row_groups)), footer.num_rows)
        for file, footer in zip(files, footers, strict=True)
        if footer is not None and footer.num_rows
    )
    folder = vouched or (paths[0] if len(paths) == 1 else None)
    return ParquetSource(pieces, read_layout(Path(folder)) if folder else None)


def in_pieces(source: ParquetSource, parallelism: int) -> tuple[Piece, ...]:
    """The row groups in about as many pieces as keep every core busy; for files that hold no whole tracks."""
    most = max(1, source.rows // max(1, 2 * parallelism))
    pieces: list[Piece] = []
    for whole in source.pieces:
        footer = pq.read_metadata(whole.path)
        held: list[int] = []
        rows = 0
        for group in whole.row_groups:
            held.append(group)
            rows += footer.row_group(group).num_rows
            if rows >= most:
                pieces.append(Piece(whole.path, tuple(held), rows))
                held, rows = [], 0
        if held:
            pieces.append(Piece(whole.path, tuple(held), rows))
    return tuple(pieces)


def _footer(file: Path) -> pq.FileMetaData | None:
    try:
        return pq.read_metadata(file)
    except (OSError, pa.ArrowException):
        return None


def _types(footer: pq.FileMetaData, wanted: Sequence[str]) -> tuple[str, ...]:
    schema = footer.schema.to_arrow_schema()
    return tuple(str(schema.field(name).type) for name in wanted)


def _fault(footer: pq.FileMetaData | None, wanted: Sequence[str]) -> str | None:
    if footer is None:
        return "cannot be read"
    schema = footer.schema.to_arrow_schema()
    missing = [name for name in wanted if name not in schema.names]
    if missing:
        return f"has no plain column '{missing[0]}'"
    if not pa.types.is_timestamp(schema.field(TIME).type) or schema.field(TIME).type.tz is None:
        return "has times that are no UTC timestamps"
    if not pa.types.is_string(schema.field(TRACK).type) or not pa.types.is_integer(schema.field(OFFSET).type):
        return "has tracks that are no texts, or offsets that are no integers"
    return _gaps(footer)


def _gaps(footer: pq.FileMetaData) -> str | None:
    """Why rows may lack a track or a time: such rows must be told as rejected, which Spark's reader does."""
    places = {footer.schema.column(n).path: n for n in range(footer.num_columns)}
    for group in range(footer.num_row_groups):
        for name in (TRACK, TIME, OFFSET):
            bounds = footer.row_group(group).column(places[name]).statistics
            if bounds is None or not bounds.has_null_count or bounds.null_count:
                return f"may have rows without {name}"
            # blank names sort first, so the least one tells whether there is any
            if name == TRACK and (not bounds.has_min_max or not str(bounds.min) > "!"):
                return "may have rows with a blank track"
    return None
