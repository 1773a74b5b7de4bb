"""Brest / NARI CSV: epoch seconds, the rate of turn as transmitted, ship types in a second file."""

from typing import Any

from foresail.pipeline.sources import fields
from foresail.pipeline.sources.feed import Feed

TURN_INDICATOR_SCALE = 4.733
"""Transmitted rate of turn = 4.733 times the root of the rate in degrees a minute (ITU-R M.1371)."""


def columns(cells: Any, f: Any) -> dict[str, Any]:
    """Canonical columns from one line of the dynamic file."""
    mmsi = f.whole(cells("sourcemmsi"))
    epoch = f.number(cells("t", "ts"))
    return {
        "track": f.as_text(mmsi),
        "mmsi": mmsi,
        "time": f.time_from_epoch(epoch),
        "repair_time_unit": f.other_unit(epoch, "s"),
        "lon": f.number(cells("lon")),
        "lat": f.number(cells("lat")),
        "speed_kn": f.number(cells("speedoverground")),
        "course_deg": f.number(cells("courseoverground")),
        "heading_deg": f.number(cells("trueheading")),
        "turn_rate": f.turn_rate_of(f.number(cells("rateofturn")), TURN_INDICATOR_SCALE),
        "nav_status": f.whole(cells("navigationalstatus")),
    }


FEED = Feed(
    name="brest",
    says="Brest / NARI CSV: sourcemmsi,navigationalstatus,...,lon,lat,t; ship types by --static FILE",
    domain="maritime",
    carrier="csv",
    columns=lambda cells: columns(cells, fields),
    arrays=columns,
    required=(("sourcemmsi",), ("lon",), ("lat",), ("t", "ts")),
    header="sourcemmsi,navigationalstatus,rateofturn,speedoverground,courseoverground,trueheading,lon,lat,t",
)
