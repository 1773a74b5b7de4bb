"""Feeds that are known by their columns or their form, so that no mapping is needed."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from foresail.pipeline.look.head import Head
from foresail.pipeline.look.tables import SHOWN_ROWS
from foresail.pipeline.sources.feeds import FEEDS
from foresail.pipeline.sources.nmea import parse_sentence
from foresail.pipeline.sources.text_rows import fits

GEOJSON_MESSAGE = {"properties.mmsi", "geometry.coordinates"}
LOOKED_LINES = 2_000
NMEA_SHARE = 0.3


def feed_of_csv(header: str, delimiter: str) -> str | None:
    """The CSV feed whose columns `header` has."""
    return next((feed.name for feed in FEEDS.values() if feed.carrier == "csv" and fits(feed, header, delimiter)), None)


def feed_of_fields(names: Sequence[str], carrier: str) -> str | None:
    """The feed of JSON messages, or of Parquet, that has all it needs among `names`."""
    own = set(names) if carrier == "json" else {name.lower() for name in names}
    if carrier == "json" and own >= GEOJSON_MESSAGE:
        return "digitraffic"
    candidates = [feed for feed in FEEDS.values() if feed.carrier == carrier and feed.required]
    return next((feed.name for feed in candidates if all(own & set(known) for known in feed.required)), None)


def nmea_lines(text: str) -> list[str]:
    """The lines, if they are NMEA sentences; none where they are not."""
    lines = text.splitlines()[:LOOKED_LINES]
    sentences = sum(1 for line in lines if line.lstrip().startswith(("!", "$", "\\")) and line.count(",") > 2)
    filled = sum(1 for line in lines if line.strip())
    return lines if filled and sentences >= max(1, NMEA_SHARE * filled) else []


def has_ais(lines: Sequence[str]) -> bool:
    """Whether any of them is an AIS sentence."""
    return any(parse_sentence(line) is not None for line in lines)


def nmea_rows(lines: Sequence[str], head: Head) -> tuple[list[dict[str, Any]], bool]:
    """The first positions among the sentences, as the feed's decoder reads them, and whether the file dates them."""
    from foresail.pipeline.sources.nmea_decoder import Decoder, Line  # noqa: PLC0415 - pyais is only needed here

    decoder = Decoder(round(head.path.stat().st_mtime * 1_000_000))
    rows: list[dict[str, Any]] = []
    undated = False
    for number, raw in enumerate(lines, start=1):
        for found in decoder.advance(Line(str(head.path), number, raw, False)):
            if found.fault is None and found.lon is not None:
                undated |= found.from_file
                time = datetime.fromtimestamp(found.time_us / 1e6, UTC) if found.time_us is not None else None
                names = ("mmsi", "lon", "lat", "speed_kn", "course_deg", "heading_deg")
                rows.append({"time": time} | {name: getattr(found, name) for name in names})
        if len(rows) >= SHOWN_ROWS:
            break
    return rows[:SHOWN_ROWS], undated


def gtfs_rows(head: Head) -> list[dict[str, Any]] | None:
    """The first vehicles of a GTFS-realtime snapshot; None where it is none."""
    if not head.whole or not head.data.startswith(b"\x0a"):
        return None
    from foresail.pipeline.sources.gtfs_realtime import entities_of  # noqa: PLC0415 - protobuf is only needed here

    entities = entities_of(head.data, str(head.path))
    if not entities or any(entity.get("fault") == "unreadable" for entity in entities):
        return None
    names = {"track": "vehicle", "lon": "longitude", "lat": "latitude", "course_deg": "bearing"}
    return [
        {"time": datetime.fromtimestamp(entity["timestamp"], UTC) if entity.get("timestamp") else None}
        | {name: entity.get(field) for name, field in names.items()}
        for entity in entities[:SHOWN_ROWS]
    ]
