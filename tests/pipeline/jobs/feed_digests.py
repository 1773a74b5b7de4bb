"""What an ingest has made of a feed, as counts and digests: enough to tell two results apart, and no rows.

Rows are digested column by column, sorted by where they came from. Numbers that come from sines and cosines are
rounded to a millionth, as two mathematical libraries may disagree in the last places.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROUNDED = ("distance_m", "implied_speed_kn", "speed_kn", "speed_kmh")
NO_FIGURES = ("seconds", "steps", "files_read", "files_skipped", "files_strange", "files_truncated", "quantiles")
"""What depends on the machine, and quantiles, which were approximate."""


def digests_of(out: Path) -> dict[str, Any]:
    """Counts and digests of everything that an ingest has written into `out`."""
    quality = json.loads((out / "quality.json").read_text(encoding="utf-8"))
    return {
        **{what: table_digest(in_order(pq.read_table(out / what))) for what in ("events", "rejected", "duplicates")},
        "quality": {key: _figures(value) for key, value in sorted(quality.items()) if key not in NO_FIGURES},
    }


def in_order(table: pa.Table) -> pa.Table:
    """The rows in the order of where they came from, which is told by the names of files alone."""
    names = pc.replace_substring_regex(table.column("source").cast(pa.string()), r"^.*/", "")
    named = table.set_column(table.column_names.index("source"), "source", names)
    place = "offset" if "offset" in table.column_names else "line"
    return named.sort_by([("source", "ascending"), (place, "ascending")])


def table_digest(table: pa.Table) -> dict[str, Any]:
    """How many rows there are, and a digest of each column."""
    return {
        "rows": table.num_rows,
        "columns": {name: column_digest(name, table.column(name)) for name in sorted(table.column_names)},
    }


def column_digest(name: str, column: pa.ChunkedArray) -> str:
    """A digest of the values, with where there are none."""
    known = pc.is_valid(column).to_numpy(zero_copy_only=False)
    digest = hashlib.sha256(np.packbits(known).tobytes())
    digest.update(_bytes(name, column))
    return digest.hexdigest()[:24]


def _bytes(name: str, column: pa.ChunkedArray) -> bytes:
    if pa.types.is_floating(column.type):
        values = pc.fill_null(column, 0.0).to_numpy() + 0.0
        rounded = np.round(values, 6) + 0.0 if name in ROUNDED else values
        return rounded.astype("<f8").tobytes()
    if pa.types.is_timestamp(column.type):
        return pc.fill_null(column.cast(pa.timestamp("us", "UTC")).cast(pa.int64()), 0).to_numpy().tobytes()
    if pa.types.is_boolean(column.type) or pa.types.is_integer(column.type):
        return pc.fill_null(column.cast(pa.int64()), 0).to_numpy().tobytes()
    return "\0".join(pc.fill_null(column.cast(pa.string()), "").to_pylist()).encode()


def _figures(value: Any) -> Any:
    """Plain figures as they are, long tables as digests; shares and means to six places."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {key: _figures(inner) for key, inner in sorted(value.items()) if key not in NO_FIGURES}
    if isinstance(value, list) and len(value) > 16:
        return f"{len(value)}:{hashlib.sha256(json.dumps(value).encode()).hexdigest()[:24]}"
    return [_figures(inner) for inner in value] if isinstance(value, list) else value
