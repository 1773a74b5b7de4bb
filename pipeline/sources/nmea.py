"""NMEA AIVDM lines as a feed: each file's lines are decoded in order, one Python call for each batch of lines.

One NMEA line taken apart: tag block, times around it, checksum, and which part of which message it is.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from itertools import pairwise
from operator import xor
from typing import TYPE_CHECKING

import numpy as np
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
        from foresail.pipeline.feeds.aivdm import BatchDecoder  # noqa: PLC0415 - pyais is only needed by the workers

        decoders: dict[str, BatchDecoder] = {}
        for batch in batches:
            for lines in _by_source(batch):
                source = lines.column("source")[0].as_py()
                yield from decoders.setdefault(source, BatchDecoder(starts_us.get(source))).advance(lines)
        for decoder in decoders.values():
            yield decoder.finish()

    return decode_batches


def _by_source(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The lines of each file, where those of several follow each other."""
    codes = batch.column("source").dictionary_encode().indices.to_numpy()
    if len(codes):
        cuts = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
        yield from (batch.slice(begin, end - begin) for begin, end in pairwise(cuts))


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


AIS_SENTENCE = re.compile(
    r"!(?P<talker>[A-Z]{2})(?P<kind>VDM|VDO),(\d{1,2}),(\d{1,2}),(\d*),([^,]*),([^,]*),(\d)\*([0-9A-Fa-f]{2})",
    re.ASCII,
)
TAG_BLOCK = re.compile(r"\\([^\\]*)\\")
TAG_TIME = re.compile(r"(?:^|,)c:(\w+)")
CLOCK_SENTENCE = re.compile(
    r"\$..RMC,(\d{2})(\d{2})(\d{2})(?:\.\d+)?,A,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,(\d{2})(\d{2})(\d{2}),",
    re.ASCII,
)
DATE_SENTENCE = re.compile(r"\$..ZDA,(\d{2})(\d{2})(\d{2})(?:\.\d+)?,(\d{2}),(\d{2}),(\d{4}),", re.ASCII)
FIRST_YEAR_OF_GPS = 80
MILLISECOND_EPOCHS_FROM = 100_000_000_000
EARLIEST_EPOCH_S = 946_684_800
LATEST_US = 253_402_300_799_999_999
"""The end of the year 9999, after which no table has a time."""
MOST_DIGITS = 18
BITS_OF_A_LETTER = 6


@dataclass(frozen=True, slots=True)
class Sentence:
    """An AIS sentence of a line; `time_us` is when it was received, if the line says so, `fault` what is wrong."""

    text: str
    parts: int
    part: int
    group: tuple[str, str, int]
    bits: int
    """How much of the message it carries, filling included."""
    fault: str | None
    time_us: int | None


def parse_sentence(line: str) -> Sentence | None:
    """The AIS sentence in `line`, whatever stands around it, or None."""
    found = AIS_SENTENCE.search(line)
    if not found:
        return None
    text = found.group(0)
    parts, part = int(found.group(3)), int(found.group(4))
    time_us, fault = _time_around(line, found.start(), found.end())
    if not 1 <= part <= parts:
        fault = "unreadable"
    if checksum(text) != int(found.group(9), 16):
        fault = "bad_checksum"
    return Sentence(
        text=text,
        parts=parts,
        part=part,
        group=(found.group(5), found.group(6), parts),
        bits=len(found.group(7)) * BITS_OF_A_LETTER,
        fault=fault,
        time_us=time_us,
    )


def checksum(sentence: str) -> int:
    """The exclusive or of the characters between `!` or `$` and `*`."""
    return reduce(xor, sentence[1 : sentence.index("*")].encode("latin-1", "replace"))


def clock_of(line: str) -> int | None:
    """The time that a GPS sentence (RMC, ZDA) tells, in epoch microseconds, or None."""
    found = CLOCK_SENTENCE.search(line)
    if found:
        hour, minute, second, day, month, year = (int(group) for group in found.groups())
        century = 1900 if year >= FIRST_YEAR_OF_GPS else 2000
        return _micros((century + year, month, day), (hour, minute, second))
    found = DATE_SENTENCE.search(line)
    if found:
        hour, minute, second, day, month, year = (int(group) for group in found.groups())
        return _micros((year, month, day), (hour, minute, second))
    return None


def _time_around(line: str, start: int, end: int) -> tuple[int | None, str | None]:
    """The reception time in a tag block before the sentence, in an epoch after it, or in ISO text before it.

    The second is why a time that the line does give cannot be one: its row is not dated from elsewhere instead.
    """
    block = TAG_BLOCK.search(line, 0, start)
    tagged = TAG_TIME.search(block.group(1)) if block else None
    if tagged:
        return _read_epoch(tagged.group(1))
    after = line[end:].strip(", \r\n").rsplit(",", 1)[-1]
    if after.isdigit() and not (after.isascii() and len(after) <= MOST_DIGITS and int(after) < EARLIEST_EPOCH_S):
        return _read_epoch(after)
    before = line[:start].strip(" ,;|[]\t")
    return _in_time(_iso_us(before)) if before and not block else (None, None)


def _read_epoch(digits: str) -> tuple[int | None, str | None]:
    if not (digits.isascii() and digits.isdigit()):
        return None, "no_time"
    return _in_time(epoch_us(int(digits[: MOST_DIGITS + 1])))


def _in_time(time_us: int | None) -> tuple[int | None, str | None]:
    return (time_us, None) if time_us is None or time_us <= LATEST_US else (None, "future_time")


def epoch_us(value: int) -> int:
    """Microseconds of an epoch in seconds or milliseconds."""
    return value * 1_000 if value >= MILLISECOND_EPOCHS_FROM else value * 1_000_000


def _iso_us(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _since_epoch(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _micros(date: tuple[int, int, int], clock: tuple[int, int, int]) -> int | None:
    try:
        return _since_epoch(datetime(*date, *clock, tzinfo=UTC))
    except ValueError:
        return None


def _since_epoch(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)
