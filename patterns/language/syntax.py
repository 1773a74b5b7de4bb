"""The pattern language as a tree. Nodes are plain values: they hold, they never compute.

A pattern tree as text that parses back to it: for error messages, documentation and golden files.
"""

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


CHOICE, BOTH, SEQUENCE, HIDDEN, POSTFIX = range(5)
"""How tightly an operator binds, loosest first."""


def pattern_text(pattern: Pattern, binding: int = CHOICE) -> str:
    """The text of `pattern`, in parentheses where it stands inside something that binds tighter."""
    text, own = _text(pattern)
    return f"({text})" if own < binding else text


def _text(pattern: Pattern) -> tuple[str, int]:
    match pattern:
        case Named(name, _, register):
            return name + _kept(register), POSTFIX
        case Inline(condition, _, register):
            return f"[{condition}]{_kept(register)}", POSTFIX
        case Anything(_, register):
            return f"_{_kept(register)}", POSTFIX
        case Choice(parts):
            return " | ".join(pattern_text(part, BOTH) for part in parts), CHOICE
        case Both(parts):
            return " & ".join(pattern_text(part, SEQUENCE) for part in parts), BOTH
        case Sequence(parts):
            return " ; ".join(pattern_text(part, HIDDEN) for part in parts), SEQUENCE
        case Hidden(part):
            return f"hidden {pattern_text(part, HIDDEN)}", HIDDEN
        case Repeat(part, least, most):
            return pattern_text(part, POSTFIX) + _times(least, most), POSTFIX
        case SkipTillAny(parts):
            return f"any({_listed(parts)})", POSTFIX
        case SkipTillNext(parts):
            return f"next({_listed(parts)})", POSTFIX
        case Each(parts):
            return f"each({_listed(parts)})", POSTFIX
        case Not(part):
            return f"not({pattern_text(part)})", POSTFIX
        case Absent(part):
            return f"absent({pattern_text(part)})", POSTFIX
        case _:
            assert_never(pattern)


def _kept(register: str | None) -> str:
    return f" as {register}" if register else ""


def _listed(parts: tuple[Pattern, ...]) -> str:
    return ", ".join(pattern_text(part) for part in parts)


def _times(least: int, most: int | None) -> str:
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if (least, most) in short:
        return short[least, most]
    if least == most:
        return f"{{{least}}}"
    return f"{{{least},{'' if most is None else most}}}"
