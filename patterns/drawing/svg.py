"""A diagram as an SVG picture that stands alone: no graph tool, no font and no script is needed to see it.

A diagram as DOT text: for graph tools, and for golden files that show a change of an automaton line by line.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import hypot
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from foresail.patterns.drawing.diagram import Diagram, Edge
from foresail.patterns.drawing.layout import LINE, LOOP, RADIUS, Layout, Loop, Route, Slot, lay_out, text_width

_MARGIN = 24.0
_START = 44.0
_FOOT = 34.0
_NOTE = "Any event that no arrow names leads back to state 0."
_STYLE = (
    "text{font:12px Helvetica,Arial,sans-serif;fill:#1d2b3a;text-anchor:middle}"
    ".state{fill:#eaf2fb;stroke:#2b5c8a;stroke-width:1.6}"
    ".accepting{fill:#e6f6ea;stroke:#22803c}"
    ".number{font-weight:bold;font-size:14px}"
    ".arrow{fill:none;stroke:#51677d;stroke-width:1.4}"
    ".label{fill:#fff}"
    ".note{font-size:11px;fill:#6b7c8d;text-anchor:start}"
)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A diagram that shows itself in a notebook; `str` of it is the SVG text."""

    diagram: Diagram

    def __str__(self) -> str:
        return draw_svg(self.diagram)

    def __repr__(self) -> str:
        return f"Drawing({self.diagram.title}, {self.diagram.states} states)"

    def _repr_svg_(self) -> str:
        return draw_svg(self.diagram)

    def save(self, file: str | Path) -> Path:
        """Write the picture."""
        place = Path(file)
        place.write_text(draw_svg(self.diagram), encoding="utf-8")
        return place


def draw_svg(diagram: Diagram) -> str:
    """The diagram as SVG text."""
    return _drawn(diagram, "head", alone=True)


def draw_svg_within(diagram: Diagram, key: str) -> str:
    """The diagram as a part of a page, which gives its classes their colours; `key` is unlike that of any other."""
    return _drawn(diagram, f"head-{key}", alone=False)


def _drawn(diagram: Diagram, head: str, alone: bool) -> str:
    layout = lay_out(diagram)
    leads_back = len(diagram.forward) < len(diagram.edges)
    notes = (*((_NOTE,) if leads_back else ()), *diagram.relations)
    width = max(layout.width + 2 * _MARGIN + _START, 340.0 if leads_back else 0.0)
    width = max(width, *(text_width((text,)) + 2 * _MARGIN for text in diagram.relations), 0.0)
    height = layout.height + 2 * _MARGIN + (_FOOT + LINE * (len(notes) - 1) if notes else 0.0)
    body = [
        *(_route(route, head) for route in layout.routes),
        *(_loop(loop, layout.states[loop.edge.source], head) for loop in layout.loops),
        *(_label(route) for route in layout.routes),
        *_states(diagram, layout, head),
    ]
    foot = "".join(
        f'<text class="note" x="{_MARGIN:g}" y="{_n(height - 16 - LINE * n)}">{escape(text)}</text>\n'
        for n, text in enumerate(reversed(notes))
    )
    style = f"<style>{_STYLE}</style>\n" if alone else ""
    ground = f'<rect width="{_n(width)}" height="{_n(height)}" rx="8" fill="#fff"/>\n' if alone else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}" '
        f'viewBox="0 0 {_n(width)} {_n(height)}" role="img">\n'
        f"<title>{escape(diagram.title)}</title>\n{style}"
        f'<defs><marker id="{head}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        'orient="auto"><path d="M0 1 L10 5 L0 9 z" fill="#51677d"/></marker></defs>\n'
        f"{ground}"
        f'<g transform="translate({_n(_MARGIN + _START)} {_n(_MARGIN)})">\n'
        + "\n".join(body)
        + "\n</g>\n"
        + foot
        + "</svg>\n"
    )


def _states(diagram: Diagram, layout: Layout, head: str) -> Iterator[str]:
    start = layout.states[0]
    left = start.x - RADIUS
    yield _arrow(f"M{_n(left - 34)} {_n(start.y)} L{_n(left - 2)} {_n(start.y)}", head)
    for number, slot in enumerate(layout.states):
        x, y = _n(slot.x), _n(slot.y)
        kind = "state accepting" if number in diagram.accepting else "state"
        yield f'<circle class="{kind}" cx="{x}" cy="{y}" r="{_n(RADIUS)}"/>'
        if number in diagram.accepting:
            yield f'<circle class="{kind}" cx="{x}" cy="{y}" r="{_n(RADIUS - 4)}"/>'
        yield f'<text class="number" x="{x}" y="{_n(slot.y + 5)}">{number}</text>'


