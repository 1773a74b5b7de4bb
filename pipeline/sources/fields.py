"""Text to values: numbers, times and units as feeds write them. Every function is a Column expression; none raises."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

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


def number(text: Column) -> Column:
    """The number that `text` spells, or null; NaN is no number here."""
    return F.nanvl(text.try_cast("double"), F.lit(None).cast("double"))


def whole(text: Column) -> Column:
    """The whole number that `text` spells (`37.0` is 37), or null."""
    return number(text).try_cast("long")


def text_of(text: Column) -> Column:
    """`text` without blanks and AIS filling (`@`) around it, or null when nothing is left."""
    bare = F.btrim(text, F.lit(" @\t\r"))
    return F.when(bare != "", bare)


def truth(text: Column) -> Column:
    """true/false, 1/0, yes/no, on/off as a Boolean, or null."""
    word = F.lower(F.trim(text))
    return F.when(word.isin("true", "1", "yes", "on"), True).when(word.isin("false", "0", "no", "off"), False)


def angle_deg(value: Column, unit: str = "deg") -> Column:
    """`value` in degrees, 0..360; what is outside one turn either way is left for the cleaning to judge."""
    degrees = value * UNIT_FACTORS["angle"][unit]
    return F.when((degrees < 0) & (degrees >= -360), degrees + 360).otherwise(degrees)


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


def _from_micros(micros: Column) -> Column:
    in_range = F.abs(micros) < 9.2e18
    return F.timestamp_micros(F.when(in_range, F.round(micros)).try_cast("long"))


def _in_zone(local: Column, zone: str) -> Column:
    return F.to_utc_timestamp(local, zone)
