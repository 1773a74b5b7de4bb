"""Canonical positions: Parquet with the columns of `pipeline.schemas`, and the same as JSON, e.g. from Kafka."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from foresail.pipeline.schemas import POSITION_COLUMNS
from foresail.pipeline.sources.feed import Cells, Feed
from foresail.pipeline.sources.fields import number, text_of, time_from_anything, truth, whole

REQUIRED = (("track", "mmsi"), ("time",), ("lon",), ("lat",))


def columns(cells: Cells) -> dict[str, Column]:
    """Each canonical column from the field of its name; a vessel without a track has its MMSI for one."""
    values = {name: _read(cells(name), kind) for name, kind in POSITION_COLUMNS.items() if name not in _ORIGIN}
    values["track"] = F.coalesce(text_of(cells("track")), whole(cells("mmsi")).cast("string"))
    values["time"] = time_from_anything(cells("time"))
    return values


_ORIGIN = ("source", "offset", "track", "time")


def _read(value: Column, kind: T.DataType) -> Column:
    match kind:
        case T.DoubleType():
            return number(value)
        case T.IntegerType() | T.LongType():
            return whole(value)
        case T.BooleanType():
            return truth(value.cast("string"))
        case _:
            return text_of(value)


PARQUET = Feed(
    name="canonical",
    says="Parquet with the canonical columns (track, time, lon, lat, ...); further columns pass through",
    domain="maritime",
    carrier="parquet",
    columns=columns,
    required=REQUIRED,
    keep_rest=True,
)

JSON = Feed(
    name="kafka_json",
    says="Canonical positions as JSON: from a topic (--input kafka://host:9092/topic) or a line each in files",
    domain="maritime",
    carrier="json",
    columns=columns,
    required=REQUIRED,
    json_schema=", ".join(f"{name} string" for name in POSITION_COLUMNS if name not in ("source", "offset")),
    json_types={
        name: "boolean" if isinstance(kind, T.BooleanType) else "double"
        for name, kind in POSITION_COLUMNS.items()
        if isinstance(kind, T.BooleanType | T.DoubleType | T.IntegerType | T.LongType) and name not in _ORIGIN
    },
)
