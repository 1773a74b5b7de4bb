"""The page of a recognition run: where and when each pattern was found, by what definition, and on which events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from foresail.geo import Layer
from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions import AttributeType
from foresail.patterns.spec import without_features
from foresail.pipeline.local.explanation import Explanation
from foresail.pipeline.reports.found import Found, Match, listed
from foresail.pipeline.reports.land import SAID, land_around
from foresail.pipeline.reports.map_layers import map_layers
from foresail.pipeline.reports.map_view import MapView, Mark, MarkGroup, TrackLine, bounds, map_data, map_markup
from foresail.pipeline.reports.match_events import MatchEvents, Searched
from foresail.pipeline.reports.near_misses import Sought, absent_details, near_miss_group
from foresail.pipeline.reports.page import (
    REPORT_FILE,
    Column,
    Markup,
    Page,
    Section,
    count_of,
    counted,
    joined,
    moment,
    note,
    paragraphs,
    plain,
    span,
    table,
    tag,
    times,
    titled,
    write_page,
)
from foresail.pipeline.reports.page import listed as in_words
from foresail.pipeline.reports.pattern_section import PatternFound, counts_table, match_key, pattern_details
from foresail.pipeline.reports.plots import sign_of
from foresail.pipeline.reports.timeline import TimeRow, TimeSpan, timeline
from foresail.pipeline.reports.tracks import EventFacts, search_box, track_section
from foresail.pipeline.reports.whys import read_whys
from foresail.pipeline.stages.known_share import in_words as said

MAP_DATA = "map-data"
FOOT = "All times are UTC. This page needs no network: it can be kept, mailed and printed as it is."


@dataclass(frozen=True, slots=True)
class Recognition:
    """Everything that the page shows, read once."""

    facts: EventFacts
    found: Found
    searched: dict[str, Searched]
    listed: tuple[Match, ...]
    events: dict[str, MatchEvents]
    tracks: tuple[TrackLine, ...]
    layers: tuple[Layer, ...] = ()
    left_out: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    little_known: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Of a pattern the attributes that it reads and that most events do not have, with the share of those that do."""
    sought: Mapping[str, Sought] = field(default_factory=dict)
    """What was seen of the patterns that were not found."""
    whys: Mapping[str, Explanation] = field(default_factory=dict)
    """Of a pattern one track event by event: one of its matches, or where it came nearest."""

    @property
    def names(self) -> dict[str, str]:
        """What the tracks are called that have a name."""
        called = {held.track: f"{held.name} ({held.track})" for held in self.found.by_track if held.name}
        return called | {line.track: line.label for line in self.tracks}

    @property
    def patterns(self) -> tuple[PatternFound, ...]:
        """The patterns that were found, the most frequent first, each with its sign."""
        counts = self.found.counts
        order = sorted(
            (name for name in counts if counts[name].matches), key=lambda name: (-counts[name].matches, name)
        )
        return tuple(
            PatternFound(
                self.searched[name], sign_of(place), counts[name],
                tuple(match for match in self.listed if match.pattern == name), self.events,
            )
            for place, name in enumerate(order)
        )  # fmt: skip

    @property
    def absent(self) -> tuple[str, ...]:
        """The patterns that were looked for and not found."""
        return tuple(name for name, count in self.found.counts.items() if not count.matches)


class Reading(Protocol):
    """Events and the matches that were found in them, wherever they are: what a page asks of them."""

    @property
    def types(self) -> Mapping[str, AttributeType]:
        """The attributes of the events."""
        ...

    def facts(self) -> EventFacts:
        """What the events are, in numbers."""
        ...

    def found(self, patterns: Sequence[str], span: TimeSpan) -> Found:
        """The counts of all matches, and the marks to draw."""
        ...

    def near_misses(self, total: int, searched: Mapping[str, Searched]) -> dict[str, Sought]:
        """What was seen of patterns that were not found."""
        ...

    def tracks(self, facts: EventFacts, wanted: Sequence[str]) -> tuple[tuple[TrackLine, ...], str]:
        """The lines to draw, and what is left out of them."""
        ...

    def match_events(self, matches: Sequence[Match], searched: Mapping[str, Searched]) -> dict[str, MatchEvents]:
        """The first and the last events of matches."""
        ...

    def lengths(self, tracks: Sequence[str]) -> dict[str, int]:
        """How many events these tracks have."""
        ...

    def events_of(self, tracks: Sequence[str], searched: Sequence[Searched]) -> pa.Table:
        """The events of a few tracks, with what patterns read."""
        ...


