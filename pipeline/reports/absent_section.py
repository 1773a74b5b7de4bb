"""Patterns that were looked for and not found: which condition never held, and how near tracks came."""

from collections.abc import Mapping, Sequence

from foresail.patterns.spec import PatternSpec
from foresail.pipeline.reports.map_view import Mark, MarkGroup
from foresail.pipeline.reports.markup import Column, Markup, joined, table, tag
from foresail.pipeline.reports.match_events import Searched
from foresail.pipeline.reports.near_misses import NearMiss, Sought
from foresail.pipeline.reports.palette import Sign
from foresail.pipeline.reports.pattern_section import condition_text, definition
from foresail.pipeline.reports.words import count_of, moment, share, span, titled

NEAR_MISSES = "near-misses"
SIGN = Sign(4, "diamond", open=True)


def absent_details(absent: Sequence[Searched], sought: Mapping[str, Sought], names: Mapping[str, str]) -> Markup:
    """Each pattern that was not found, folded."""
    return joined(_absent(pattern, sought.get(pattern.name), names) for pattern in absent)


def near_miss_group(sought: Mapping[str, Sought], names: Mapping[str, str]) -> MarkGroup | None:
    """The near-misses that have a place, as marks of the map."""
    marks = [
        _mark(near, pattern, near_key(pattern, place), names)
        for pattern, held in sought.items()
        for place, near in enumerate(held.nearest)
        if near.lon is not None and near.lat is not None
    ]
    return MarkGroup(NEAR_MISSES, "Near-misses", SIGN, tuple(marks), len(marks)) if marks else None


def _mark(near: NearMiss, pattern: str, ref: str, names: Mapping[str, str]) -> Mark:
    assert near.lon is not None, "only near-misses with a place are marked"
    assert near.lat is not None, "only near-misses with a place are marked"
    time = near.time.timestamp()
    who = names.get(near.track, near.track)
    lines = (f"{titled(pattern)}: {_left(near.missing)}", who, f"{moment(near.time, seconds=True)} UTC")
    return Mark(near.lon, near.lat, time, time, lines, ref, track=who)


def near_key(pattern: str, place: int) -> str:
    """The id of the element that tells of a near-miss."""
    return f"near-{pattern}-{place}"


def _absent(pattern: Searched, sought: Sought | None, names: Mapping[str, str]) -> Markup:
    summary = tag(
        "summary",
        tag("span"),
        tag("span", titled(pattern.name), class_="title"),
        tag("span", "not found", class_="found"),
        tag("span", pattern.entry.says, class_="says"),
    )
    why = (tag("h3", "Why not"), _why(pattern, sought, names)) if sought else ()
    inside = tag("div", *why, tag("h3", "How it is recognised"), definition(pattern), class_="inside")
    return tag("details", summary, inside, class_="pattern", id=f"pattern-{pattern.name}")


def _why(pattern: Searched, sought: Sought, names: Mapping[str, str]) -> Markup:
    rows = (
        (tag("code", name), condition_text(pattern, name), f"{held:,}", share(held / max(sought.events, 1)))
        for name, held in zip(pattern.compiled.condition_names, sought.holds, strict=True)
    )
    columns = (Column("condition"), Column("holds when"), Column("on events", True), Column("of all", True))
    listed = tag("ul", *(_near_miss(pattern, place, near, names) for place, near in enumerate(sought.nearest)))
    return (
        tag("p", in_short(pattern, sought)) + (listed if sought.nearest else Markup("")) + table(columns, rows, "dense")
    )


def in_short(pattern: Searched, sought: Sought) -> str:
    """The reason in a sentence or two."""
    looked = f"{count_of(sought.events, 'event')} {'was' if sought.events == 1 else 'were'} looked at. "
    names = pattern.compiled.condition_names
    never = [name for name, held in zip(names, sought.holds, strict=True) if not held]
    if never:
        looked += f"{_quoted(never)} never held. "
    if sought.needed is None:
        return looked + "Distances here are those to the nearest feature of its layer."
    if not sought.nearest:
        return looked + "Nothing of it was ever under way."
    missing = sought.nearest[0].missing
    came = count_of(sought.tracks, "track")
    if not missing:
        return looked + f"{came} did all of it in this order, but not {_limits(pattern.compiled.spec)}."
    return looked + f"{came} came as near as this: {_left(missing)} of at least {sought.needed}."


def _left(missing: int) -> str:
    return f"{count_of(missing, 'event')} {'was' if missing == 1 else 'were'} missing" if missing else "all was there"


def _quoted(names: Sequence[str]) -> str:
    return f"The condition {names[0]}" if len(names) == 1 else f"The conditions {', '.join(names)}"


def _limits(spec: PatternSpec) -> str:
    """What a pattern asks beside the order of events."""
    held = (
        f"within {span(spec.window_us / 1e6)}" if spec.window_us is not None else None,
        f"within {count_of(spec.window_events, 'event')}" if spec.window_events is not None else None,
        f"for as long as {span(spec.min_dwell_us / 1e6)}" if spec.min_dwell_us else None,
    )
    return " and ".join(filter(None, held)) or "as the pattern asks"


def _near_miss(pattern: Searched, place: int, near: NearMiss, names: Mapping[str, str]) -> Markup:
    key = near_key(pattern.name, place)
    said = f"{moment(near.time, seconds=True)}, {names.get(near.track, near.track)}: {_left(near.missing)}. "
    link = tag("button", "Show on the map", type="button", class_="plain", data_show=key)
    return tag("li", said, link if near.lon is not None else None, id=key)
