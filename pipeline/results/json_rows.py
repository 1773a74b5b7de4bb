"""Rows of results as JSON lines, written without Spark: every key present, times as ISO 8601 with microseconds."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pyarrow as pa

ORDER = ("track", "time", "pattern", "match_id", "status")
"""The order of rows in a file, whichever engine wrote it."""


def json_lines(table: pa.Table) -> Iterator[str]:
    """A JSON object for each row, in the fixed order."""
    texts = _with_texts(table)
    keys = [(name, "ascending") for name in ORDER if name in texts.column_names]
    for batch in (texts.sort_by(keys) if keys and texts.num_rows else texts).to_batches(max_chunksize=65_536):
        for row in batch.to_pylist():
            yield json.dumps({name: _plain(value) for name, value in row.items()}, ensure_ascii=False)


def _with_texts(table: pa.Table) -> pa.Table:
    """The table with times as texts, short numbers with their own digits, dictionaries as what they stand for."""
    for place, field in enumerate(table.schema):
        column = table.column(place)
        if pa.types.is_timestamp(field.type):
            shown = pa.compute.strftime(column.cast(pa.timestamp("us", tz="UTC")), format="%Y-%m-%dT%H:%M:%SZ")
            table = table.set_column(place, field.name, shown)
        elif pa.types.is_float32(field.type):  # the digits that tell it from its neighbours, as Spark writes them
            table = table.set_column(place, field.name, column.cast(pa.string()).cast(pa.float64()))
        elif pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, column.cast(field.type.value_type))
    return table


def _plain(value: Any) -> Any:
    """Maps come as lists of pairs, times inside them as such."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return {name: _plain(inner) for name, inner in value}
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    return f"{value:%Y-%m-%dT%H:%M:%S.%fZ}" if isinstance(value, datetime) else value
