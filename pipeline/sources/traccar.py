"""Traccar position JSON: speed in knots, the event's time is `fixTime`, the engine is told by ignition and motion."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.sources.feed import Cells, Feed
from foresail.pipeline.sources.fields import number, text_of, time_from_anything, truth, whole

_ATTRIBUTES = [
    "ignition",
    "motion",
    "distance",
    "totalDistance",
    "odometer",
    "fuel",
    "fuelLevel",
    "sat",
    "alarm",
    "batteryLevel",
    "hours",
    "driverUniqueId",
]


def columns(cells: Cells) -> dict[str, Column]:
    """Canonical columns from one position; a device that buffered for hours keeps the time of its fix."""
    speed_kn = number(cells("speed"))
    return {
        "track": text_of(cells("deviceId", "uniqueId")),
        "time": time_from_anything(cells("fixTime", "deviceTime")),
        "lon": number(cells("longitude")),
        "lat": number(cells("latitude")),
        "speed_kn": speed_kn,
        "speed_kmh": speed_kn * 1.852,
        "course_deg": number(cells("course")),
        "engine": _engine(cells),
        "fuel_level": _fuel_level(cells),
        "satellites": whole(cells("attributes.sat")),
        "valid": truth(cells("valid")),
        "odometer_m": number(cells("attributes.odometer", "attributes.totalDistance")),
        "alarm": text_of(cells("attributes.alarm")),
        "received_at": time_from_anything(cells("serverTime")),
    }


def _engine(cells: Cells) -> Column:
    """Ignition off is `off`; on, it is `moving` or `idle`; a device that knows no ignition is `moving` or `parked`."""
    ignition = truth(cells("attributes.ignition"))
    moving = F.coalesce(truth(cells("attributes.motion")), number(cells("speed")) > 0)
    return (
        F.when(ignition.isNull(), F.when(moving, "moving").when(~moving, "parked"))
        .when(~ignition, "off")
        .when(moving, "moving")
        .otherwise("idle")
    )


def _fuel_level(cells: Cells) -> Column:
    """`fuelLevel` is a percentage; `fuel` is one too where it is above 1, as most devices send it."""
    fuel = number(cells("attributes.fuel"))
    return F.coalesce(number(cells("attributes.fuelLevel")) / 100, F.when(fuel > 1, fuel / 100).otherwise(fuel))


FEED = Feed(
    name="traccar",
    says="Traccar positions as JSON: a line each, or the list of /api/positions",
    domain="fleet",
    carrier="json",
    columns=columns,
    required=(("deviceId",), ("fixTime",), ("latitude",), ("longitude",)),
    json_schema="deviceId string, uniqueId string, fixTime string, deviceTime string, serverTime string, valid string, "
    "latitude string, longitude string, speed string, course string, "
    f"attributes struct<{', '.join(f'{name}: string' for name in _ATTRIBUTES)}>",
    json_list="$.positions",
)
