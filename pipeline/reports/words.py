"""Numbers, times and names as a reader says them: every page of the reports uses the same words."""

from datetime import UTC, datetime

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
