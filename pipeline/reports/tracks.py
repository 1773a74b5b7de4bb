"""Tracks as the map draws them: at most so many, each thinned by itself, then simplified for a screen.

Track by track: a field to look for one, and a table of those on which something was found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from foresail.pipeline.reports.found import Found, TrackCount
from foresail.pipeline.reports.map_view import MapView
from foresail.pipeline.reports.page import NOTHING, Column, Markup, Section, count_of, note, plain, table, tag
from foresail.pipeline.reports.timeline import TimeSpan

MOST_TRACKS = 150
MOST_POSITIONS = 60_000
SILENCE_S, SILENT_STEPS = 1800.0, 3.0
"""A longer silence, and longer than so many usual steps of the track, leaves a gap in its line: nobody knows what
lies between."""


@dataclass(frozen=True, slots=True)
class EventFacts:
    """What the events are, in numbers."""

    events: int
    tracks: int
    first: datetime | None
    last: datetime | None
    has_positions: bool

    @property
    def span(self) -> TimeSpan:
        """From the first event to the last."""
        epoch = datetime(1970, 1, 1, tzinfo=UTC)
        first, last = self.first or epoch, self.last or epoch
        return TimeSpan(first.timestamp(), last.timestamp())


def said_of_lines(drawn: int, tracks: int, most: int, thinned: bool) -> str:
    """A sentence about what is not drawn ('' if nothing)."""
    left_out = f"{drawn:,} of {tracks:,} tracks are drawn, those with matches first." if drawn < tracks else ""
    if thinned:
        left_out += f" Of each track about {most:,} positions are drawn, evenly chosen."
    return left_out.strip()


def search_box(view: MapView) -> Markup:
    """The field; what is typed in is looked for in names and numbers of tracks."""
    if view.is_empty:
        return NOTHING
    field = tag("input", type="search", data_search=True, placeholder="name or number", autocomplete="off")
    return tag(
        "div", tag("label", "Look for a vessel or vehicle ", field), tag("output", data_told=True), class_="search"
    )


def track_section(found: Found, tracks: int, patterns: Sequence[str]) -> tuple[Section, ...]:
    """How often each pattern was found on each track, those with most matches first; none where nothing was found."""
    if not found.by_track:
        return ()
    columns = (Column("track"), Column("matches", True), Column("of"))
    rows = [_row(held, patterns) for held in found.by_track]
    names = [name_of(held) for held in found.by_track]
    said = f"Something was found on {found.tracks:,} of {count_of(tracks, 'track')}."
    if len(rows) < found.tracks:
        said += f" These are the {len(rows):,} with most matches."
    listing = table(columns, rows, "dense", [{"data_track": name} for name in names])
    body = note(said) + tag("div", listing, class_="tall")
    return (Section("tracks", "Track by track", body),)


def name_of(held: TrackCount) -> str:
    """What the track is called on the page."""
    return f"{held.name} ({held.track})" if held.name else held.track


def _row(held: TrackCount, patterns: Sequence[str]) -> tuple[object, ...]:
    mine = [(name, held.matches[name]) for name in patterns if name in held.matches]
    kinds = ", ".join(f"{plain(name)} {count:,}" for name, count in mine)
    seek = tag("button", name_of(held), type="button", class_="plain", data_seek=held.name or held.track)
    return (seek, f"{held.total:,}", kinds)