class _End(NamedTuple):
    """An end of a curve: a point, and the direction in which the curve leaves it."""

    x: float
    y: float
    dx: float
    dy: float


def _route(route: Route, head: str) -> str:
    """A smooth curve through the slots, level where it crosses a column, from rim to rim."""
    slots = route.slots
    side = float(slots[-1].column > slots[0].column) - float(slots[-1].column < slots[0].column)
    end = _rim(slots[0], slots[1])
    path = [f"M{_n(end.x)} {_n(end.y)}"]
    for slot in slots[1:-1]:
        down = 0.0 if side else _sign(slot.y - end.y)
        path.append(_curve(end, _End(slot.x - side * slot.width / 2, slot.y, -side, -down)))
        end = _End(slot.x + side * slot.width / 2, slot.y, side, down)
        path.append(f"L{_n(end.x)} {_n(end.y)}" if side else "")
    path.append(_curve(end, _rim(slots[-1], slots[-2], gap=2.0)))
    return _arrow(" ".join(filter(None, path)), head)


def _curve(one: _End, other: _End) -> str:
    """A Bezier curve between two ends."""
    reach = max(abs(other.x - one.x) / 2, abs(other.y - one.y) / 3, 10.0)
    points = (
        (one.x + one.dx * reach, one.y + one.dy * reach),
        (other.x + other.dx * reach, other.y + other.dy * reach),
        (other.x, other.y),
    )
    return "C" + " ".join(f"{_n(x)} {_n(y)}" for x, y in points)


def _rim(state: Slot, towards: Slot, gap: float = 0.0) -> _End:
    """The point of the state's circle that faces the slot."""
    edge = towards.x - _sign(towards.x - state.x) * towards.width / 2
    dx, dy = edge - state.x, towards.y - state.y
    length = hypot(dx, dy) or 1.0
    dx, dy = dx / length, dy / length
    return _End(state.x + dx * (RADIUS + gap), state.y + dy * (RADIUS + gap), dx, dy)


def _arrow(path: str, head: str) -> str:
    return f'<path class="arrow" marker-end="url(#{head})" d="{path}"/>'


def _loop(loop: Loop, slot: Slot, head: str) -> str:
    top = slot.y - RADIUS
    left, right = slot.x - 10, slot.x + 10
    lift = top - LOOP
    curve = (
        f"M{_n(left)} {_n(top + 3)} C{_n(left - 14)} {_n(lift)} {_n(right + 14)} {_n(lift)} {_n(right)} {_n(top + 2)}"
    )
    base = top - LOOP + 4 - LINE * (len(loop.lines) - 1)
    return _arrow(curve, head) + _text(loop.lines, slot.x, base)


def _label(route: Route) -> str:
    width, height = text_width(route.lines) + 6, LINE * len(route.lines)
    slot = route.label
    box = (
        f'<rect class="label" x="{_n(slot.x - width / 2)}" y="{_n(slot.y - height / 2)}" '
        f'width="{_n(width)}" height="{_n(height)}"/>'
    )
    return box + _text(route.lines, slot.x, slot.y - height / 2 + 11)


def _text(lines: tuple[str, ...], x: float, first: float) -> str:
    return "".join(
        f'<text x="{_n(x)}" y="{_n(first + LINE * number)}">{escape(line)}</text>' for number, line in enumerate(lines)
    )


def _sign(value: float) -> float:
    return 1.0 if value >= 0 else -1.0


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def draw_dot(diagram: Diagram) -> str:
    """The diagram in the DOT language."""
    lines = [
        f"digraph {_quoted(diagram.title)} {{",
        "  rankdir=LR;",
        '  node [shape=circle, fontname="Helvetica"];',
        '  edge [fontname="Helvetica"];',
        '  begin [shape=point, label=""];',
        "  begin -> 0;",
        *(
            f"  {state}{' [shape=doublecircle]' if state in diagram.accepting else ''};"
            for state in range(diagram.states)
        ),
        *(f"  {edge.source} -> {edge.target} [{_attributes(edge)}];" for edge in diagram.edges),
        *(f"  // {relation}" for relation in diagram.relations),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _attributes(edge: Edge) -> str:
    light = ', style=dotted, color="gray60", fontcolor="gray60", constraint=false' if edge.back else ""
    return f"label={_quoted(edge.label)}{light}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
