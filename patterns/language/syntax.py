"""The pattern language as a tree. Nodes are plain values: they hold, they never compute."""

from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from foresail.patterns.errors import Place


@dataclass(frozen=True, slots=True)
class Named:
    """One event that satisfies the condition `name` of `where:`; kept in `register` when one is given."""

    name: str
    place: Place = field(compare=False)
    register: str | None = None


@dataclass(frozen=True, slots=True)
class Inline:
    """One event that satisfies the condition written between brackets."""

    text: str
    place: Place = field(compare=False)
    register: str | None = None


@dataclass(frozen=True, slots=True)
class Anything:
    """Any one event."""

    place: Place = field(compare=False)
    register: str | None = None


@dataclass(frozen=True, slots=True)
class Sequence:
    """The parts one right after the other."""

    parts: tuple["Pattern", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the parts."""

    parts: tuple["Pattern", ...]


@dataclass(frozen=True, slots=True)
class Both:
    """Every part on the same stretch, all marking the same events."""

    parts: tuple["Pattern", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The part `least` to `most` times; no `most` means without end."""

    part: "Pattern"
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class SkipTillAny:
    """The parts in order; anything may lie between, and every combination counts."""

    parts: tuple["Pattern", ...]


@dataclass(frozen=True, slots=True)
class SkipTillNext:
    """The parts in order, each at its first occurrence after the one before."""

    parts: tuple["Pattern", ...]


@dataclass(frozen=True, slots=True)
class Each:
    """The parts in any order, contiguous."""

    parts: tuple["Pattern", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Any stretch that is not a match of the part."""

    part: "Pattern"


@dataclass(frozen=True, slots=True)
class Absent:
    """Any stretch in which the part occurs nowhere."""

    part: "Pattern"


@dataclass(frozen=True, slots=True)
class Hidden:
    """The part must occur, but its events are not part of the match."""

    part: "Pattern"


Terminal: TypeAlias = Named | Inline | Anything
Pattern: TypeAlias = (
    Terminal | Sequence | Choice | Both | Repeat | SkipTillAny | SkipTillNext | Each | Not | Absent | Hidden
)


def children_of(pattern: Pattern) -> tuple[Pattern, ...]:
    """The parts right below `pattern`."""
    match pattern:
        case Named() | Inline() | Anything():
            return ()
        case Repeat(part, _, _) | Not(part) | Absent(part) | Hidden(part):
            return (part,)
        case Sequence(parts) | Choice(parts) | Both(parts) | Each(parts) | SkipTillAny(parts) | SkipTillNext(parts):
            return parts
        case _:
            assert_never(pattern)
