"""The types of a small CSV file's columns, told without Spark, whose own pass over the file takes seconds of start-up.

What is told is what Spark would infer of all rows, so nothing that is read changes. Where that is not plain to see
(quotes inside of quotes, decimals with exponents, rows of other lengths, ...) nothing is told, and Spark looks itself.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from pyspark.sql import types as T  # noqa: N812

MOST_BYTES = 32 << 20
UNPLAIN = (b"\\", b"\0")
"""Where these are in a file, parsers differ."""
INTEGER = r"^-?[0-9]{1,18}$"
NUMBER = r"^-?[0-9]{1,15}(\.[0-9]{1,17})?$"
DAY = r"((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)"
INSTANT = rf"^[12][0-9]{{3}}-{DAY}[T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{{1,6}})?Z?$"
BOOLEAN = r"^(true|false)$"
WORD = r"^[A-Za-z][^ ].*[^ ]$"
"""Text for sure, but for the words below: one such value makes a column one of text."""
NO_WORD = r"(?i)^(true|false|nan|inf|infinity|t[0-9].*)$"
INTEGER_LIMIT = 1 << 31


def csv_types(paths: Sequence[str], delimiter: str) -> T.StructType | None:
    """The columns of these local files and their types; None where it takes Spark to tell."""
    files = _files(paths)
    if files is None or not 0 < sum(file.stat().st_size for file in files) <= MOST_BYTES:
        return None
    tables = [_texts(file.read_bytes(), delimiter) for file in files]
    first = tables[0]
    if any(table is None or first is None or table.column_names != first.column_names for table in tables):
        return None
    whole = pa.concat_tables([table for table in tables if table is not None])
    kinds = {name: _kind(whole.column(name)) for name in whole.column_names}
    if None in kinds.values():
        return None
    return T.StructType([T.StructField(name, kind) for name, kind in kinds.items() if kind is not None])


def _files(paths: Sequence[str]) -> list[Path] | None:
    """The files that Spark would read; None where they are not all plain local ones."""
    found: list[Path] = []
    for path in map(Path, paths):
        inside = [file for file in sorted(path.rglob("*")) if file.is_file()] if path.is_dir() else [path]
        found += [f for f in inside if f == path or not f.name.startswith((".", "_"))]
    plain = all(file.is_file() and file.suffix == ".csv" and "=" not in str(file) for file in found)
    return found if plain else None


def _texts(content: bytes, delimiter: str) -> pa.Table | None:
    """Every cell as text, null where it is empty."""
    if any(sign in content for sign in UNPLAIN) or content.count(b"\r") != content.count(b"\r\n"):
        return None
    if b'"' in content and not _quotes_enclose_cells(content, delimiter):
        return None
    header, _, rows = content.partition(b"\n")
    names = next(csv.reader([header.decode("utf-8", "replace").rstrip("\r")], delimiter=delimiter), [])
    if not rows or len({name.lower() for name in names}) < len(names) or any(n != n.strip() or not n for n in names):
        return None
    if not header.isascii():  # a byte order mark among others
        return None
    parse = pyarrow.csv.ParseOptions(delimiter=delimiter, quote_char='"', double_quote=False)
    convert = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), null_values=[""], strings_can_be_null=True
    )
    try:
        return pyarrow.csv.read_csv(io.BytesIO(content), parse_options=parse, convert_options=convert)
    except pa.ArrowException:
        return None


def _quotes_enclose_cells(content: bytes, delimiter: str) -> bool:
    """Whether every quote opens or closes a cell of one line that is not empty: there all parsers agree."""
    signs = np.frombuffer(b"\n" + content + b"\n", dtype=np.uint8)
    quotes, ends = np.flatnonzero(signs == ord('"')), np.flatnonzero(signs == ord("\n"))
    opening, closing = quotes[0::2], quotes[1::2]
    if len(opening) != len(closing) or (closing - opening < 2).any():
        return False
    edges = np.frombuffer(f"{delimiter}\r\n".encode(), dtype=np.uint8)
    at_edges = np.isin(signs[opening - 1], edges).all() and np.isin(signs[closing + 1], edges).all()
    return bool(at_edges and (np.searchsorted(ends, opening) == np.searchsorted(ends, closing)).all())


def _kind(column: pa.ChunkedArray) -> T.DataType | None:
    """The type of these texts; None where it is in doubt."""
    known = column.drop_null()
    if not len(known):
        return T.StringType()
    if _all(known, INTEGER):
        numbers = known.cast(pa.int64())
        widest = pc.min_max(numbers).as_py()
        fits = widest["min"] >= -INTEGER_LIMIT and widest["max"] < INTEGER_LIMIT
        return T.IntegerType() if fits else T.LongType()
    if _all(known, NUMBER):
        return T.DoubleType()
    if _all(known, INSTANT):
        return T.TimestampType()
    if _all(known, BOOLEAN):
        return T.BooleanType()
    words = pc.and_not(pc.match_substring_regex(known, WORD), pc.match_substring_regex(known, NO_WORD))
    return T.StringType() if pc.any(words).as_py() else None


def _all(texts: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())
