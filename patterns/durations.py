"""Spans of time and of events as people write them: `2h`, `30min`, `45s`, `100 events`."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from foresail.patterns.errors import PatternError

UNITS_US = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
LONGEST_US = 10_000_000 * UNITS_US["d"]
MOST_EVENTS = 999_999_999
_SAID_AS = {
    "microseconds": "us",
    "milliseconds": "ms",
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "m": "min",
    "mins": "min",
    "minute": "min",
    "minutes": "min",
    "hr": "h",
    "hrs": "h",
    "hour": "h",
    "hours": "h",
    "day": "d",
    "days": "d",
}
_AMOUNT = re.compile(r"\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-zµ]*)\s*")
DURATION_PATTERN = r"^\s*[0-9]+(\.[0-9]+)?\s*(us|ms|s|min|h|d)\s*$"
"""The same as a regular expression, for the JSON Schema of catalog files."""
WINDOW_PATTERN = r"^\s*([0-9]+(\.[0-9]+)?\s*(us|ms|s|min|h|d)|[0-9]+\s*events?)\s*$"


class DurationError(PatternError):
    """A span of time or of events that cannot be understood, or that is nothing at all."""


@dataclass(frozen=True, slots=True)
class Window:
    """The longest a match may span: `size` microseconds (`time`) or events (`count`)."""

    kind: Literal["time", "count"]
    size: int

    def __str__(self) -> str:
        return say_duration(self.size) if self.kind == "time" else f"{self.size} events"


def parse_duration(text: str) -> int:
    """The duration in microseconds."""
    amount, unit = _amount_and_unit(text)
    if unit not in UNITS_US:
        raise DurationError(_unknown_unit(text, amount, unit, units=tuple(UNITS_US)))
    whole = float(amount) * UNITS_US[unit]
    if whole > LONGEST_US:
        msg = f"'{text[:40]}' is longer than {say_duration(LONGEST_US)}, which is the limit. Write a shorter duration."
        raise DurationError(msg)
    microseconds = round(whole)
    if microseconds <= 0:
        msg = f"'{text}' is no time at all. Write a duration above zero, such as 30min."
        raise DurationError(msg)
    return microseconds


def parse_window(text: str) -> Window:
    """The window in time (`2h`) or in events (`100 events`)."""
    amount, unit = _amount_and_unit(text)
    if unit not in ("event", "events"):
        if unit not in UNITS_US:
            raise DurationError(_unknown_unit(text, amount, unit, units=(*UNITS_US, "events")))
        return Window("time", parse_duration(text))
    if len(amount.lstrip("0")) > len(str(MOST_EVENTS)):
        msg = f"'{text[:40]}' is more than {MOST_EVENTS:,} events, which is the limit. Write a smaller window."
        raise DurationError(msg)
    if "." in amount or int(amount) <= 0:
        msg = f"'{text}' is not a number of events. Write a whole number above zero, such as 100 events."
        raise DurationError(msg)
    return Window("count", int(amount))


def say_duration(microseconds: int) -> str:
    """The duration in the largest unit that holds it exactly: 7200000000 is `2h`."""
    unit = max((u for u in UNITS_US if microseconds % UNITS_US[u] == 0), key=UNITS_US.__getitem__)
    return f"{microseconds // UNITS_US[unit]}{unit}"


def _amount_and_unit(text: str) -> tuple[str, str]:
    found = _AMOUNT.fullmatch(text)
    if not found:
        msg = f"'{text}' is not a duration. Write a number and a unit, such as 2h, 30min or 45s."
        raise DurationError(msg)
    amount, unit = found.groups()
    if amount.startswith("-"):
        msg = f"'{text}' is negative. Write a duration above zero, such as {text.strip().lstrip('-')}."
        raise DurationError(msg)
    return amount, unit


def _unknown_unit(text: str, amount: str, unit: str, units: tuple[str, ...]) -> str:
    if not unit:
        return f"'{text}' has no unit. Write one of {', '.join(units)} behind the number, such as {amount}min."
    meant = _SAID_AS.get(unit.lower()) or next(iter(get_close_matches(unit.lower(), units, n=1)), None)
    hint = f"Did you mean '{amount}{' ' if meant == 'events' else ''}{meant}'? " if meant else ""
    return f"'{text}': unknown unit '{unit}'. {hint}Known units: {', '.join(units)}."
