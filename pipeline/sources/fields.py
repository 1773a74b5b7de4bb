"""Text to values: numbers, times and units as feeds write them. Every function is a Column expression; none raises.

`foresail.pipeline.feeds.array_fields` has the same functions over arrays, for feeds that are read in whole batches.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.functions import coalesce, lit

from foresail.pipeline.sources.codes import looked_up, named_code

UNIT_FACTORS: dict[str, dict[str, float]] = {
    "speed_kn": {"kn": 1.0, "m/s": 3600 / 1852, "km/h": 1 / 1.852, "mph": 1.609344 / 1.852, "0.1 kn": 0.1},
    "speed_kmh": {"km/h": 1.0, "m/s": 3.6, "kn": 1.852, "mph": 1.609344},
    "angle": {"deg": 1.0, "rad": 57.29577951308232},
    "length_m": {"m": 1.0, "ft": 0.3048, "km": 1000.0},
    "fuel_level": {"fraction": 1.0, "percent": 0.01},
}
"""For each kind of column: what a feed may count in, and the factor to the unit of the column's name."""

EPOCH_MICROSECONDS = {"s": 1_000_000.0, "ms": 1_000.0, "us": 1.0, "ns": 0.001}
ZONE_AT_END = r":\d{2}(\.\d+)?\s*(Z|[+-]\d{2}(:?\d{2})?)$"
SHORTEST_TIME_TEXT = len("2022-01-03 0:00")

__all__ = ["coalesce", "lit", "looked_up", "named_code"]


def number(text: Column) -> Column:
    """The number that `text` spells, or null; NaN is no number here."""
    return F.nanvl(text.try_cast("double"), F.lit(None).cast("double"))


def whole(text: Column) -> Column:
    """The whole number that `text` spells (`37.0` is 37), or null."""
    return number(text).try_cast("long")


def as_whole(value: Column) -> Column:
    """The number without its decimals; null where no long number holds it."""
    return value.try_cast("long")


def rounded(value: Column) -> Column:
    """The whole number nearest to it."""
    return F.round(value).try_cast("long")


def as_integer(value: Column) -> Column:
    """A whole number of 32 bits; null where it does not fit."""
    return value.try_cast("int")


def as_text(value: Column) -> Column:
    """The whole number in digits."""
    return value.cast("string")


def text_of(text: Column) -> Column:
    """`text` without blanks and AIS filling (`@`) around it, or null when nothing is left."""
    bare = F.btrim(text, F.lit(" @\t\r"))
    return F.when(bare != "", bare)


def known_word(text: Column, unknown: Sequence[str]) -> Column:
    """Like `text_of`, and null where it is one of the words, whatever its case."""
    value = text_of(text)
    return F.when(~F.lower(value).isin(*unknown), value)


def without(text: Column, part: str) -> Column:
    """`text` with every `part` left out."""
    return F.replace(text, F.lit(part), F.lit(""))


def extracted(text: Column, pattern: str) -> Column:
    """The first group of the pattern; empty where it is not found."""
    return F.regexp_extract(text, pattern, 1)


def named_text(text: Column, table: Mapping[str, str]) -> Column:
    """What `table` has for a phrase, whatever its case."""
    return named_code(text.cast("string"), dict(table))


def joined(parts: Sequence[Column]) -> Column:
    """The parts with a blank between; null where one is."""
    texts = [text for part in parts for text in (F.lit(" "), F.trim(part.cast("string")))]
    return F.concat(*texts[1:])


def known_text(text: Column, missing: Sequence[str | float]) -> Column:
    """`text`, or null where it is one of the values that mean: no value; -999 is also -999.0."""
    if not missing:
        return text
    bare = F.lower(F.trim(text.cast("string")))
    none = bare.isin(*{str(value).strip().lower() for value in missing})
    figures = [float(value) for value in missing if isinstance(value, int | float)]
    if figures:
        none = none | F.coalesce(number(with_point(bare)).isin(*figures), F.lit(False))
    return F.when(~none, text)


