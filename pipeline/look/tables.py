"""Text to a table of cells: CSV with any delimiter, JSON messages with their objects flattened.

The first rows as the guess reads them: what a user checks before a whole file is read that way.

The first rows of a Parquet file, as cells of text: its types are known, its columns are guessed like any other's.
"""

import csv
import io
import json
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from foresail.pipeline.look.guess import ColumnGuess, Fix, Guess
from foresail.pipeline.look.head import Head
from foresail.pipeline.look.times import DATED, PLACEHOLDERS, POINT_NUMBER, Column, number_of
from foresail.pipeline.sources.fields import UNIT_FACTORS
from foresail.pipeline.sources.mapped import ANGLES, FILE
from foresail.pipeline.sources.text_rows import LONGEST_LINE_CHARACTERS

DELIMITERS = (",", ";", "\t", "|", ":", " ")
"""Blanks and colons last: they also stand within values."""
SCORED_ROWS = 200
MOST_ROWS = 5_000
MOST_COLUMNS = 2_000
LIST_START = re.compile(r'"(features|positions|data|results|items|messages)"\s*:\s*\[')


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a head, as cells of text."""

    names: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    delimiter: str | None = None
    header: bool = True
    """Whether the file names its columns; otherwise `names` are made up."""
    trailing_delimiter: bool = False
    line_breaks: int = 0
    """Rows with a line break inside a quoted cell."""
    ragged: int = 0
    """Rows with more or fewer cells than there are names."""
    comments: int = 0
    """Lines before the header that belong to no table."""

    def columns(self) -> tuple[Column, ...]:
        """Each column with its cells."""
        return tuple(Column(name, tuple(row[place] for row in self.rows)) for place, name in enumerate(self.names))


def csv_table(text: str, whole: bool) -> Table | None:
    """The table that CSV text holds; None where no delimiter makes one of it."""
    lines = text.splitlines(keepends=True)
    if not whole and len(lines) > 1:
        lines = lines[:-1]  # the head ends in the middle of it
    numbered = [(number, line) for number, line in enumerate(lines) if line.strip()]
    lines = [line for _, line in numbered]
    best: tuple[float, str] = (0.0, "")
    for place, delimiter in enumerate(DELIMITERS):
        score = _score(_records(lines[:SCORED_ROWS], delimiter)) - place * 0.01
        best = max(best, (score, delimiter))
    score, delimiter = best
    if score <= 0.5:
        return None
    records = _records(lines[:MOST_ROWS], delimiter)
    begin = _begin(records)
    return _table(records[begin:], delimiter, numbered[begin][0] if begin else 0)


def json_table(text: str) -> Table | None:
    """The table of JSON messages: a line each, a list, or a document that lists them; None where there are none."""
    found = [message for message in _messages(text) if isinstance(message, dict)]
    flat = [_flat(message) for message in found]
    names = list(dict.fromkeys(name for message in flat for name in message))[:MOST_COLUMNS]
    if not names:
        return None
    return Table(tuple(names), tuple(tuple(message.get(name) for name in names) for message in flat))


def _records(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Cells of each record; a quoted cell may span lines, and a stray quote ends nothing."""
    reader = csv.reader(io.StringIO("".join(lines).replace("\0", ""), newline=""), delimiter=delimiter)
    records: list[list[str]] = []
    while len(records) < MOST_ROWS:
        try:
            records.append(next(reader))
        except StopIteration:
            break
        except csv.Error:
            continue
    return [record for record in records if record]


def _score(records: Sequence[Sequence[str]]) -> float:
    """How evenly the delimiter cuts: the share of records with the commonest width, wider ones a bit better."""
    widths = [len(record) for record in records]
    if not widths:
        return 0.0
    commonest = max(set(widths), key=lambda width: (widths.count(width), width))
    if commonest < 2:
        return 0.0
    even = widths.count(commonest) / len(widths)
    # a single record cannot be even or uneven; its cells at least must be short
    return even + min(commonest, 50) * 0.004 if max(map(len, records[0])) < 4096 else 0.0


