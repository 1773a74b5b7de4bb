"""The table of adapters: every feed by its name."""

from difflib import get_close_matches

from pipeline.errors import InputError
from pipeline.sources import marine_cadastre
from pipeline.sources.feed import Feed

FEEDS: dict[str, Feed] = {feed.name: feed for feed in (marine_cadastre.FEED,)}
MAPPED = "mapped"
ALIASES = {"marine_cadastre": "noaa", "marinecadastre": "noaa", "csv": MAPPED, "gtfs": "gtfs_realtime"}


def find_feed(name: str) -> Feed:
    """The adapter of that name, or a fault that names the nearest."""
    plain = name.lower().replace("-", "_")
    feed = FEEDS.get(ALIASES.get(plain, plain))
    if feed is None:
        known = [*FEEDS, MAPPED]
        near = get_close_matches(plain, [*known, *ALIASES], n=1)
        hint = f"Did you mean '{near[0]}'? " if near else ""
        msg = f"--from {name}: unknown feed. {hint}Known feeds: {', '.join(known)}."
        raise InputError(msg)
    return feed
