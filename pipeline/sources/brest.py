"""Brest / NARI CSV: epoch seconds, the rate of turn as transmitted, ship types in a second file."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.sources.feed import Cells, Feed
from foresail.pipeline.sources.fields import epoch_unit, number, time_from_epoch, whole

TURN_INDICATOR_SCALE = 4.733
"""Transmitted rate of turn = 4.733 times the root of the rate in degrees a minute (ITU-R M.1371)."""


def columns(cells: Cells) -> dict[str, Column]:
    """Canonical columns from one line of the dynamic file."""
    epoch = number(cells("t", "ts"))
    return {
        "track": whole(cells("sourcemmsi")).cast("string"),
        "mmsi": whole(cells("sourcemmsi")),
        "time": time_from_epoch(epoch),
        "repair_time_unit": epoch_unit(epoch) != "s",
        "lon": number(cells("lon")),
        "lat": number(cells("lat")),
        "speed_kn": number(cells("speedoverground")),
        "course_deg": number(cells("courseoverground")),
        "heading_deg": number(cells("trueheading")),
        "turn_rate": turn_rate_of(number(cells("rateofturn"))),
        "nav_status": whole(cells("navigationalstatus")),
    }


def turn_rate_of(transmitted: Column) -> Column:
    """Degrees a minute from the transmitted indicator; its sentinels (-128, 127, -127) stay for the cleaning."""
    scaled = transmitted / TURN_INDICATOR_SCALE
    return F.when(F.abs(transmitted) >= 127, transmitted).otherwise(F.signum(transmitted) * scaled * scaled)


FEED = Feed(
    name="brest",
    says="Brest / NARI CSV: sourcemmsi,navigationalstatus,...,lon,lat,t; ship types by --static FILE",
    domain="maritime",
    carrier="csv",
    columns=columns,
    required=(("sourcemmsi",), ("lon",), ("lat",), ("t", "ts")),
    header="sourcemmsi,navigationalstatus,rateofturn,speedoverground,courseoverground,trueheading,lon,lat,t",
)
