"""What each pattern found, for a reader who has never seen its definition: sentence, conditions, automaton, matches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

from foresail.patterns.drawing import diagram_of, draw_svg_within
from foresail.pipeline.local.explanation import Explanation
from foresail.pipeline.reports.found import Match, PatternCount
from foresail.pipeline.reports.match_events import EventRow, MatchEvents, Searched
from foresail.pipeline.reports.page import (
    Column,
    Markup,
    clock,
    count_of,
    joined,
    moment,
    note,
    number,
    span,
    table,
    tag,
    titled,
)
from foresail.pipeline.reports.plots import Sign, icon
from foresail.pipeline.reports.why_section import MOST_STATES, why_section

UNITS = ("kn", "kmh", "m", "km", "s", "min", "h", "deg", "pct")


@dataclass(frozen=True, slots=True)
class PatternFound:
    """A pattern and what a page shows of its matches."""

    searched: Searched
    sign: Sign
    count: PatternCount
    matches: tuple[Match, ...]
    events: Mapping[str, MatchEvents]

    @property
    def name(self) -> str:
        """The pattern's name."""
        return self.searched.name


def match_key(match_id: str) -> str:
    """The id of the element that shows the events of a match."""
    return f"match-{match_id}"


def counts_table(found: Sequence[PatternFound], further: Sequence[tuple[Column, Mapping[str, object]]] = ()) -> Markup:
    """A line for each pattern that was found; `further` adds columns by the pattern's name."""
    most = max((pattern.count.matches for pattern in found), default=1)
    columns = [
        Column("pattern"), Column("what it means"), Column("found", numeric=True), Column("on tracks", numeric=True),
        *(column for column, _ in further), Column(""),
    ]  # fmt: skip
    rows = (
        (
            tag(
                "span",
                icon(pattern.sign),
                " ",
                tag("a", titled(pattern.name), href=f"#pattern-{pattern.name}"),
                class_="nowrap",
            ),
            tag("span", pattern.searched.entry.says, class_="says"),
            f"{pattern.count.matches:,}",
            f"{pattern.count.tracks:,}",
            *(values.get(pattern.name, "") for _, values in further),
            tag("span", tag("i", style=f"width:{100 * pattern.count.matches / most:.1f}%"), class_="meter"),
        )
        for pattern in found
    )
    return table(columns, rows, "counts")


def pattern_details(found: Sequence[PatternFound], names: Mapping[str, str], whys: Mapping[str, Explanation]) -> Markup:
    """All patterns, folded, the first one open; `names` says what tracks are called, `whys` tells one of each."""
    return joined(_pattern(pattern, names, whys, place == 0) for place, pattern in enumerate(found))


def event_by_event(why: Explanation | None, names: Mapping[str, str]) -> Markup | None:
    """One track as the pattern saw it, folded; None where none is told."""
    if why is None:
        return None
    said = f"Event by event: {names.get(why.track, why.track)}" + (f", {why.instance}" if why.instance else "")
    return tag("details", tag("summary", said), why_section(why), class_="match")


def _pattern(pattern: PatternFound, names: Mapping[str, str], whys: Mapping[str, Explanation], is_open: bool) -> Markup:
    summary = tag(
        "summary",
        icon(pattern.sign),
        tag("span", titled(pattern.name), class_="title"),
        tag("span", count_of(pattern.count.matches, "match", "matches"), class_="found"),
        tag("span", pattern.searched.entry.says, class_="says"),
    )
    inside = tag(
        "div",
        tag("h3", "How it is recognised"),
        definition(pattern.searched),
        tag("h3", "Matches"),
        *(_match(match, pattern, names) for match in pattern.matches),
        _more(pattern),
        tag("h3", "Why") if pattern.name in whys else None,
        event_by_event(whys.get(pattern.name), names),
        class_="inside",
    )
    return tag("details", summary, inside, class_="pattern", id=f"pattern-{pattern.name}", open=is_open)


def _more(pattern: PatternFound) -> Markup | None:
    rest = pattern.count.matches - len(pattern.matches)
    if rest <= 0:
        return None
    return note(f"{rest:,} more {'is' if rest == 1 else 'are'} not listed here; all are in the matches of this run.")


def definition(searched: Searched) -> Markup:
    """The order of events, what each condition means, and the automaton."""
    entry = searched.entry
    diagram = diagram_of(searched.compiled)
    order = tag("code", dedent(entry.pattern).strip())
    named = {name: text for name, text in entry.where.items() if name in searched.compiled.condition_names}
    conditions = table(
        (Column("condition"), Column("holds when")),
        ((tag("code", name), condition_text(searched, name)) for name in named),
        "dense",
    )
    if diagram.states > MOST_STATES:
        picture = note(f"Its automaton has {diagram.states} states, too many to draw.")
    else:
        picture = tag("div", Markup(draw_svg_within(diagram, entry.name)), class_="automaton", tabindex="0")
    remark = note(
        "Events move the automaton from state 0 along the arrows; a match is found at a state with a double ring."
    )
    sequence = tag("p", "In order: ", order)
    return sequence + (conditions if named else Markup("")) + picture + remark


def condition_text(searched: Searched, name: str) -> Markup:
    """When a condition of the pattern holds; one that stands in the pattern itself is its own name."""
    entry = searched.entry
    return tag("code", _filled(entry.where.get(name, name), entry.parameters))


def _filled(text: str, parameters: Mapping[str, Any]) -> str:
    """A condition with the values of its parameters in brackets after their names."""
    used = [f"{name} = {value}" for name, value in parameters.items() if name in text]
    return f"{text}   ({', '.join(used)})" if used else text


def _match(match: Match, pattern: PatternFound, names: Mapping[str, str]) -> Markup:
    lasted = (match.end - match.start).total_seconds()
    parts = [
        tag("span", moment(match.time, seconds=True)),
        tag("span", match.instance) if match.instance else None,
        tag("span", names.get(match.track, match.track), class_="rest"),
        tag("span", f"over {span(lasted)}", class_="rest") if lasted else None,
    ]
    events = pattern.events.get(match.match_id)
    body = _events(events) if events else note("Its events are not at hand.")
    link = (
        tag("button", "Show on the map", type="button", class_="plain", data_show=match_key(match.match_id))
        if match.is_placed
        else None
    )
    remark = tag("div", body, link)
    key, who = match_key(match.match_id), names.get(match.track, match.track)
    return tag("details", tag("summary", *parts), remark, class_="match", id=key, data_track=who)


def _events(events: MatchEvents) -> Markup:
    values = (Column(_heading(name), numeric=True) for name in events.attributes)
    columns = [Column("time"), *values, Column("conditions that hold")]
    rows: list[tuple[object, ...]] = []
    before = 0
    for row in events.rows:
        if row.number > before + 1:
            rows.append((f"… {count_of(row.number - before - 1, 'event')} …", *("" for _ in events.attributes), ""))
        rows.append(_event(row))
        before = row.number
    return table(columns, rows, "dense")


def _event(row: EventRow) -> tuple[object, ...]:
    holds = joined(tag("span", name, class_="chip") for name in row.holds)
    return (clock(row.time), *(_value(value) for value in row.values), holds or "none")


def _heading(attribute: str) -> str:
    """`port.distance_m` as port distance (m)."""
    words = attribute.replace(".", "_").split("_")
    if len(words) > 1 and words[-1] in UNITS:
        return f"{' '.join(words[:-1])} ({words[-1]})"
    return " ".join(words)


def _value(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, int | float) else str(value)
