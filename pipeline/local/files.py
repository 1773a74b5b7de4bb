"""Tables in files as Arrow tables, read in this process: CSV, JSON lines and Parquet, also compressed, or a pipe.

They are read as the Spark jobs read them: types are inferred, a track is always a text, and lines that cannot be read
are kept with their text instead of ending the job.
"""

import io
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources.parquet_files import parquet_files

STANDARD_INPUT = "-"
SUFFIXES = {".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}
PACKINGS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
DELIMITERS = (",", ";", "\t", "|")
COMMA_NUMBER = r"^\s*[+-]?\d+(,\d+)?([eE][+-]?\d+)?\s*$"
TYPES = {
    "string": pa.string(),
    "double": pa.float64(),
    "long": pa.int64(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}
LARGEST_BLOCK = 1 << 27
MIXED = pa.struct([("number", pa.float64()), ("text", pa.string()), ("truth", pa.bool_())])
"""A column of several types: each value in the field of its own."""


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table, and the lines that could not be read into it."""

    table: pa.Table
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read: which columns are texts whatever they look like, and the types that somebody has said."""

    track: str = "track"
    time: str = "time"
    types: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] | None = None
    """Only these, as far as they are there; all of them by default."""
    mixed: bool = False
    """Whether columns of several types keep them, as structs with the fields of `MIXED`; else they become texts."""


def read_each(paths: Sequence[str], reading: Reading) -> list[ReadTable]:
    """The rows of every file by itself: they may differ in their columns."""
    parts = [_read_one(file, reading) for path in paths for file in table_files(path)]
    names = [name for part in parts for name in part.table.column_names]
    for name in reading.types:
        if name not in names:
            msg = f"--types {name}: there is no such column. {_nearest(name, names)}"
            raise InputError(msg)
    return parts


def read_tables(paths: Sequence[str], reading: Reading) -> ReadTable:
    """The rows of all files, one after the other."""
    parts = read_each(paths, reading)
    tables = [part.table for part in parts]
    try:
        table = pa.concat_tables(tables, promote_options="permissive") if len(tables) > 1 else tables[0]
    except pa.ArrowException as error:
        msg = f"{', '.join(paths)}: the files differ in their columns ({_line(error)}). Read them apart."
        raise InputError(msg) from None
    twice = [name for name in table.column_names if table.column_names.count(name) > 1]
    if twice:
        msg = f"{paths[0]}: has several columns '{twice[0]}'. Rename all but one."
        raise InputError(msg)
    return ReadTable(table, tuple(line for part in parts for line in part.unreadable))


def table_files(path: str) -> list[str]:
    """The files that are read at `path`: itself, or those of a folder (or of its folder `events`)."""
    if path == STANDARD_INPUT:
        return [path]
    place = Path(path)
    if (place / "events").is_dir():
        place = place / "events"
    if not place.exists():
        siblings = [file.name for file in place.parent.glob("*")] if place.parent.is_dir() else []
        msg = f"{path}: no such file or folder. {_nearest(place.name, siblings)}"
        raise InputError(msg.rstrip())
    if place.is_file():
        return [str(place)]
    found = parquet_files(place) or [
        file for file in sorted(place.rglob("*")) if _form(file) and not file.name.startswith((".", "_"))
    ]
    if not found:
        msg = f"{path}: holds no table. Known endings: {', '.join(SUFFIXES)}, also .gz."
        raise InputError(msg)
    return [str(file) for file in found]


def _form(file: Path) -> str | None:
    plain = file.with_suffix("") if file.suffix in PACKINGS else file
    return SUFFIXES.get(plain.suffix.lower()) if file.is_file() else None


def _read_one(file: str, reading: Reading) -> ReadTable:
    if file == STANDARD_INPUT:
        content = sys.stdin.buffer.read()
        return _READERS[_form_of(content)](content, "standard input", reading)
    place = Path(file)
    form = _form(place)
    if form is None:
        msg = (
            f"{file}: neither CSV, JSON lines nor Parquet by its name. Known endings: {', '.join(SUFFIXES)}, also .gz."
        )
        raise InputError(msg)
    try:
        if form == "parquet":
            return _parquet(place, file, reading)
        with pa.input_stream(file, compression=PACKINGS.get(place.suffix)) as stream:
            return _READERS[form](stream.read(), file, reading)
    except (OSError, pa.ArrowException) as error:
        msg = f"{file}: cannot be read as {form} ({_line(error)}). Check that it is what its name says."
        raise InputError(msg) from None


def _form_of(content: bytes) -> str:
    """What a pipe brings, told by its first sign."""
    if content.startswith(b"PAR1"):
        return "parquet"
    return "json" if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else "csv"


def _parquet(source: Any, name: str, reading: Reading) -> ReadTable:
    import pyarrow.parquet as pq  # noqa: PLC0415 - not every table is one

    del name
    content = io.BytesIO(source) if isinstance(source, bytes) else source
    with pq.ParquetFile(content) as file:
        there = file.schema_arrow.names
        wanted = None if reading.columns is None else [column for column in there if column in reading.columns]
        return ReadTable(_as_said(file.read(wanted), reading))


def _csv(content: bytes, name: str, reading: Reading) -> ReadTable:
    from pyarrow import csv  # noqa: PLC0415 - not every table is one

    text = content.removeprefix(b"\xef\xbb\xbf")
    _check_text(text, name)
    header = text.partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
    if not header.strip():
        msg = f"{name}: is empty. Give a table with a header."
        raise InputError(msg)
    delimiter = _delimiter(header, (reading.track, reading.time))
    unreadable: list[str] = []

    def keep(row: Any) -> str:
        unreadable.append(row.text)
        return "skip"

    types: dict[str, pa.DataType] = {reading.track: pa.string()}
    types |= {column: TYPES[kind] for column, kind in reading.types.items() if kind in ("string", "boolean")}
    table = csv.read_csv(
        pa.py_buffer(text),
        read_options=csv.ReadOptions(block_size=min(max(len(text), 1 << 20), LARGEST_BLOCK)),
        parse_options=csv.ParseOptions(delimiter=delimiter, invalid_row_handler=keep, newlines_in_values=b'"' in text),
        convert_options=csv.ConvertOptions(
            column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
        ),
    )
    table = table.rename_columns([column.strip() for column in table.column_names])
    if delimiter != ",":
        table = _with_points(table, {reading.track, reading.time, *reading.types})
    if reading.columns is not None:
        table = table.select([column for column in table.column_names if column in reading.columns])
    return ReadTable(_as_said(table, reading), tuple(unreadable))


def _check_text(text: bytes, name: str) -> None:
    if b"\0" in text[: 1 << 16]:
        msg = f"{name}: is no text. `foresail look` tells what it is."
        raise InputError(msg)
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        msg = f"{name}: is not UTF-8 (byte {error.start:,}). Convert it, as with iconv -f latin1 -t utf8."
        raise InputError(msg) from None


def _delimiter(header: str, wanted: Iterable[str]) -> str:
    """The delimiter by which the header has the columns that must be there; else the one that splits it most."""
    for sign in DELIMITERS:
        if set(wanted) <= {field.strip().strip('"') for field in header.split(sign)}:
            return sign
    return max(DELIMITERS, key=header.count)


def _with_points(table: pa.Table, taken: set[str]) -> pa.Table:
    """The table with columns of decimal commas as the numbers that they spell."""
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if name in taken or not pa.types.is_string(column.type) or column.null_count == len(column):
            continue
        numbers = pc.all(pc.match_substring_regex(column, COMMA_NUMBER), skip_nulls=True).as_py()
        if numbers and pc.any(pc.match_substring(column, ","), skip_nulls=True).as_py():
            points = pc.replace_substring(pc.utf8_trim_whitespace(column), ",", ".")
            table = table.set_column(place, name, points.cast(pa.float64()))
    return table


def _json(content: bytes, name: str, reading: Reading) -> ReadTable:
    """JSON lines; a line that is no object is kept as it is."""
    _check_text(content, name)
    rows: list[dict[str, Any]] = []
    unreadable: list[str] = []
    for line in content.removeprefix(b"\xef\xbb\xbf").decode("utf-8").splitlines():
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            rows.append(row)
        else:
            unreadable.append(line)
    table = objects_table(rows, reading)
    if not table.num_columns:
        msg = f"{name}: holds no JSON object. Write one a line, each with '{reading.track}' and '{reading.time}'."
        raise InputError(msg)
    return ReadTable(table, tuple(unreadable))


def objects_table(rows: Sequence[dict[str, Any]], reading: Reading) -> pa.Table:
    """Objects of JSON as a table; a column whose type somebody has said is of it."""
    names = list(dict.fromkeys(column for row in rows for column in row))
    if reading.columns is not None:
        names = [column for column in names if column in reading.columns]
    said = (reading.time, *reading.types)
    columns = {
        column: _json_column([row.get(column) for row in rows], reading.mixed and column not in said)
        for column in names
    }
    return _as_said(pa.table(columns), reading)


def _json_column(values: list[Any], mixed: bool) -> pa.Array:
    """The values as one type: where they are of several, as texts, as Spark reads them."""
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        if all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values):
            return pa.array([None if value is None else float(value) for value in values], pa.float64())
        if mixed:
            return pa.array([_by_kind(value) for value in values], MIXED)
        return pa.array([None if v is None else v if isinstance(v, str) else json.dumps(v) for v in values])


