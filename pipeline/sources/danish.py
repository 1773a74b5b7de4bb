"""Danish Maritime Authority CSV: day first, codes as words, and base stations and buoys among the ships."""

from typing import Any

from foresail.pipeline.sources import fields
from foresail.pipeline.sources.codes import NAV_STATUS_NAMES, SHIP_TYPE_NAMES, STATION_NAMES
from foresail.pipeline.sources.feed import Feed

NO_VALUES = ("unknown", "undefined")


def columns(cells: Any, f: Any) -> dict[str, Any]:
    """Canonical columns from one line; `Unknown` and `Undefined` are no values."""
    mmsi = f.whole(cells("MMSI"))
    return {
        "track": f.as_text(mmsi),
        "mmsi": mmsi,
        "station": f.named_text(cells("Type of mobile"), STATION_NAMES),
        "time": f.time_from_format(cells("Timestamp"), "dd/MM/yyyy HH:mm:ss"),
        "lon": f.number(cells("Longitude")),
        "lat": f.number(cells("Latitude")),
        "speed_kn": f.number(cells("SOG")),
        "course_deg": f.number(cells("COG")),
        "heading_deg": f.number(cells("Heading")),
        "turn_rate": f.number(cells("ROT")),
        "nav_status": f.named_code(cells("Navigational status"), NAV_STATUS_NAMES),
        "ship_type": f.named_code(cells("Ship type"), SHIP_TYPE_NAMES),
        "length_m": f.number(cells("Length")),
        "name": f.known_word(cells("Name"), NO_VALUES),
        "width_m": f.number(cells("Width")),
        "draught_m": f.number(cells("Draught")),
        "imo": f.whole(cells("IMO")),
        "call_sign": f.known_word(cells("Callsign"), NO_VALUES),
        "destination": f.known_word(cells("Destination"), NO_VALUES),
        "transceiver": f.extracted(cells("Type of mobile"), r"^Class (.)$"),
    }


FEED = Feed(
    name="danish",
    says="Danish Maritime Authority CSV: # Timestamp,Type of mobile,MMSI,Latitude,Longitude,...",
    domain="maritime",
    carrier="csv",
    columns=lambda cells: columns(cells, fields),
    arrays=columns,
    required=(("Timestamp",), ("Type of mobile",), ("MMSI",), ("Latitude",), ("Longitude",)),
    header="# Timestamp,Type of mobile,MMSI,Latitude,Longitude,Navigational status,ROT,SOG,COG,Heading,IMO,Callsign,"
    "Name,Ship type,Cargo type,Width,Length,Type of position fixing device,Draught,Destination,ETA,Data source type,"
    "A,B,C,D",
)
