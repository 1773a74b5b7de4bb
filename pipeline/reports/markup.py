"""HTML text that knows it is safe: whatever is not `Markup` is escaped on its way into a page.

Names of vessels, ports and files come from data that nobody has vouched for, so no function of the reports joins
strings into HTML by itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import repeat

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