def _by_kind(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"truth": value}
    if isinstance(value, int | float):
        return {"number": float(value)}
    return {} if value is None else {"text": value if isinstance(value, str) else json.dumps(value)}


_READERS = {"csv": _csv, "json": _json, "parquet": _parquet}


def _as_said(table: pa.Table, reading: Reading) -> pa.Table:
    """The table with the types that somebody has said; what is not of its type is null."""
    chosen = dict(reading.types)
    if reading.track in table.column_names and reading.track not in chosen:
        chosen[reading.track] = "string"
    for name, kind in chosen.items():
        place = table.schema.get_field_index(name)
        if place < 0 or table.field(place).type == TYPES[kind]:
            continue
        column = table.column(place)
        if kind == "string" and pa.types.is_floating(column.type):
            continue  # whole numbers that became fractions: told apart where tracks are read
        try:
            table = table.set_column(place, name, column.cast(TYPES[kind]))
        except pa.ArrowException:
            table = table.set_column(place, name, _each_cast(column, TYPES[kind]))
    return table


def _each_cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    """Each distinct value cast by itself; null where it cannot be."""
    encoded = pc.dictionary_encode(column).combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    found = []
    for value in encoded.dictionary:
        try:
            found.append(value.cast(kind).as_py())
        except pa.ArrowException:
            found.append(None)
    return pa.array(found, kind).take(encoded.indices)


def _nearest(word: str, known: Iterable[str]) -> str:
    near = get_close_matches(word, list(known), n=1)
    return f"Did you mean '{near[0]}'? " if near else ""


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")[:120]
