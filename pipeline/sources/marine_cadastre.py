"""MarineCadastre CSV, US AIS as NOAA publishes it: times without a zone are UTC, types may have four digits."""

from typing import Any

from foresail.pipeline.sources import fields
from foresail.pipeline.sources.codes import US_VESSEL_TYPES
from foresail.pipeline.sources.feed import Feed


def columns(cells: Any, f: Any) -> dict[str, Any]:
    """Canonical columns from one line, in the spelling of the older and the newer years."""
    mmsi = f.whole(cells("MMSI"))
    ship_type = f.whole(cells("VesselType", "vessel_type"))
    return {
        "track": f.as_text(mmsi),
        "mmsi": mmsi,
        "time": f.time_from_iso(cells("BaseDateTime", "base_date_time")),
        "lon": f.number(cells("LON", "longitude")),
        "lat": f.number(cells("LAT", "latitude")),
        "speed_kn": f.number(cells("SOG")),
        "course_deg": f.number(cells("COG")),
        "heading_deg": f.number(cells("Heading")),
        "nav_status": f.whole(cells("Status")),
        "ship_type": f.coalesce(f.looked_up(f.as_integer(ship_type), US_VESSEL_TYPES), ship_type),
        "length_m": f.number(cells("Length")),
        "name": f.text_of(cells("VesselName", "vessel_name")),
        "width_m": f.number(cells("Width")),
        "draught_m": f.number(cells("Draft")),
        "imo": f.whole(f.without(cells("IMO"), "IMO")),
        "call_sign": f.text_of(cells("CallSign", "call_sign")),
        "cargo": f.as_integer(f.whole(cells("Cargo"))),
        "transceiver": f.text_of(cells("TransceiverClass", "transceiver_class", "transceiver")),
    }


FEED = Feed(
    name="noaa",
    says="MarineCadastre CSV (US): MMSI,BaseDateTime,LAT,LON,SOG,COG,Heading,...",
    domain="maritime",
    carrier="csv",
    columns=lambda cells: columns(cells, fields),
    arrays=columns,
    required=(("MMSI",), ("BaseDateTime", "base_date_time"), ("LAT", "latitude"), ("LON", "longitude")),
    header="MMSI,BaseDateTime,LAT,LON,SOG,COG,Heading,VesselName,IMO,CallSign,VesselType,Status,Length,Width,Draft,"
    "Cargo,TransceiverClass",
)
