"""Digitraffic (Finland) JSON: `timestamp` is only the second of the minute, the time is `timestampExternal` in ms."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.sources.feed import Cells, Feed
from foresail.pipeline.sources.fields import number, time_from_epoch, truth, whole

_PROPERTIES = "sog string, cog string, navStat string, rot string, posAcc string, raim string, heading string"
_TIMES = "timestamp string, timestampExternal string, time string"


def columns(cells: Cells) -> dict[str, Column]:
    """Canonical columns from a flat message or a GeoJSON feature."""
    mmsi = whole(cells("mmsi", "properties.mmsi"))
    coordinates = cells("geometry.coordinates")
    return {
        "track": mmsi.cast("string"),
        "mmsi": mmsi,
        "time": time_from_epoch(
            number(cells("timestampExternal", "properties.timestampExternal", "time", "properties.time"))
        ),
        "lon": number(F.coalesce(cells("lon"), F.get(coordinates, 0))),
        "lat": number(F.coalesce(cells("lat"), F.get(coordinates, 1))),
        "speed_kn": number(cells("sog", "properties.sog")),
        "course_deg": number(cells("cog", "properties.cog")),
        "heading_deg": number(cells("heading", "properties.heading")),
        "turn_rate": number(cells("rot", "properties.rot")),
        "nav_status": whole(cells("navStat", "properties.navStat")),
        "accurate": truth(cells("posAcc", "properties.posAcc")),
    }


FEED = Feed(
    name="digitraffic",
    says="Digitraffic (Finland) JSON: messages a line, a list, or the GeoJSON of /locations",
    domain="maritime",
    carrier="json",
    columns=columns,
    required=(("mmsi",), ("lon",), ("lat",), ("timestampExternal",)),
    json_schema=f"mmsi string, lon string, lat string, {_PROPERTIES}, {_TIMES}, "
    f"geometry struct<coordinates: array<string>>, "
    f"properties struct<mmsi: string, {_PROPERTIES.replace(' string', ': string')}, "
    f"{_TIMES.replace(' string', ': string')}>",
    json_list="$.features",
)
