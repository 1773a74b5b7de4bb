"""Why a pattern matched or did not, as a part of a page: click an event, and the drawing shows the state it led to."""

from foresail.patterns.drawing import diagram_of, draw_svg_within
from foresail.pipeline.local.explanation import IDLE, EventWhy, Explanation
from foresail.pipeline.local.explanation_words import chosen_events, verdict, what_words
from foresail.pipeline.reports.page import (
    Column,
    Markup,
    Page,
    Section,
    clock,
    count_of,
    joined,
    note,
    number,
    paragraphs,
    table,
    tag,
    titled,
)

MOST_ROWS = 60
MOST_STATES = 40
"""A larger automaton is no picture any more."""
FOOT = "All times are UTC. This page needs no network: it can be kept, mailed and printed as it is."


def why_page(whys: tuple[Explanation, ...]) -> Page:
    """A page of its own."""
    track = whys[0].track if whys else ""
    sections = tuple(Section(f"why-{why.entry.name}", titled(why.entry.name), why_section(why)) for why in whys)
    lead = paragraphs(*(verdict(why) for why in whys)) if len(whys) > 1 else Markup("")
    return Page(f"Why, on {track}", lead, sections, foot=FOOT)


def why_section(why: Explanation) -> Markup:
    """The verdict, the automaton, and the events that matter, each with the state after it."""
    key = f"why-{why.entry.name}"
    diagram = diagram_of(why.compiled)
    drawing = Markup(draw_svg_within(diagram, key)) if diagram.states <= MOST_STATES else None
    shown = chosen_events(why, most=MOST_ROWS)
    values = tuple(shown[0].values) if shown else ()
    columns = (
        Column("event", True), Column("time"), *(Column(name, True) for name in values),
        Column("conditions that hold"), Column("what it did"), Column("state", True),
    )  # fmt: skip
    rows, attributes = [], []
    for event in shown:
        rows.append(_row(why, event))
        attributes.append({"data_state": event.state, "tabindex": 0, "class_": "quiet" if event.what == IDLE else None})
    left = len(why.events) - len(shown)
    return joined(
        (
            tag("p", verdict(why)),
            tag(
                "div",
                tag("div", drawing, class_="automaton", tabindex="0") if drawing else None,
                note("Click an event: the drawing shows where the automaton stood after it.") if drawing else None,
                table(columns, rows, "dense", attributes),
                class_="why",
            ),
            note(f"{count_of(left, 'event')} of the track {'is' if left == 1 else 'are'} not shown.") if left else None,
        )
    )


def _row(why: Explanation, event: EventWhy) -> tuple[object, ...]:
    chips = joined(tag("span", name, class_="chip") for name, held in event.holds.items() if held)
    return (
        event.index,
        clock(event.time),
        *(_cell(value) for value in event.values.values()),
        chips or "none",
        what_words(why, event),
        event.state,
    )


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, int | float) else str(value)
