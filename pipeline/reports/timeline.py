"""Matches over time: a row of bars for each pattern, exact counts however many there are, and a brush for the map."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pipeline.reports.markup import Markup, joined, tag
from pipeline.reports.palette import Sign, icon
from pipeline.reports.words import count_of, moment

BINS = 144
TICKS = 8
TALL = 20
EDGE = 0.03
"""So near to an end of the axis a label stands beside its tick, not below it."""
STEPS_S = (60, 300, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 2_592_000, 31_536_000)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """From the first moment to the last, in epoch seconds."""

    start: float
    end: float

    @property
    def bin_s(self) -> float:
        """How long a bar is."""
        return max(self.length, 1.0) / BINS

    @property
    def length(self) -> float:
        """All of it, in seconds."""
        return self.end - self.start

    def share(self, time: float) -> float:
        """How far along the span `time` lies, 0 to 1."""
        return (time - self.start) / max(self.end - self.start, 1.0)


@dataclass(frozen=True, slots=True)
class TimeRow:
    """One row: how many began in each bin."""

    label: str
    sign: Sign
    counts: dict[int, int]

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())


def timeline(rows: Sequence[TimeRow], span: TimeSpan) -> Markup:
    """The rows over a common axis."""
    body = joined(_row(row, span) for row in rows)
    axis = tag("div", *(_tick(time, span) for time in ticks(span)), class_="axis", aria_hidden="true")
    brush = tag("div", tag("i"), class_="brush", title="Drag to choose a stretch of time")
    whole = tag("div", body, axis, brush, class_="timeline", data_from=span.start, data_to=span.end)
    hint = f"Each bar is {_long(span.bin_s)}. Drag over the bars, and the map shows that stretch of time alone."
    return whole + tag("div", hint, class_="picked")


def ticks(span: TimeSpan) -> list[float]:
    """Round moments within the span, eight or so."""
    length = max(span.end - span.start, 1.0)
    years = STEPS_S[-1] * -(-length // (STEPS_S[-1] * TICKS))
    step = next((size for size in STEPS_S if length / size <= TICKS), years)
    first = -(-span.start // step) * step
    return [first + n * step for n in range(int((span.end - first) // step) + 1)]


def _tick(time: float, span: TimeSpan) -> Markup:
    at = datetime.fromtimestamp(time, UTC)
    text = f"{at:%H:%M}" if span.end - span.start <= 3 * 86_400 and time % 86_400 else f"{at.day} {at:%b}"
    share = span.share(time)
    side = "first" if share < EDGE else "last" if share > 1 - EDGE else None
    return tag("span", text, class_=side, style=f"left:{100 * share:.2f}%")


def _row(row: TimeRow, span: TimeSpan) -> Markup:
    most = max(row.counts.values(), default=1)
    bars = joined(_bar(place, count, most, row, span) for place, count in sorted(row.counts.items()))
    picture = tag(
        "svg", bars, class_="bars", viewbox=f"0 0 {BINS} {TALL}", preserveaspectratio="none", role="img",
        aria_label=f"{row.label}: {row.total}",
    )  # fmt: skip
    name = tag("div", icon(row.sign), tag("span", row.label), class_="name")
    return tag("div", name, picture, tag("div", f"{row.total:,}", class_="n"), class_="row")


def _bar(place: int, count: int, most: int, row: TimeRow, span: TimeSpan) -> Markup:
    height = 4 + (TALL - 4) * count / most
    began = datetime.fromtimestamp(span.start + place * span.bin_s, UTC)
    told = tag("title", f"{count_of(count, 'match', 'matches')} from {moment(began)}")
    return tag(
        "rect", told, x=place, y=f"{TALL - height:.1f}", width="0.9", height=f"{height:.1f}",
        class_=f"hue-{row.sign.hue}", stroke="none",
    )  # fmt: skip


def _long(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} seconds"