def _begin(records: Sequence[Sequence[str]]) -> int:
    """The first record of the table; a header may lack the last, empty, cell of its rows."""
    width = _usual_width(records)
    fitting = (place for place, record in enumerate(records) if width - 1 <= len(record) <= width and len(record) > 1)
    return next(fitting, 0)


def _table(records: list[list[str]], delimiter: str, comments: int) -> Table:
    width = _usual_width(records)
    first = [cell.strip().lstrip("\ufeff").lstrip("#").strip() for cell in records[0]]
    header = _is_header(first, records[1:])
    rows = records[1:] if header else records
    trailing = header and bool(rows) and all(len(row) == len(first) + 1 and not row[-1].strip() for row in rows[:50])
    names = _unique(first if header else [f"c{place + 1}" for place in range(width)])[:MOST_COLUMNS]
    expected = len(names) + trailing
    even = [row for row in rows if len(row) == expected]
    cells = tuple(tuple(cell.strip() or None for cell in row[: len(names)]) for row in even)
    breaks = sum(1 for row in rows if any("\n" in cell or "\r" in cell for cell in row))
    return Table(tuple(names), cells, delimiter, header, trailing, breaks, len(rows) - len(even), comments)


def _usual_width(records: Sequence[Sequence[str]]) -> int:
    widths = [len(record) for record in records]
    return max(set(widths), key=lambda width: (widths.count(width), width))


