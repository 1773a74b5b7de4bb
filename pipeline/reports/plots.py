"""Plots as SVG text in the colours of the page: curves, bars, bands. No script draws them, none is needed.

Colour and shape of what is drawn: eight hues that most colour-blind readers can part, and a shape with each.

The hues themselves stand in `assets/page.css`, once for light and once for dark; here they are numbers.

A curve drawn with characters, for a terminal.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from foresail.pipeline.reports.page import Markup, joined, tag

HUES = 8
SHAPES = ("circle", "square", "triangle", "diamond", "cross")
POINTS = {
    "square": "M-4-4H4V4H-4Z",
    "triangle": "M0-5L5 4H-5Z",
    "diamond": "M0-5.5L5.5 0L0 5.5L-5.5 0Z",
    "cross": "M-1.6-5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6Z",
}


@dataclass(frozen=True, slots=True)
class Sign:
    """How one kind of thing is marked; `open` is drawn as an outline."""

    hue: int
    shape: str = "circle"
    open: bool = False


def sign_of(place: int) -> Sign:
    """The sign of the thing at this place of a list: hues repeat with another shape."""
    return Sign(place % HUES, SHAPES[(place // HUES + place) % len(SHAPES)])


def icon(sign: Sign) -> Markup:
    """The sign as a small picture for legends and lists."""
    kind = f"sign hue-{sign.hue}" + (" open" if sign.open else "")
    if sign.shape == "circle":
        body = tag("circle", r="4.6", class_=kind)
    else:
        body = tag("path", d=POINTS[sign.shape], class_=kind)
    return tag("svg", body, viewbox="-7 -7 14 14", class_="icon", aria_hidden="true")


WIDTH, HEIGHT = 400, 262
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 24, 38
TICKS = 5
DOT = 3.4


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale with a name; `percent` writes its numbers as shares."""

    name: str
    low: float
    high: float
    percent: bool = False

    def share(self, value: float) -> float:
        """Where `value` lies between the ends."""
        return (value - self.low) / ((self.high - self.low) or 1.0)

    @property
    def ticks(self) -> list[float]:
        """Round numbers within the scale."""
        step = round_step((self.high - self.low) / TICKS)
        first = -(-self.low // step) * step
        return [first + n * step for n in range(int((self.high - first) / step + 1e-9) + 1)]

    def text(self, value: float) -> str:
        """The number at a tick."""
        return f"{value:.0%}" if self.percent else f"{value:g}"


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points; `strong` is the one that the plot is about."""

    label: str
    points: tuple[tuple[float, float], ...]
    hue: int = 0
    strong: bool = True
    dots: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """Two axes and what lies between them."""

    x: Axis
    y: Axis

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is drawn."""
        across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        return LEFT + across * self.x.share(x), HEIGHT - BOTTOM - up * self.y.share(y)

    def drawn(self, label: str, *parts: Markup) -> Markup:
        """The picture: grid, `parts`, names of the axes."""
        return tag(
            "svg", *self._grid(), *parts, *self._names(), viewbox=f"0 0 {WIDTH} {HEIGHT}", class_="plot", role="img",
            aria_label=label,
        )  # fmt: skip

    def _grid(self) -> Iterable[Markup]:
        for value in self.y.ticks:
            _, y = self.place(self.x.low, value)
            yield tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=_n(y), y2=_n(y), class_="gridline")
            yield tag("text", self.y.text(value), x=LEFT - 6, y=_n(y + 4), text_anchor="end")
        for value in self.x.ticks:
            x, _ = self.place(value, self.y.low)
            yield tag("text", self.x.text(value), x=_n(x), y=HEIGHT - BOTTOM + 15, text_anchor="middle")
        yield tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM, class_="base")

    def _names(self) -> Iterable[Markup]:
        yield tag("text", self.x.name, x=WIDTH - RIGHT, y=HEIGHT - 4, text_anchor="end", class_="axis-name")
        if self.y.name:
            yield tag("text", self.y.name, x=2, y=TOP - 12, class_="axis-name")


def curves(plot: Plot, label: str, lines: Sequence[Curve], *behind: Markup) -> Markup:
    """Several curves in one plot, the strong ones last, so that they lie above."""
    ordered = sorted(lines, key=lambda line: line.strong)
    return plot.drawn(label, *behind, *(_curve(plot, line) for line in ordered))


