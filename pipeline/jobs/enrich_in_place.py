"""Enrichment by workers that read the events' files and write them again with the columns of the layers.

Rows stay in their order and files in theirs, so a layout by track holds as it did and nothing is shuffled or sorted.
What the summary counts is counted on the way.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from foresail.geo import Layer
from foresail.geo.answers import StoredLayer, answer_columns, floats, stored
from foresail.geo.attributes import check_columns
from foresail.geo.layers.index import in_range
from foresail.pipeline.batch.parquet_source import (
    LAT,
    LON,
    TIME,
    ParquetSource,
    Piece,
    Unfit,
    in_pieces,
    parquet_source,
)
from foresail.pipeline.errors import InputError
from foresail.pipeline.sources.parquet_schema import parquet_schema
from foresail.pipeline.stages.layout import record_layout

SLICE_ROWS = 250_000
UTC_MICROS = pa.timestamp("us", "UTC")
EVENTS, UNKNOWN = "events", "positions_unknown"
COUNTED_DDL = "counted string, rows long"
_COUNTED = pa.schema([("counted", pa.string()), ("rows", pa.int64())])
_FAULT = "fault "
REJECTED = pa.schema([("reason", pa.string()), ("raw", pa.string())])


def readable_source(place: str, layers: Sequence[Layer]) -> ParquetSource | None:
    """The files at `place`, if workers can read them and no row of theirs is to be rejected; None where Spark must."""
    found = parquet_source([place], [LON, LAT])
    if isinstance(found, Unfit) or not found.pieces or parquet_schema([place]) is None:
        return None
    schema = pq.read_schema(found.pieces[0].path)
    if not all(pa.types.is_floating(schema.field(axis).type) for axis in (LON, LAT)):
        return None
    check_columns(schema.names, [layer.spec for layer in layers])
    return found


def enrich_files(
    spark: SparkSession, source: ParquetSource, layers: Sequence[Layer], folder: Path, rejected: Path
) -> Counter[str]:
    """Write the events of `source` into `folder` with the layers' columns; how many hold what, by name."""
    whole = source.layout is not None
    pieces = source.pieces if whole else in_pieces(source, spark.sparkContext.defaultParallelism)
    for place in (folder, rejected):
        place.mkdir()
    pq.write_table(REJECTED.empty_table(), rejected / "part-00000.parquet")
    work = EnrichPieces(pieces, stored(layers), folder)
    rows = spark.range(0, len(pieces), 1, len(pieces)).mapInArrow(work, COUNTED_DDL).collect()
    counts = Counter[str]()
    for row in rows:
        if row["counted"].startswith(_FAULT):
            raise InputError(row["counted"].removeprefix(_FAULT))
        counts[row["counted"]] += row["rows"]
    if source.layout is not None:
        record_layout(folder, source.layout.files, counts[EVENTS], source.layout.tracks)
    return counts


@dataclass(frozen=True, slots=True)
class EnrichPieces:
    """Enriches the pieces whose numbers come in, each into a file of its own."""

    pieces: tuple[Piece, ...]
    layers: tuple[StoredLayer, ...]
    folder: Path

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """How many rows were written and how many hold what, or why a piece cannot be read."""
        for batch in batches:
            for number in batch.column(0).to_pylist():
                try:
                    counts = self._enrich(number)
                except (OSError, pa.ArrowException) as error:
                    said = str(error).strip().splitlines()[0].rstrip(".")[:120]
                    place = self.pieces[number].path
                    counts = Counter({f"{_FAULT}{place}: is corrupt ({said}). Mend or remove it.": 1})
                yield pa.RecordBatch.from_pylist(
                    [{"counted": name, "rows": rows} for name, rows in counts.items()], schema=_COUNTED
                )

    def _enrich(self, number: int) -> Counter[str]:
        piece, counts = self.pieces[number], Counter[str]()
        made = self.folder / f".part-{uuid4().hex}"
        with pq.ParquetFile(piece.path) as file:
            texts = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
        writer: pq.ParquetWriter | None = None
        with pq.ParquetFile(piece.path, read_dictionary=texts) as file:
            for group in piece.row_groups:
                table = enriched(file.read_row_group(group, use_threads=False), self.layers, counts)
                writer = writer or pq.ParquetWriter(made, table.schema, compression="zstd", store_schema=False)
                writer.write_table(table, row_group_size=max(1, table.num_rows))
        if writer:
            writer.close()
            made.replace(self.folder / f"part-{number:05d}.parquet")
        return counts


def enriched(table: pa.Table, layers: Sequence[StoredLayer], counts: Counter[str]) -> pa.Table:
    """Events with the columns of layers; in `counts` goes how many there are and what they hold."""
    parts: dict[str, list[pa.Array]] = {}
    for begin in range(0, table.num_rows, SLICE_ROWS):
        rows = table.select([LON, LAT, TIME]).slice(begin, SLICE_ROWS)
        lon, lat = (floats(rows.column(axis).to_numpy()) for axis in (LON, LAT))
        counts[UNKNOWN] += int(np.count_nonzero(~in_range(lon, lat)))
        for name, column in answer_columns(layers, lon, lat, _micros(rows, layers)).items():
            parts.setdefault(name, []).append(column)
    counts[EVENTS] += table.num_rows
    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type) and field.type != UTC_MICROS:
            table = table.set_column(place, field.name, table.column(place).cast(UTC_MICROS))
    for name, columns in parts.items():
        table = table.append_column(name, pa.chunked_array(columns))
    for layer in layers:
        name = f"in_{layer.spec.kind}"
        counts[name] += int(pc.sum(table.column(name)).as_py() or 0)
    return table


def _micros(rows: pa.Table, layers: Sequence[StoredLayer]) -> Any:
    if not any(layer.spec.holds_by_time for layer in layers):
        return None
    return pd.Series(rows.column(TIME).cast(UTC_MICROS).cast(pa.int64()).to_numpy())
