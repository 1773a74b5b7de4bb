"""The one HTML file that a report is: style, script and data inside, nothing fetched, readable from any folder."""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from foresail.pipeline.reports.markup import Markup, joined, safe, tag
from foresail.pipeline.sinks.output_folder import replaced

SCRIPTS = ("map.js", "timeline.js", "search.js", "page.js")


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