def write_recognition_report(
    reading: Reading,
    catalog: Catalog,
    layers: Sequence[Layer],
    out: Path,
    skipped: Mapping[str, str] | None = None,
    little_known: Mapping[str, Mapping[str, float]] | None = None,
) -> Path:
    """Write `report.html` into the folder `out`: the matches of `catalog` in the events."""
    read = read_recognition(reading, catalog, layers, skipped, little_known)
    return write_page(out / REPORT_FILE, recognition_page(read))


def read_recognition(
    reading: Reading,
    catalog: Catalog,
    layers: Sequence[Layer],
    skipped: Mapping[str, str] | None = None,
    little_known: Mapping[str, Mapping[str, float]] | None = None,
) -> Recognition:
    """What the page shows: a few passes over matches and events, bounded amounts of each brought here."""
    facts = reading.facts()
    searched = _searched(catalog, reading.types, layers, skipped or {})
    found = reading.found(tuple(searched), facts.span)
    chosen = listed(found.marks)
    absent = {name: searched[name] for name, count in found.counts.items() if not count.matches}
    sought = reading.near_misses(facts.events, absent)
    wanted = [near.track for held in sought.values() for near in held.nearest] + [match.track for match in found.marks]
    tracks, thinned = reading.tracks(facts, wanted)
    return Recognition(
        facts, found, searched, chosen, reading.match_events(chosen, searched), tracks, tuple(layers),
        tuple(filter(None, (thinned, _unmarked(found)))), skipped or {}, little_known or {}, sought,
        read_whys(reading, searched, chosen, sought),
    )  # fmt: skip


def _searched(
    catalog: Catalog, known: Mapping[str, AttributeType], layers: Sequence[Layer], skipped: Mapping[str, str]
) -> dict[str, Searched]:
    by_name = {layer.spec.name: layer for layer in layers}
    searched = {}
    for entry in catalog:
        if entry.name in skipped:
            continue
        layer = by_name.get(entry.for_each.layer) if entry.for_each else None
        searched[entry.name] = Searched(entry, compile_pattern(without_features(entry.spec()), known), layer)
    return searched


def _unmarked(found: Found) -> str:
    drawn = len(found.placed)
    if drawn == found.total:
        return ""
    return f"{drawn:,} of {found.total:,} matches are marked, an even choice of each pattern; counts are of all."


def recognition_page(read: Recognition) -> Page:
    """The page."""
    view = recognition_map(read)
    return Page(
        title="What was recognised",
        lead=_lead(read),
        figures=figures(read),
        sections=recognition_sections(read, view),
        foot=FOOT,
        data={} if view.is_empty else {MAP_DATA: map_data(view)},
    )


def recognition_sections(read: Recognition, view: MapView) -> tuple[Section, ...]:
    """Map and timeline, the table of counts, the patterns one by one."""
    patterns = read.patterns
    rows = [TimeRow(titled(p.name), p.sign, dict(p.count.bins)) for p in patterns]
    over_time = tag("h3", "When it happened") + timeline(rows, read.facts.span) if rows else Markup("")
    return (
        Section("map", "Where and when", search_box(view) + map_markup(view, MAP_DATA) + over_time),
        Section("counts", "What was found", _counted(read)),
        *track_section(read.found, read.facts.tracks, [p.name for p in patterns]),
        Section("patterns", "Pattern by pattern", pattern_by_pattern(read)),
    )


def pattern_by_pattern(read: Recognition) -> Markup:
    """The patterns that were found, then those that were not."""
    shown = pattern_details(read.patterns, read.names, read.whys)
    found = shown if read.patterns else note("No pattern was found.")
    if not read.absent:
        return found
    absent = absent_details([read.searched[name] for name in read.absent], read.sought, read.names, read.whys)
    return found + tag("h3", "Looked for and not found") + absent


