"""The one HTML file that a report is: style, script and data inside, nothing fetched, readable from any folder.

HTML text that knows it is safe: whatever is not `Markup` is escaped on its way into a page.

Names of vessels, ports and files come from data that nobody has vouched for, so no function of the reports joins
strings into HTML by itself.

Numbers, times and names as a reader says them: every page of the reports uses the same words.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.resources import files
from itertools import repeat
from pathlib import Path
from typing import Any

from foresail.pipeline.sinks.output_folder import replaced

REPORT_FILE = "report.html"
EMPTY_TAGS = frozenset({"br", "circle", "input", "line", "meta", "path", "polyline", "rect", "use"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()

    def __add__(self, other: str) -> "Markup":
        return Markup(str.__add__(self, safe(other)))


NOTHING = Markup("")


def safe(value: object) -> Markup:
    """The value as HTML: itself if it is, else escaped; None is nothing."""
    if isinstance(value, Markup):
        return value
    return NOTHING if value is None else Markup(escape(str(value)))


def joined(parts: Iterable[object], between: object = NOTHING) -> Markup:
    """The parts one after the other."""
    return Markup(safe(between).join(safe(part) for part in parts))


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """An element; `class_` stands for class, `data_x` for data-x; attributes that are None or False are left out."""
    held = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    if name in EMPTY_TAGS and not children:
        return Markup(f"<{name}{held}>") if name in {"br", "input", "meta"} else Markup(f"<{name}{held}/>")
    return Markup(f"<{name}{held}>{joined(children)}</{name}>")


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    name = {"viewbox": "viewBox", "preserveaspectratio": "preserveAspectRatio"}.get(name, name)
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; numbers stand to the right."""

    heading: object
    numeric: bool = False
    hint: str | None = None


def table(
    columns: Sequence[Column],
    rows: Iterable[Sequence[object]],
    class_: str | None = None,
    row_attributes: Iterable[Mapping[str, object]] | None = None,
) -> Markup:
    """A table that scrolls sideways by itself where the page is narrow."""
    kinds = ["n" if column.numeric else None for column in columns]
    head = joined(
        tag("th", column.heading, class_=kind, scope="col", title=column.hint)
        for column, kind in zip(columns, kinds, strict=True)
    )
    body = joined(
        tag("tr", *(tag("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True)), **held)
        for row, held in zip(rows, row_attributes or repeat({}), strict=False)
    )
    whole = tag("table", tag("thead", tag("tr", head)), tag("tbody", body), class_=class_)
    return tag("div", whole, class_="wide", tabindex="0")


def note(*parts: object) -> Markup:
    """A remark in smaller, quieter type."""
    return tag("p", *parts, class_="note")


SCRIPTS = ("map.js", "timeline.js", "search.js", "why.js", "page.js")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading; `key` is what links name it by."""

    key: str
    heading: str
    body: Markup


@dataclass(frozen=True, slots=True)
class Page:
    """A report: what it is called, what it says in a paragraph, the figures at its head, and its sections."""

    title: str
    lead: Markup
    sections: tuple[Section, ...]
    figures: tuple[tuple[str, str], ...] = ()
    """A number and what it counts."""
    kicker: str = "Foresail"
    foot: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    """What the script draws, by the id of its element."""


def write_page(file: Path, page: Page) -> Path:
    """Put the page at `file`, whole or not at all."""
    with replaced(file) as place:
        place.write_text(render_page(page), encoding="utf-8")
    return file


def render_page(page: Page) -> str:
    """The page as HTML text."""
    script = Markup("\n".join(_asset(name) for name in SCRIPTS))
    head = joined(
        (
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("title", page.title),
            tag("style", Markup(_asset("page.css"))),
        )
    )
    body = joined(
        (
            _header(page),
            tag("main", *(_section(section) for section in page.sections)),
            tag("footer", page.foot) if page.foot else None,
            *(embedded(key, value) for key, value in page.data.items()),
            tag("script", script),
        )
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def embedded(key: str, value: Any) -> Markup:
    """Data for the script, as JSON that cannot end its element."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return tag("script", Markup(text), type="application/json", id=key)


def _header(page: Page) -> Markup:
    figures = joined(tag("div", tag("dt", label), tag("dd", value)) for value, label in page.figures)
    links = joined(tag("a", section.heading, href=f"#{section.key}") for section in page.sections)
    return tag(
        "header",
        tag("p", page.kicker, class_="kicker"),
        tag("h1", page.title),
        tag("div", page.lead, class_="lead"),
        tag("dl", figures, class_="figures") if page.figures else None,
        tag("nav", links, aria_label="Sections") if len(page.sections) > 1 else None,
    )


def _section(section: Section) -> Markup:
    return tag("section", tag("h2", section.heading), section.body, id=section.key)


def _policy(script: str) -> str:
    """What the browser may do with the page: show it and run its own script; nothing else, nothing from elsewhere."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"


@cache
def _asset(name: str) -> str:
    return files("foresail.pipeline.reports").joinpath("assets", name).read_text(encoding="utf-8")


def paragraphs(*texts: object) -> Markup:
    """Each text as a paragraph."""
    return joined(tag("p", safe(text)) for text in texts)


MINUTE, HOUR, DAY = 60, 3600, 86_400


def count_of(number: int, one: str, many: str | None = None) -> str:
    """`1 match`, `2,345 matches`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def counted(number: int, one: str, many: str | None = None) -> tuple[str, str]:
    """A number and what it counts, apart: `1` and `track`, `2,345` and `tracks`."""
    figure, _, what = count_of(number, one, many).partition(" ")
    return figure, what


def times(number: int) -> str:
    """How often: once, twice, 12 times."""
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def moment(time: datetime, seconds: bool = False) -> str:
    """A moment to the minute, or to the second."""
    utc = time.astimezone(UTC)
    return f"{utc:%Y-%m-%d %H:%M:%S}" if seconds else f"{utc:%Y-%m-%d %H:%M}"


def clock(time: datetime) -> str:
    """The time of day to the second."""
    return f"{time.astimezone(UTC):%H:%M:%S}"


def span(seconds: float) -> str:
    """A length of time in its two largest units: `2 h 05 min`, `14 min`, `40 s`."""
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < 5 * MINUTE and whole % MINUTE:
        return f"{whole // MINUTE} min {whole % MINUTE:02} s"
    minutes = round(whole / MINUTE)
    if minutes < 60:
        return f"{minutes} min"
    if whole < DAY:
        return f"{minutes // 60} h {minutes % 60:02} min"
    hours = round(whole / HOUR)
    return f"{hours // 24} d {hours % 24:02} h"


def titled(name: str) -> str:
    """`port_entry` as a heading: Port entry."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def plain(name: str) -> str:
    """`port_entry` within a sentence: port entry."""
    return name.replace("_", " ")


def number(value: float, digits: int = 3) -> str:
    """A number with no more digits than it needs."""
    if value != value:  # noqa: PLR0124 - not a number is not equal to itself
        return "unknown"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}" if abs(value) < 100 else f"{value:.0f}"


def share(value: float | None) -> str:
    """A share in per cent."""
    if value is None or value != value:  # noqa: PLR0124
        return "–"
    return f"{value:.0%}" if value in (0, 1) or 0.01 <= value <= 0.99 else f"{value:.1%}"


def listed(items: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + (f" and {items[-1]}" if items else "")