def spelled(text: Column) -> Column:
    """What is no text, in letters."""
    return text.cast("string")


def with_point(text: Column) -> Column:
    """Commas as points."""
    return F.replace(text, F.lit(","), F.lit("."))


def file_name(_: Any) -> Column:
    """The name of the file, without folder and endings."""
    return F.regexp_extract(F.col("source"), r"([^/]+?)(\.[^/]*)?$", 1)


def truth(text: Column) -> Column:
    """true/false, 1/0, yes/no, on/off as a Boolean, or null."""
    word = F.lower(F.trim(text))
    return F.when(word.isin("true", "1", "yes", "on"), True).when(word.isin("false", "0", "no", "off"), False)


def angle_deg(value: Column, unit: str = "deg") -> Column:
    """`value` in degrees, 0..360; what is outside one turn either way is left for the cleaning to judge."""
    degrees = value * UNIT_FACTORS["angle"][unit]
    return F.when((degrees < 0) & (degrees >= -360), degrees + 360).otherwise(degrees)


def turn_rate_of(transmitted: Column, scale: float) -> Column:
    """Degrees a minute from the transmitted indicator; its sentinels (-128, 127, -127) stay for the cleaning."""
    scaled = transmitted / scale
    return F.when(F.abs(transmitted) >= 127, transmitted).otherwise(F.signum(transmitted) * scaled * scaled)


def scaled(value: Column, scale: float | None, offset: float | None) -> Column:
    """`value` times `scale` plus `offset`, as far as there are any."""
    larger = value if scale is None else value * scale
    return larger if offset is None else larger + offset


def time_from_iso(text: Column, zone: str = "UTC") -> Column:
    """The instant that ISO 8601 text names; text without an offset is in `zone`."""
    parsed = F.when(F.length(text) >= SHORTEST_TIME_TEXT, text).try_cast("timestamp")
    return parsed if zone == "UTC" else F.when(text.rlike(ZONE_AT_END), parsed).otherwise(_in_zone(parsed, zone))


def time_from_format(text: Column, pattern: str, zone: str = "UTC") -> Column:
    """The instant that `text` names in a datetime pattern of Spark's; a pattern without an offset is in `zone`."""
    parsed = F.try_to_timestamp(text, F.lit(pattern))
    has_offset = any(sign in pattern for sign in "XxZzVO")
    return parsed if zone == "UTC" or has_offset else _in_zone(parsed, zone)


def epoch_unit(value: Column) -> Column:
    """The unit in which `value`, an epoch, makes a time of this century: s, ms, us or ns."""
    size = F.abs(value)
    return F.when(size < 1e11, "s").when(size < 1e14, "ms").when(size < 1e17, "us").otherwise("ns")


def other_unit(value: Column, unit: str) -> Column:
    """Whether an epoch makes a time of this century in another unit than that."""
    return epoch_unit(value) != unit


def time_from_epoch(value: Column) -> Column:
    """The instant of an epoch number, in whichever unit it is."""
    unit = epoch_unit(value)
    factor = F.lit(EPOCH_MICROSECONDS["s"])
    for name in ("ms", "us", "ns"):
        factor = F.when(unit == name, EPOCH_MICROSECONDS[name]).otherwise(factor)
    return _from_micros(value * factor)


def time_from_anything(text: Column, zone: str = "UTC") -> Column:
    """The instant that ISO text or an epoch number names."""
    value = number(text)
    return F.when(value.isNotNull(), time_from_epoch(value)).otherwise(time_from_iso(text, zone))


kept_time = time_from_anything
"""The instant that a further column holds."""


def _from_micros(micros: Column) -> Column:
    in_range = F.abs(micros) < 9.2e18
    return F.timestamp_micros(F.when(in_range, F.round(micros)).try_cast("long"))


def _in_zone(local: Column, zone: str) -> Column:
    return F.to_utc_timestamp(local, zone)
