"""Track by track: a field to look for one, and a table of those on which something was found."""

from collections.abc import Sequence

from foresail.pipeline.reports.found import Found, TrackCount
from foresail.pipeline.reports.map_view import MapView
from foresail.pipeline.reports.markup import NOTHING, Column, Markup, note, table, tag
from foresail.pipeline.reports.page import Section
from foresail.pipeline.reports.words import count_of, plain


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
