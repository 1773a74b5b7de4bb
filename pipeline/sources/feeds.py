"""The table of adapters: every feed by its name."""

from difflib import get_close_matches
from pathlib import Path

from foresail.pipeline.errors import OptionError
from foresail.pipeline.sources import (
    brest,
    canonical,
    danish,
    digitraffic,
    gtfs_realtime,
    marine_cadastre,
    nmea,
    traccar,
)
from foresail.pipeline.sources.feed import Feed
from foresail.pipeline.sources.mapped import read_mapping

FEEDS: dict[str, Feed] = {
    feed.name: feed
    for feed in (
        marine_cadastre.FEED,
        danish.FEED,
        brest.FEED,
        digitraffic.FEED,
        nmea.FEED,
        traccar.FEED,
        gtfs_realtime.FEED,
        canonical.PARQUET,
        canonical.JSON,
    )
}
MAPPED = "mapped"
"""The one name that is no adapter of its own: a mapping file makes it one."""
MAPPING_ENDINGS = (".yaml", ".yml")
ALIASES = {
    "marine_cadastre": "noaa",
    "marinecadastre": "noaa",
    "dma": "danish",
    "nari": "brest",
    "ais": "nmea",
    "gtfs": "gtfs_realtime",
    "parquet": "canonical",
    "json": "kafka_json",
    "kafka": "kafka_json",
}


def choose_feed(name: str | None, mapping: Path | None) -> Feed:
    """The adapter that --from and --mapping name together; --from may itself name the mapping file."""
    if name and not mapping and Path(name).suffix.lower() in MAPPING_ENDINGS:
        return read_mapping(Path(name))
    if mapping:
        if name and name not in (MAPPED, "csv", "json", "parquet"):
            msg = f"--from {name}: takes no --mapping. Leave one of them out, or use --from {MAPPED}."
            raise OptionError(msg)
        return read_mapping(mapping)
    if not name or name == MAPPED:
        msg = f"--from {MAPPED}: needs a --mapping FILE that says which column is what. See docs/feeds.md."
        raise OptionError(msg)
    return find_feed(name)


def find_feed(name: str) -> Feed:
    """The adapter of that name, or a fault that names the nearest."""
    plain = name.lower().replace("-", "_")
    feed = FEEDS.get(ALIASES.get(plain, plain))
    if feed is None:
        near = get_close_matches(plain, [*FEEDS, MAPPED, *ALIASES], n=1)
        hint = f"Did you mean '{near[0]}'? " if near else ""
        msg = f"--from {name}: unknown feed. {hint}Known feeds: {', '.join([*FEEDS, MAPPED])}."
        raise OptionError(msg)
    return feed
