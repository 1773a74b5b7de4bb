"""MarineCadastre CSV, US AIS as NOAA publishes it: times without a zone are UTC, types may have four digits."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.sources.codes import US_VESSEL_TYPES, looked_up
from foresail.pipeline.sources.feed import Cells, Feed
from foresail.pipeline.sources.fields import number, text_of, time_from_iso, whole


def columns(cells: Cells) -> dict[str, Column]:
    """Canonical columns from one line, in the spelling of the older and the newer years."""
    ship_type = whole(cells("VesselType", "vessel_type"))
    return {
        "track": whole(cells("MMSI")).cast("string"),
        "mmsi": whole(cells("MMSI")),
        "time": time_from_iso(cells("BaseDateTime", "base_date_time")),
        "lon": number(cells("LON", "longitude")),
        "lat": number(cells("LAT", "latitude")),
        "speed_kn": number(cells("SOG")),
        "course_deg": number(cells("COG")),
        "heading_deg": number(cells("Heading")),
        "nav_status": whole(cells("Status")),
        "ship_type": F.coalesce(looked_up(ship_type.cast("int"), US_VESSEL_TYPES), ship_type),
        "length_m": number(cells("Length")),
        "name": text_of(cells("VesselName", "vessel_name")),
        "width_m": number(cells("Width")),
        "draught_m": number(cells("Draft")),
        "imo": whole(F.replace(cells("IMO"), F.lit("IMO"), F.lit(""))),
        "call_sign": text_of(cells("CallSign", "call_sign")),
        "cargo": whole(cells("Cargo")).cast("int"),
        "transceiver": text_of(cells("TransceiverClass", "transceiver_class", "transceiver")),
    }


FEED = Feed(
    name="noaa",
    says="MarineCadastre CSV (US): MMSI,BaseDateTime,LAT,LON,SOG,COG,Heading,...",
    domain="maritime",
    carrier="csv",
    columns=columns,
    required=(("MMSI",), ("BaseDateTime", "base_date_time"), ("LAT", "latitude"), ("LON", "longitude")),
    header="MMSI,BaseDateTime,LAT,LON,SOG,COG,Heading,VesselName,IMO,CallSign,VesselType,Status,Length,Width,Draft,"
    "Cargo,TransceiverClass",
)
