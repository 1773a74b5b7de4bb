"""What can be wrong with a pattern, said so that the analyst knows where to look and what to type instead."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

_SHOWN_AROUND = 80
"""Characters before and after a fault that are shown of its line."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a piece of text stands: the file or pattern it belongs to, its line and its column, both from 1."""

    name: str = "condition"
    line: int = 1
    column: int = 1

    def at(self, line: int, column: int) -> "Place":
        """The place of line and column (both from 1) of a text that starts here."""
        if line == 1:
            return Place(self.name, self.line, self.column + column - 1)
        return Place(self.name, self.line + line - 1, column)

    def __str__(self) -> str:
        return f"{self.name}:{self.line}:{self.column}"


def nearest(word: str, known: Iterable[str]) -> str:
    """The sentence `Did you mean '...'? ` with a blank after it, or nothing when no known word is near."""
    close = get_close_matches(word, sorted(known), n=1)
    return f"Did you mean '{close[0]}'? " if close else ""


class PatternError(Exception):
    """Something in the folder `patterns` cannot go on; the message says where, what is wrong and what to do."""


class PatternSyntaxError(PatternError):
    """A text that does not follow the grammar: the message shows the line, a caret and what was expected."""

    def __init__(self, problem: str, *, place: Place, source: str, line: int, column: int) -> None:
        self.place = place
        lines = source.splitlines() or [""]
        whole = lines[min(line, len(lines)) - 1].replace("\t", " ")
        first = max(0, column - 1 - _SHOWN_AROUND) if len(whole) > 2 * _SHOWN_AROUND else 0
        shown = whole[first : first + 2 * _SHOWN_AROUND]
        super().__init__(f"{place}: {problem}\n    {shown}\n    {' ' * (column - 1 - first)}^")


class UnknownAttributeError(PatternError):
    """A condition names an attribute that the events do not have."""

    def __init__(self, name: str, known: Iterable[str], where: object) -> None:
        self.name, self.where = name, where
        known = sorted(known)
        listed = f"Known attributes: {', '.join(known)}." if known else "No attribute is known here."
        super().__init__(f"{where}: unknown attribute '{name}'. {nearest(name, known)}{listed}")


class ConditionTypeError(PatternError):
    """A condition relates values that have nothing to do with each other, such as a name and a number."""


class AlphabetError(PatternError):
    """The conditions of a pattern have more possible combinations than can be kept as symbols."""


class UnknownConditionError(PatternError):
    """A pattern names a condition that its `where:` does not define."""

    def __init__(self, name: str, known: Iterable[str], where: object) -> None:
        known = sorted(known)
        listed = (
            f"Defined in where: {', '.join(known)}." if known else "Define it in where:, or write it as [condition]."
        )
        super().__init__(f"{where}: unknown condition '{name}'. {nearest(name, known)}{listed}")


class RegistersError(PatternError):
    """A pattern keeps or reads an earlier event, which the automata without memory cannot."""


class CannotMatchError(PatternError):
    """No stretch of any track could ever match."""


class StateExplosionError(PatternError):
    """An operator needs more states than an automaton may have."""


class PatternRuleError(PatternError):
    """Two keys of a pattern do not go together, or one has an impossible value."""