def _counted(read: Recognition) -> Markup:
    body = counts_table(read.patterns) if read.patterns else note("No pattern was found.")
    if read.absent:
        body += not_found(read.absent)
    body += unknown_to(read)
    if read.skipped:
        body += note("Not looked for, as these events do not have what the patterns need:")
        body += table((Column("pattern"), Column("why")), read.skipped.items(), "dense")
    return body


def unknown_to(read: Recognition) -> Markup:
    """The patterns that read what most events lack; nothing where there are none."""
    if not read.little_known:
        return Markup("")
    rows = ((plain(name), said(shares)) for name, shares in read.little_known.items())
    remark = note("What these patterns read is unknown in most events, so that they find little or nothing:")
    return remark + table((Column("pattern"), Column("what it read")), rows, "dense")


def not_found(absent: Sequence[str]) -> Markup:
    """The names of patterns that were not found, each leading to why."""
    links = joined((tag("a", plain(name), href=f"#pattern-{name}") for name in absent), ", ")
    return note("Looked for and not found: ", links, ".")


def figures(read: Recognition) -> tuple[tuple[str, str], ...]:
    """The numbers at the head of the page."""
    facts = read.facts
    return (
        counted(facts.events, "event read", "events read"),
        counted(facts.tracks, "track"),
        (span(facts.span.length), "of time"),
        (f"{len(read.patterns)} of {len(read.searched)}", "patterns found"),
        counted(read.found.total, "match", "matches"),
    )


def _lead(read: Recognition) -> Markup:
    facts, patterns = read.facts, read.patterns
    if facts.first is None or facts.last is None:
        return paragraphs("There were no events to look at.")
    said = (
        f"{count_of(facts.tracks, 'track')} sent {count_of(facts.events, 'event')} between {moment(facts.first)} and "
        f"{moment(facts.last)} UTC. "
    )
    if not patterns:
        return paragraphs(said + _none_of(len(read.searched)))
    top = [f"{plain(p.name)} ({times(p.count.matches)})" for p in patterns[:3]]
    said += (
        f"{len(patterns)} of {count_of(len(read.searched), 'pattern')} {'was' if len(patterns) == 1 else 'were'} "
        f"found, {times(read.found.total)} in all; "
        f"most often {in_words(top)}."
    )
    return paragraphs(said)


def _none_of(patterns: int) -> str:
    if patterns == 1:
        return "The one pattern looked for was not found."
    return f"None of the {patterns} patterns looked for was found."


def recognition_map(read: Recognition) -> MapView:
    """Tracks and layers, and a group of marks for each pattern."""
    names = read.names
    shown = {match.match_id for match in read.listed}
    groups = tuple(
        MarkGroup(
            pattern.name, titled(pattern.name), pattern.sign,
            tuple(_mark(match, names, shown) for match in read.found.placed if match.pattern == pattern.name),
            pattern.count.matches,
        )
        for pattern in read.patterns
    )  # fmt: skip
    near = near_miss_group(read.sought, names)
    bare = MapView((), read.tracks, (*groups, near) if near else groups)
    if bare.is_empty:
        return bare
    layers, undrawn = map_layers(read.layers, bounds(bare))
    left_out = (*read.left_out, *undrawn, SAID)
    return replace(bare, layers=layers, left_out=left_out, land=land_around(bounds(bare)))


def _mark(match: Match, names: Mapping[str, str], shown: set[str]) -> Mark:
    assert match.lon is not None, "only placed matches are marked"
    assert match.lat is not None, "only placed matches are marked"
    lasted = (match.end - match.start).total_seconds()
    who = names.get(match.track, match.track)
    lines = (
        match.instance,
        who,
        f"{moment(match.time, seconds=True)} UTC" + (f", over {span(lasted)}" if lasted else ""),
    )
    ref = match_key(match.match_id) if match.match_id in shown else None
    ends = (match.start.timestamp(), match.end.timestamp())
    return Mark(match.lon, match.lat, *ends, tuple(filter(None, lines)), ref, track=who)
