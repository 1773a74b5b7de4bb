"""A pattern tree as text that parses back to it: for error messages, documentation and golden files."""

from typing import assert_never

from foresail.patterns.language.syntax import (
    Absent,
    Anything,
    Both,
    Choice,
    Each,
    Hidden,
    Inline,
    Named,
    Not,
    Pattern,
    Repeat,
    Sequence,
    SkipTillAny,
    SkipTillNext,
)

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
