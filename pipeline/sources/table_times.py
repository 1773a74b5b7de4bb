"""The times of a table that no adapter knows: timestamps, ISO 8601 text, or epoch numbers of any width and unit."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from foresail.pipeline.errors import InputError

MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}
NANOSECONDS_IN_MICROSECOND = 1_000
UNITS_BELOW = (("s", 1e11), ("ms", 1e14), ("us", 1e17))
"""Epoch times up to the year 5138 are below these; larger ones are in nanoseconds."""
NO_EPOCH_FROM = 1e19
FIRST_US, LAST_US = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The years 1 to 9999: outside of them Python has no times."""


def time_of(table: DataFrame, name: str, unit: str | None) -> Column:
    """The column `name` as a timestamp, null where it is none; without a `unit`, that of most epoch times is taken."""
    kind, column = table.schema[name].dataType, F.col(name)
    if isinstance(kind, T.TimestampType):
        return column
    if isinstance(kind, T.TimestampNTZType | T.DateType):
        return column.cast("timestamp")
    if isinstance(kind, T.NumericType):
        return _from_epoch(column, kind, unit or _detected_unit(table, name))
    if isinstance(kind, T.StringType):
        number = F.expr(f"try_cast(`{name}` as double)")
        instants = _from_epoch(number, T.DoubleType(), unit or _detected_unit(table, name))
        return F.when(number.isNotNull(), instants).otherwise(F.try_to_timestamp(column))
    msg = f"column {name}: is {kind.simpleString()}, not a time. Give ISO 8601 text, an epoch number or a timestamp."
    raise InputError(msg)


def _from_epoch(number: Column, kind: T.DataType, unit: str) -> Column:
    """The instant of an epoch number; null where it is beyond all times, however wide the column is."""
    match kind:
        case T.IntegralType():
            wide = number.cast("decimal(20,0)")
        case T.DecimalType():
            wide = number
        case _:
            wide = F.nanvl(number.cast("double"), F.lit(None).cast("double"))
    if unit == "ns":
        micros = F.floor(wide / F.lit(NANOSECONDS_IN_MICROSECOND))
    else:
        micros = F.try_multiply(wide, F.lit(MICROSECONDS[unit]).cast("long"))
    micros = F.round(micros).try_cast("long")
    return F.timestamp_micros(F.when(micros.between(FIRST_US, LAST_US), micros))


def _detected_unit(table: DataFrame, name: str) -> str:
    """The unit of epoch times, told from the median: one that is out of all bounds must not change the others."""
    size = F.abs(F.expr(f"try_cast(`{name}` as double)"))
    row = table.agg(F.percentile_approx(F.when(size < NO_EPOCH_FROM, size), 0.5)).first()
    median = (row[0] if row else None) or 0.0
    return next((unit for unit, below in UNITS_BELOW if median < below), "ns")
