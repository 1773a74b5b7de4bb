"""Matches over time: a row of bars for each pattern, exact counts however many there are, and a brush for the map."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import floor

from foresail.pipeline.reports.page import Markup, count_of, joined, moment, tag
from foresail.pipeline.reports.plots import Sign, icon

MOST_BINS = 144
BIN_UNITS = (
    ("second", 1, (1, 2, 5, 10, 15, 30)),
    ("minute", 60, (1, 2, 5, 10, 15, 20, 30)),
    ("hour", 3600, (1, 2, 3, 4, 6, 12)),
    ("day", 86_400, (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)),
)
"""Lengths of a bar that a reader can do sums with."""
TICKS = 8
TALL = 20
EDGE = 0.03
"""So near to an end of the axis a label stands beside its tick, not below it."""
STEPS_S = (60, 300, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600)
STEPS_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
MONTHS_FROM_S = TICKS * STEPS_S[-1]
"""Longer spans are parted by the calendar."""


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """From the first moment to the last, in epoch seconds."""

    start: float
    end: float

    @property
    def bin_s(self) -> int:
        """How long a bar is: a round number of seconds, minutes, hours or days."""
        sizes = [size * number for _, size, numbers in BIN_UNITS for number in numbers]
        return next((size for size in sizes if self.length / size <= MOST_BINS), sizes[-1])

    @property
    def first_bin(self) -> int:
        """The number of the bar in which the span begins, counted from the epoch."""
        return floor(self.start / self.bin_s)

    @property
    def bins(self) -> int:
        """How many bars there are."""
        return floor(self.end / self.bin_s) - self.first_bin + 1

    @property
    def whole(self) -> "TimeSpan":
        """From the beginning of the first bar to the end of the last."""
        return TimeSpan(self.first_bin * self.bin_s, (self.first_bin + self.bins) * self.bin_s)

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
    axis = tag("div", *_ticks(span.whole), class_="axis", aria_hidden="true")
    brush = tag("div", tag("i"), class_="brush", title="Drag to choose a stretch of time")
    whole = tag("div", body, axis, brush, class_="timeline", data_from=span.whole.start, data_to=span.whole.end)
    hint = f"Each bar is {_long(span.bin_s)}. Drag over the bars, and the map shows that stretch of time alone."
    return whole + tag("div", hint, class_="picked")


def ticks(span: TimeSpan) -> list[float]:
    """Round moments within the span, eight or so; first days of months and years where it is long."""
    length = max(span.length, 1.0)
    if length > MONTHS_FROM_S:
        return _months(span)
    step = next(size for size in STEPS_S if length / size <= TICKS)
    first = -(-span.start // step) * step
    return [first + n * step for n in range(int((span.end - first) // step) + 1)]


def _months(span: TimeSpan) -> list[float]:
    start, end = (datetime.fromtimestamp(time, UTC) for time in (span.start, span.end))
    first, last = start.year * 12 + start.month - 1, end.year * 12 + end.month - 1
    step = next((size for size in STEPS_MONTHS if (last - first) / size <= TICKS), STEPS_MONTHS[-1])
    counted = range(-(-first // step) * step, last + 1, step)
    days = (datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC).timestamp() for month in counted)
    return [day for day in days if day >= span.start]


def _ticks(span: TimeSpan) -> list[Markup]:
    found = ticks(span)
    return [_tick(time, before, span) for before, time in zip([None, *found], found, strict=False)]


def _tick(time: float, before: float | None, span: TimeSpan) -> Markup:
    share = span.share(time)
    side = "first" if share < EDGE else "last" if share > 1 - EDGE else None
    return tag("span", label(time, before, span), class_=side, style=f"left:{100 * share:.2f}%")


def label(time: float, before: float | None, span: TimeSpan) -> str:
    """What stands at a tick: the hour, the day or the month, with the year where it is another than `before`."""
    at = datetime.fromtimestamp(time, UTC)
    if span.length <= 3 * 86_400 and time % 86_400:
        return f"{at:%H:%M}"
    same_year = before is not None and datetime.fromtimestamp(before, UTC).year == at.year
    if span.length <= MONTHS_FROM_S:
        return f"{at.day} {at:%b}" + ("" if same_year or span.length <= 3 * 86_400 else f" {at.year}")
    return f"{at:%b}" if same_year else f"{at.year}" if at.month == 1 else f"{at:%b} {at.year}"


def _row(row: TimeRow, span: TimeSpan) -> Markup:
    most = max(row.counts.values(), default=1)
    bars = joined(_bar(place, count, most, row, span) for place, count in sorted(row.counts.items()))
    picture = tag(
        "svg", bars, class_="bars", viewbox=f"0 0 {span.bins} {TALL}", preserveaspectratio="none", role="img",
        aria_label=f"{row.label}: {row.total}",
    )  # fmt: skip
    name = tag("div", icon(row.sign), tag("span", row.label), class_="name")
    return tag("div", name, picture, tag("div", f"{row.total:,}", class_="n"), class_="row")


def _bar(place: int, count: int, most: int, row: TimeRow, span: TimeSpan) -> Markup:
    height = 4 + (TALL - 4) * count / most
    began = datetime.fromtimestamp((span.first_bin + place) * span.bin_s, UTC)
    tooltip = tag("title", f"{count_of(count, 'match', 'matches')} from {moment(began)}")
    return tag(
        "rect", tooltip, x=place, y=f"{TALL - height:.1f}", width="0.9", height=f"{height:.1f}",
        class_=f"hue-{row.sign.hue}", stroke="none",
    )  # fmt: skip


def _long(seconds: int) -> str:
    unit, size = next((name, size) for name, size, _ in reversed(BIN_UNITS) if seconds >= size)
    return count_of(seconds // size, unit)
