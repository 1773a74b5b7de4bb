"""What a column is called in feeds of many makers, and what its name says of its unit."""

import re
from dataclasses import dataclass

NAMES: dict[str, tuple[str, ...]] = {
    "mmsi": ("mmsi", "sourcemmsi", "mmsi number", "user id mmsi"),
    "track": (
        "track", "track id", "vehicle id", "device id", "vessel id", "ship id", "unit id", "object id", "asset id",
        "taxi id", "bus id", "truck id", "trajectory id", "traj id", "uid", "imei", "vehicle", "device", "vessel",
        "ship", "boat", "boot", "bateau", "navire", "barco",
        "truck", "bus", "taxi", "car", "plate", "license plate", "licence plate", "registration",
        "number plate", "kennzeichen", "fahrzeug", "fahrzeug id", "schiff", "vehicule", "vehicle no", "vehicle number",
        "unique id", "individual local identifier", "tag id", "icao24", "id", "entity id", "driver id", "imo",
        "call sign", "callsign", "trip id", "name",
    ),
    "time": (
        "time", "timestamp", "time stamp", "datetime", "date time", "base date time", "t", "ts", "utc", "time utc",
        "utc time", "timestamp utc", "gps time", "fix time", "device time", "recorded at", "received at", "created at",
        "event time", "event date", "position time", "unix time", "epoch", "epoch s", "epoch ms", "date", "zeit",
        "zeitstempel", "datum zeit", "heure", "horodatage", "fecha", "fecha hora", "data ora", "tijd", "tidspunkt",
        "msg time", "message time", "dt pos utc", "dt", "acquisition time", "position timestamp", "zeitpunkt", "datum",
    ),
    "lon": (
        "lon", "long", "longitude", "lng", "x", "gps lon", "gps long", "gps longitude", "position lon",
        "position longitude", "location lon", "location lng", "location longitude", "location long", "coord x",
        "laengengrad", "längengrad", "laenge", "länge", "longitud", "decimal longitude", "lon deg", "longitude deg",
        "longitude degrees", "pos x", "xcoord", "geo lon",
    ),
    "lat": (
        "lat", "latitude", "y", "gps lat", "gps latitude", "position lat", "position latitude", "location lat",
        "location latitude", "coord y", "breitengrad", "breite", "latitud", "decimal latitude", "lat deg",
        "latitude deg", "latitude degrees", "pos y", "ycoord", "geo lat",
    ),
    "speed": (
        "speed", "sog", "speed over ground", "speedoverground", "velocity", "spd", "gps speed", "ground speed",
        "groundspeed", "geschwindigkeit", "vitesse", "velocidad", "snelheid", "vehicle speed", "fart", "tempo",
    ),
    "course_deg": (
        "cog", "course", "course over ground", "courseoverground", "bearing", "kurs", "course deg", "azimuth", "dir",
    ),
    "heading_deg": ("heading", "true heading", "trueheading", "hdg", "heading deg", "yaw"),
    "turn_rate": ("rot", "rate of turn", "rateofturn", "turn rate"),
    "nav_status": ("status", "nav status", "navstat", "navigational status", "navigation status", "navigationalstatus"),
    "ship_type": ("ship type", "shiptype", "vessel type", "vesseltype", "ship type code", "type code"),
    "vessel_type": ("vessel type", "ship type", "vessel class", "ship class", "type of ship"),
    "length_m": ("length", "loa", "vessel length", "ship length", "length overall", "length m"),
    "name": ("name", "vessel name", "vesselname", "ship name", "shipname", "schiffsname"),
    "fuel_level": ("fuel", "fuel level", "fuellevel", "tank", "fuel tank", "tankinhalt", "fuel percent"),
    "satellites": ("satellites", "sats", "sat", "num satellites", "nsat", "satellite count", "number of satellites"),
    "engine": ("engine", "engine state", "engine status", "ignition", "zuendung", "zündung"),
}  # fmt: skip
"""Canonical columns and the names they go by, the surest first; words apart, in lower case."""

UNIT_WORDS: dict[str, tuple[str, ...]] = {
    "kn": ("kn", "kt", "kts", "knot", "knots", "knoten", "noeuds"),
    "km/h": ("km/h", "kmh", "kph", "kmph", "km h"),
    "m/s": ("m/s", "mps", "m s", "ms"),
    "mph": ("mph", "mi/h"),
    "rad": ("rad", "radian", "radians"),
    "deg": ("deg", "degree", "degrees", "°", "grad"),
    "ft": ("ft", "feet", "foot"),
    "m": ("m", "metre", "metres", "meter", "meters"),
    "percent": ("%", "percent", "pct", "prozent"),
}
MARITIME_WORDS = frozenset(
    {
        "mmsi", "imo", "sog", "cog", "rot", "vessel", "ship", "boat", "draught", "draft", "navstat", "ais",
        "schiff", "yacht", "fishing", "ferry", "boot", "bateau", "navire", "barco",
    }
)  # fmt: skip
FLEET_WORDS = frozenset(
    {
        "vehicle", "bus", "truck", "car", "taxi", "trip", "route", "device", "plate", "imei", "ignition", "fuel",
        "odometer", "driver", "engine", "stop", "van", "fahrzeug", "kennzeichen", "rpm", "satellites", "tram",
    }
)  # fmt: skip
LABEL_WORDS = frozenset(
    {
        "id", "ids", "no", "nr", "number", "code", "name", "label", "key", "ref", "route", "line", "imo", "callsign",
        "plate", "zip", "postcode",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Named:
    """What the name of a column says."""

    role: str
    rank: int
    """How sure the name is; 0 is surest."""


def words_of(name: str) -> list[str]:
    """The words of a column's name: `SOG_knots`, `fixTime`, `speed (km/h)`, `Geschw.[kn]`."""
    apart = re.sub(r"(?<=[a-zäöü0-9])(?=[A-ZÄÖÜ])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return re.sub(r"[^a-zäöüß0-9/%°]+", " ", apart.lower()).split()


def roles_of(name: str) -> list[Named]:
    """The canonical columns that `name` may be, the surest first; a unit in the name does not count."""
    words = words_of(name.rpartition(".")[2] if "." in name and "(" not in name else name)
    whole, bare = " ".join(words), " ".join(_without_units(words))
    found: list[Named] = []
    for role, names in NAMES.items():
        ranks = [names.index(text) for text in (whole, bare) if text in names]
        joined = "".join(words)
        ranks += [place for place, known in enumerate(names) if known.replace(" ", "") == joined]
        if ranks:
            found.append(Named(role, min(ranks)))
    return sorted(found, key=lambda named: named.rank)


def is_label(name: str) -> bool:
    """Whether the column names things rather than measures them, so that its numbers are no quantities."""
    return bool(LABEL_WORDS & set(words_of(name)))


def unit_of(name: str, units: tuple[str, ...]) -> str | None:
    """The unit among `units` that the name of a column ends with, or has in brackets."""
    words = words_of(name)
    for unit in units:
        spelled = UNIT_WORDS.get(unit, ())
        if any(word in spelled for word in words[1:]) or any(
            f" {word}" in " ".join(words) for word in spelled if " " in word
        ):
            return unit
    return None


def _without_units(words: list[str]) -> list[str]:
    units = {word for spelled in UNIT_WORDS.values() for word in spelled}
    kept = words[:1] + [word for word in words[1:] if word not in units]
    return [word for word in kept if word not in ("utc", "wgs84")] or words
