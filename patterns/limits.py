"""How much a pattern or a condition may ask for, checked before it costs: texts may come from anywhere.

Parsing and compiling take time and memory that grow faster than the text, and trees are walked by recursion.
"""

from collections.abc import Iterable

from lark import Token, Tree

from foresail.patterns.errors import PatternError, Place

MOST_CHARACTERS = 20_000
"""Of a pattern or a condition: room for a list of 1,500 ship numbers."""
MOST_DEPTH = 100
MOST_PARTS = 250
"""Of a pattern: names, inline conditions and `_`, each as often as it is written."""
MOST_TERMS = 250
"""Of a condition: comparisons and attributes, those of the conditions it names included."""


class TooLargeError(PatternError):
    """A pattern or a condition that is larger than any that a person would write."""


def check_length(text: str, place: Place, what: str) -> None:
    """Refuse a text that is too long to be parsed."""
    if len(text) > MOST_CHARACTERS:
        raise _too_large(place, what, f"{len(text):,} characters", f"{MOST_CHARACTERS:,}")


def check_depth(tree: Tree[Token], place: Place, what: str) -> None:
    """Refuse a tree that recursion could not walk."""
    level: list[Tree[Token]] = [tree]
    for _ in range(MOST_DEPTH):
        level = [child for node in level for child in node.children if isinstance(child, Tree)]
        if not level:
            return
    raise _too_large(place, what, "deeper nesting", f"{MOST_DEPTH} levels")


def check_parts(parts: Iterable[object], place: Place) -> None:
    """Refuse a pattern whose automaton would take too long to build."""
    count = sum(1 for _ in parts)
    if count > MOST_PARTS:
        raise _too_large(place, "the pattern", f"{count:,} parts", f"{MOST_PARTS:,}")


def _too_large(place: Place, what: str, has: str, limit: str) -> TooLargeError:
    return TooLargeError(f"{place}: {what} has {has}; {limit} are the limit. Split it.")
