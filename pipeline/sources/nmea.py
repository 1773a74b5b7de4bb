"""NMEA AIVDM lines as a feed: pyais decodes each file's lines in order, one Python call for each batch of lines."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from foresail.pipeline.sources.feed import Cells, Feed, as_messages
from foresail.pipeline.sources.fields import text_of

if TYPE_CHECKING:
    from foresail.pipeline.sources.nmea_decoder import Decoded

_VALUES = {
    "fault": pa.string(),
    "station": pa.string(),
    "message_type": pa.int32(),
    "mmsi": pa.int64(),
    "time_us": pa.int64(),
    "from_clock": pa.bool_(),
    "from_file": pa.bool_(),
    "lon": pa.float64(),
    "lat": pa.float64(),
    "speed_kn": pa.float64(),
    "course_deg": pa.float64(),
    "heading_deg": pa.float64(),
    "turn_rate": pa.float64(),
    "nav_status": pa.int32(),
    "ship_type": pa.int32(),
    "length_m": pa.float64(),
    "name": pa.string(),
    "imo": pa.int64(),
    "call_sign": pa.string(),
    "draught_m": pa.float64(),
    "destination": pa.string(),
}
_LINE = {"source": pa.string(), "line": pa.int64(), "raw": pa.string(), "recoded": pa.bool_()}
DECODED_SCHEMA = pa.schema([*_LINE.items(), *_VALUES.items()])


def decode_lines(lines: DataFrame, starts_us: dict[str, int] | None = None) -> DataFrame:
    """Messages from `lines`, whose files must each be in one partition, in order; `starts_us` dates undated files."""
    decoded = lines.select("source", "line", "raw", "recoded").mapInArrow(
        _decoding(starts_us or {}), from_arrow_schema(DECODED_SCHEMA)
    )
    return as_messages(decoded, columns(F.col))


def columns(cells: Cells) -> dict[str, Column]:
    """Canonical and further columns from what the decoder gives."""
    direct = [name for name in _VALUES if name not in ("fault", "time_us", "from_clock", "from_file", "name")]
    return {
        **{name: cells(name) for name in direct},
        "track": cells("mmsi").cast("string"),
        "time": F.timestamp_micros(cells("time_us")),
        "name": text_of(cells("name")),
        "repair_time_from_clock": cells("from_clock"),
        "repair_time_from_file": cells("from_file"),
    }


def _decoding(starts_us: dict[str, int]) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def decode_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from foresail.pipeline.sources.nmea_decoder import Decoder, Line  # noqa: PLC0415 - pyais is only needed by the workers

        decoders: dict[str, Decoder] = {}
        for batch in batches:
            rows = zip(*(batch.column(name).to_pylist() for name in _LINE), strict=True)
            settled = []
            for source, group in groupby((Line(*row) for row in rows), key=lambda line: line.source):
                decoder = decoders.setdefault(source, Decoder(starts_us.get(source)))
                for line in group:
                    settled += decoder.advance(line)
            yield as_batch(settled)
        yield as_batch([left for decoder in decoders.values() for left in decoder.finish()])

    return decode_batches


def as_batch(settled: "Sequence[Decoded]") -> pa.RecordBatch:
    """What the decoder found, as a table."""
    line_values = [[getattr(found.of, name) for found in settled] for name in _LINE]
    values = [[getattr(found, name) for found in settled] for name in _VALUES]
    arrays = [pa.array(column, kind) for column, kind in zip(line_values + values, DECODED_SCHEMA.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=DECODED_SCHEMA)


FEED = Feed(
    name="nmea",
    says="NMEA AIVDM/AIVDO lines, with or without tag blocks, plain or gzip",
    domain="maritime",
    carrier="nmea",
    columns=columns,
)
