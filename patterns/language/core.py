"""The core that every pattern is lowered to: few operators, each with one construction in automata/."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Event:
    """One event on which condition number `condition` holds (None: any event), marked or not."""

    condition: int | None
    marked: bool


@dataclass(frozen=True, slots=True)
class Nothing:
    """The empty stretch."""


@dataclass(frozen=True, slots=True)
class Concatenation:
    """The parts one right after the other."""

    parts: tuple["Core", ...]


@dataclass(frozen=True, slots=True)
class Union:
    """One of the parts."""

    parts: tuple["Core", ...]


@dataclass(frozen=True, slots=True)
class Iteration:
    """The part `least` to `most` times; no `most` means without end."""

    part: "Core"
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Complement:
    """Any stretch that the part does not match; marks nothing."""

    part: "Core"


@dataclass(frozen=True, slots=True)
class Intersection:
    """Every part on the same stretch with the same marks."""

    parts: tuple["Core", ...]


Core: TypeAlias = Event | Nothing | Concatenation | Union | Iteration | Complement | Intersection

SKIP = Iteration(Event(None, marked=False), 0, None)
"""Any number of events that are not part of the match."""