def _curve(plot: Plot, line: Curve) -> Markup:
    places = [plot.place(x, y) for x, y in line.points if isfinite(x) and isfinite(y)]
    if not places:
        return Markup("")
    way = " ".join(f"{'M' if n == 0 else 'L'}{_n(x)} {_n(y)}" for n, (x, y) in enumerate(places))
    kind = f"curve hue-{line.hue}"
    drawn = tag(
        "path",
        tag("title", line.label),
        d=way,
        class_=kind,
        style=None if line.strong else "stroke-width:1.3;opacity:.75",
    )
    if line.dots or len(places) == 1:
        drawn += joined(tag("circle", cx=_n(x), cy=_n(y), r=DOT, class_=f"dot hue-{line.hue}") for x, y in places)
    return drawn


def upright(plot: Plot, x: float, text: str) -> Markup:
    """A dashed line at one value of x, with a word beside it."""
    at, top = plot.place(x, plot.y.high)
    _, foot = plot.place(x, plot.y.low)
    before = plot.x.share(x) > 0.6
    word = tag("text", text, x=_n(at + (-5 if before else 5)), y=_n(top + 11), text_anchor="end" if before else "start")
    return tag("line", x1=_n(at), x2=_n(at), y1=_n(top), y2=_n(foot), class_="ideal") + word


def diagonal(plot: Plot, text: str) -> Markup:
    """The line on which both axes agree."""
    (x1, y1), (x2, y2) = plot.place(plot.x.low, plot.y.low), plot.place(plot.x.high, plot.y.high)
    word = tag("text", text, x=_n(x2 - 6), y=_n(y2 + 24), text_anchor="end")
    return tag("line", x1=_n(x1), y1=_n(y1), x2=_n(x2), y2=_n(y2), class_="ideal") + word


def bars(plot: Plot, label: str, values: Sequence[tuple[float, float]], *behind: Markup, width: float = 1.0) -> Markup:
    """A bar on each x, so high as its value."""
    return plot.drawn(label, *behind, *(_bar(plot, x, value, width) for x, value in values if value))


def _bar(plot: Plot, x: float, value: float, width: float) -> Markup:
    left, top = plot.place(x - width / 2, value)
    right, foot = plot.place(x + width / 2, plot.y.low)
    tooltip = tag("title", f"{plot.x.text(x)}: {value:.3g}")
    gap = min(1.0, (right - left) * 0.15)
    return tag(
        "rect", tooltip, x=_n(left + gap / 2), y=_n(top), width=_n(max(right - left - gap, 0.6)),
        height=_n(max(foot - top, 0)), class_="bar",
    )  # fmt: skip


def band(plot: Plot, low: float, high: float) -> Markup:
    """A stretch of the x axis, tinted."""
    (left, top), (right, foot) = plot.place(low, plot.y.high), plot.place(high, plot.y.low)
    return tag("rect", x=_n(left), y=_n(top), width=_n(right - left), height=_n(foot - top), class_="band")


def figure(title: str, explanation: str, picture: Markup, keys: Sequence[Curve] = ()) -> Markup:
    """A plot with what it shows, in words above it, and the names of its curves below."""
    said = tag("figcaption", title, tag("span", explanation))
    named = tag("div", *(tag("span", icon(Sign(key.hue)), key.label) for key in keys), class_="keys") if keys else None
    return tag("figure", said, picture, named)


def round_step(size: float) -> float:
    """The next of 1, 2, 5, 10, ... at or above `size`."""
    if size <= 0:
        return 1.0
    power = 10.0 ** floor(log10(size))
    return next(power * n for n in (1, 2, 5, 10) if power * n >= size * (1 - 1e-9))


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


EIGHTHS = " ▁▂▃▄▅▆▇█"
MOST_COLUMNS = 60


def text_curve(values: Sequence[float], height: int = 6) -> list[str]:
    """Bars of `values`, one column each; where there are too many, neighbours share a column and add up."""
    share = max(1, ceil(len(values) / MOST_COLUMNS))
    columns = [sum(values[n : n + share]) for n in range(0, len(values), share)]
    most = max(columns, default=0.0)
    filled = [round(8 * height * value / most) if most > 0 else 0 for value in columns]
    rows = ["".join(EIGHTHS[min(max(f - 8 * row, 0), 8)] for f in filled) for row in reversed(range(height))]
    label = f"{most:.1%}"
    lines = [f"{label if n == 0 else '':>7} │{row.rstrip()}" for n, row in enumerate(rows)]
    last = str(len(values))
    axis = "1" + last.rjust(len(columns) - 1) if len(columns) > len(last) else last
    return [*lines, f"{'':>7} └{'─' * len(columns)}", f"{'':>9}{axis}"]
