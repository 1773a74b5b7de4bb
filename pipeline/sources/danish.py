"""Danish Maritime Authority CSV: day first, codes as words, and base stations and buoys among the ships."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.sources.codes import NAV_STATUS_NAMES, SHIP_TYPE_NAMES, STATION_NAMES, named_code
from foresail.pipeline.sources.feed import Cells, Feed
from foresail.pipeline.sources.fields import number, text_of, time_from_format, whole


def columns(cells: Cells) -> dict[str, Column]:
    """Canonical columns from one line; `Unknown` and `Undefined` are no values."""
    return {
        "track": whole(cells("MMSI")).cast("string"),
        "mmsi": whole(cells("MMSI")),
        "station": named_code(cells("Type of mobile"), STATION_NAMES),
        "time": time_from_format(cells("Timestamp"), "dd/MM/yyyy HH:mm:ss"),
        "lon": number(cells("Longitude")),
        "lat": number(cells("Latitude")),
        "speed_kn": number(cells("SOG")),
        "course_deg": number(cells("COG")),
        "heading_deg": number(cells("Heading")),
        "turn_rate": number(cells("ROT")),
        "nav_status": named_code(cells("Navigational status"), NAV_STATUS_NAMES),
        "ship_type": named_code(cells("Ship type"), SHIP_TYPE_NAMES),
        "length_m": number(cells("Length")),
        "name": _known(cells("Name")),
        "width_m": number(cells("Width")),
        "draught_m": number(cells("Draught")),
        "imo": whole(cells("IMO")),
        "call_sign": _known(cells("Callsign")),
        "destination": _known(cells("Destination")),
        "transceiver": F.regexp_extract(cells("Type of mobile"), r"^Class (.)$", 1),
    }


def _known(text: Column) -> Column:
    value = text_of(text)
    return F.when(~F.lower(value).isin("unknown", "undefined"), value)


FEED = Feed(
    name="danish",
    says="Danish Maritime Authority CSV: # Timestamp,Type of mobile,MMSI,Latitude,Longitude,...",
    domain="maritime",
    carrier="csv",
    columns=columns,
    required=(("Timestamp",), ("Type of mobile",), ("MMSI",), ("Latitude",), ("Longitude",)),
    header="# Timestamp,Type of mobile,MMSI,Latitude,Longitude,Navigational status,ROT,SOG,COG,Heading,IMO,Callsign,"
    "Name,Ship type,Cargo type,Width,Length,Type of position fixing device,Draught,Destination,ETA,Data source type,"
    "A,B,C,D",
)
