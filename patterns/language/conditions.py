"""The conditions that a pattern names or writes inline, each parsed once and numbered: the bits of its alphabet."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from foresail.patterns.conditions.parser import parse_condition
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.conditions.text import text_of
from foresail.patterns.errors import PatternRuleError, Place, UnknownConditionError
from foresail.patterns.language.parser import PATTERN_WORDS
from foresail.patterns.language.syntax import Anything, Inline, Named, Pattern, Terminal, children_of
from foresail.patterns.spec import PatternSpec, Text

MOST_CONDITIONS = 64


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of one pattern: those it reads first, then the features; number i is bit i of a minterm."""

    names: tuple[str, ...]
    parsed: tuple[Condition, ...]
    places: tuple[Place, ...]
    read: int
    """How many of them the pattern itself reads; the rest are features."""
    numbers: Mapping[str, int]
    """The number of each name of `where:` and `features:` and of each inline text that is in use."""

    def number(self, terminal: Terminal) -> int | None:
        """The number of a terminal's condition; None for any event."""
        match terminal:
            case Named(name, _, _):
                return self.numbers[name]
            case Inline(text, _, _):
                return self.numbers[_inline_name(text)]
            case Anything():
                return None
            case _:
                assert_never(terminal)


def terminals_of(pattern: Pattern) -> Iterator[Terminal]:
    """Every terminal of the tree, from left to right."""
    if isinstance(pattern, Named | Inline | Anything):
        yield pattern
    for part in children_of(pattern):
        yield from terminals_of(part)


def resolve_conditions(tree: Pattern, spec: PatternSpec) -> Conditions:
    """The conditions that `tree` reads and the features of `spec`; equal ones share a number."""
    defined = _parsed(spec.where, spec, {})
    features = _parsed(spec.features, spec, defined)
    wanted = [*_read_by(tree, defined, spec), *((t.name, features[t.name], t.place) for t in spec.features)]
    numbers: dict[str, int] = {}
    first: dict[str, int] = {}
    kept: list[tuple[str, Condition, Place]] = []
    for name, condition, place in wanted:
        canonical = text_of(condition)
        if canonical not in first:
            first[canonical] = len(kept)
            kept.append((name, condition, place))
        numbers[name] = first[canonical]
    if len(kept) > MOST_CONDITIONS:
        msg = (
            f"{spec.pattern.place}: {spec.name} has {len(kept)} conditions, at most {MOST_CONDITIONS} are possible. "
            "Split it."
        )
        raise PatternRuleError(msg)
    read = 1 + max((numbers[name] for name, _, _ in _read_by(tree, defined, spec)), default=-1)
    names, parsed, places = zip(*kept, strict=True) if kept else ((), (), ())
    return Conditions(names, parsed, places, read, numbers)


def _parsed(texts: tuple[Text, ...], spec: PatternSpec, earlier: Mapping[str, Condition]) -> dict[str, Condition]:
    named = dict(earlier)
    for text in texts:
        if text.name in PATTERN_WORDS:
            msg = f"{text.place}: '{text.name}' is a word of the pattern language. Give the condition another name."
            raise PatternRuleError(msg)
        if text.name in named:
            msg = f"{text.place}: '{text.name}' is defined twice. Give one of the two another name."
            raise PatternRuleError(msg)
        named[text.name] = parse_condition(text.text, text.place, parameters=spec.parameters, named=named)
    return named


def _read_by(
    tree: Pattern, defined: Mapping[str, Condition], spec: PatternSpec
) -> Iterator[tuple[str, Condition, Place]]:
    for terminal in terminals_of(tree):
        match terminal:
            case Named(name, place, _):
                if name not in defined:
                    raise UnknownConditionError(name, defined, place)
                yield name, defined[name], place
            case Inline(text, place, _):
                condition = parse_condition(text, place, parameters=spec.parameters, named=defined)
                yield _inline_name(text), condition, place
            case Anything():
                pass
            case _:
                assert_never(terminal)


def _inline_name(text: str) -> str:
    return f"[{text.strip()}]"