def _is_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first record names columns: no number or date among its cells, and no cell twice if rows follow."""
    filled = [cell for cell in first if cell]
    if not filled or any(POINT_NUMBER.fullmatch(cell) or DATED.fullmatch(cell) for cell in filled):
        return False
    return not rows or len(set(filled)) == len(filled) or any(POINT_NUMBER.fullmatch(c.strip()) for c in rows[0])


def _unique(names: Sequence[str]) -> list[str]:
    """Empty names are numbered; a name that comes again keeps its text, as only the first can be asked for."""
    return [name or f"c{place + 1}" for place, name in enumerate(names)]


def _messages(text: str) -> Iterator[Any]:
    """The JSON values: a line each, or those that a document lists, as far as the head goes."""
    start = text.lstrip("\ufeff \t\r\n")
    listed = LIST_START.search(start[:65536]) if start.startswith("{") else None
    one_line = start.partition("\n")[0]
    if start.startswith("[") or (listed and not _is_whole_message(one_line)):
        yield from _listed(start, 1 if start.startswith("[") else listed.end() if listed else 0)
        return
    if start.startswith("{") and _decoded(one_line) is None:
        message = _decoded(start)  # one message, written over several lines
        if message is not None:
            yield message
        return
    for line in start.splitlines()[:MOST_ROWS]:
        message = _decoded(line)
        if message is not None:
            yield message


def _is_whole_message(line: str) -> bool:
    message = _decoded(line)
    return isinstance(message, dict) and not any(
        isinstance(value, list) and value and isinstance(value[0], dict) for value in message.values()
    )


def _listed(text: str, place: int) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    for _ in range(MOST_ROWS):
        while place < len(text) and text[place] in ", \t\r\n":
            place += 1
        try:
            message, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        yield message


def _decoded(text: str) -> Any:
    if len(text) > LONGEST_LINE_CHARACTERS:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _flat(message: dict[str, Any]) -> dict[str, str | None]:
    """Fields by name, those of inner objects as `outer.inner`: as deep as a mapping can name them."""
    cells: dict[str, str | None] = {}
    for name, value in message.items():
        if isinstance(value, dict):
            cells |= {f"{name}.{inner}": _cell(item) for inner, item in value.items()}
        else:
            cells[name] = _cell(value)
    return cells


def _cell(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value.strip() or None
    return json.dumps(value)


SHOWN_ROWS = 10
WHOLE = ("mmsi", "nav_status", "ship_type", "satellites")
TEXTS = ("track", "name", "vessel_type")


def parsed_rows(guess: Guess, table: Table, file: str, most: int = SHOWN_ROWS) -> list[dict[str, Any]]:
    """The first rows with the canonical columns of `guess`; None where a cell has no value."""
    places = {name: place for place, name in reversed(list(enumerate(table.names)))}

    def cells(row: Sequence[str | None], names: Sequence[str]) -> list[str | None]:
        return [file if name == FILE else row[places[name]] for name in names]

    return [
        {column.role: _value(column, cells(row, column.columns)) for column in guess.columns}
        for row in table.rows[:most]
    ]


def fixes_of(guess: Guess, table: Table, role: str) -> list[Fix]:
    """Positions with the speed as the file has it, for the judge of units."""
    fixes = []
    for row in parsed_rows(guess, table, "", len(table.rows)):
        track, time, lon, lat = (row.get(name) for name in ("track", "time", "lon", "lat"))
        speed = row.get(role)
        if time is not None and None not in (lon, lat, speed):
            fixes.append(Fix(str(track or row.get("mmsi")), time, lon, lat, speed))  # type: ignore[arg-type]
    return fixes


def _value(column: ColumnGuess, cells: Sequence[str | None]) -> Any:
    known = [cell for cell in cells if cell is not None and cell.lower() not in PLACEHOLDERS]
    if len(known) < len(cells):
        return None
    text = " ".join(known)
    if column.time:
        return column.time.parse(text)
    if column.codes:
        return column.codes.get(text.lower())
    if column.role in TEXTS:
        return text
    value = number_of(text, column.decimal)
    if value is None or value in column.missing:
        return None
    return _converted(column, value)


def _converted(column: ColumnGuess, value: float) -> float | int:
    value *= column.scale or 1.0
    if column.role in WHOLE:
        return int(value)
    factors = UNIT_FACTORS.get("angle" if column.role in ANGLES else column.role, {})
    value *= factors.get(column.unit or "", 1.0)
    return value + 360 if column.role in ANGLES and -360 <= value < 0 else value


MAGIC = b"PAR1"
LOOKED_ROWS = 1_000
LONGEST_FOOTER_BYTES = 64 << 20


class NotReadableError(Exception):
    """Why the file cannot be looked into."""


def parquet_table(head: Head) -> Table:
    """The first rows of `head`, whose file is Parquet."""
    import pyarrow as pa  # noqa: PLC0415 - a text file is looked at without it
    import pyarrow.parquet as pq  # noqa: PLC0415

    if head.packed and not head.whole:
        msg = "is Parquet inside an archive, too long to look into: unpack it first"
        raise NotReadableError(msg)
    source = io.BytesIO(head.data) if head.packed else head.path.open("rb")
    with source:
        _check_footer(source)
        try:
            file = pq.ParquetFile(source, pre_buffer=False)
            names = file.schema_arrow.names[:MOST_COLUMNS]
            batch = next(file.iter_batches(LOOKED_ROWS, columns=names), None)
        except (OSError, pa.ArrowException) as error:
            msg = f"cannot be read as Parquet ({str(error).splitlines()[0][:120]})"
            raise NotReadableError(msg) from None
    columns = [[_plain_text(value) for value in column.to_pylist()] for column in batch.columns] if batch else []
    rows: Iterable[tuple[str | None, ...]] = zip(*columns, strict=True) if columns else ()
    return Table(tuple(names), tuple(rows))


def _check_footer(source: Any) -> None:
    source.seek(0, io.SEEK_END)
    size = source.tell()
    if size < 12:
        msg = "ends before its footer: it is cut off"
        raise NotReadableError(msg)
    source.seek(size - 8)
    length, magic = struct.unpack("<I4s", source.read(8))
    if magic != MAGIC or length > size - 12:
        msg = "begins as Parquet but has no footer: it is cut off"
        raise NotReadableError(msg)
    if length > LONGEST_FOOTER_BYTES:
        msg = f"has a footer of {length:,} bytes, above the limit of {LONGEST_FOOTER_BYTES:,}"
        raise NotReadableError(msg)
    source.seek(0)


def _plain_text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        text = value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
        return text.replace("T", " ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value[:32].hex()
    return str(value).strip() or None
