"""The acceptance cases of the recognition spec that need no registers, by their names there."""

import pytest

from foresail.patterns.compiler import compile_pattern
from foresail.patterns.errors import CannotMatchError
from foresail.patterns.spec import Output, spec_of
from tests.patterns.running import run

WHERE = {letter: f'type == "{letter}"' for letter in "ABCD"}


def matches(pattern: str, stream: str, times: list[int] | None = None, **rules: object) -> dict[int, list[list[int]]]:
    """For each detecting event the sets of marked events."""
    compiled = compile_pattern(spec_of("case", pattern, WHERE, output=Output.ENUMERATE, **rules))
    letters = stream.split()
    events = [{name: name == letter for name in WHERE} for letter in letters]
    found: dict[int, list[list[int]]] = {}
    for row in run([compiled], [events], [times or list(range(len(letters)))]):
        found.setdefault(row.index, []).append(list(row.events))
    return {k: sorted(sets, key=lambda s: (len(s), s)) for k, sets in found.items()}


CASES = {
    "AC4": ("A ; B", "A B C A B C", {}, {2: [[1, 2]], 5: [[4, 5]]}),
    "AC5": ("any(A, B)", "A A B C B", {}, {3: [[1, 3], [2, 3]], 5: [[1, 5], [2, 5]]}),
    "AC6": ("any(A, B)", "A A B C B", {"window_events": 3}, {3: [[1, 3], [2, 3]]}),
    "AC7": ("next(A, B)", "A A B C B", {}, {3: [[1, 3], [2, 3]]}),
    "AC8": ("A ; B+", "A B B C B", {}, {2: [[1, 2]], 3: [[1, 2, 3]]}),
    "AC9": (
        "any(A, any(B+), C)",
        "A B B D B C",
        {},
        {6: [[1, 2, 6], [1, 3, 6], [1, 5, 6], [1, 2, 3, 6], [1, 2, 5, 6], [1, 3, 5, 6], [1, 2, 3, 5, 6]]},
    ),
    "AC16": ("A ; hidden _*", "A C C", {}, {1: [[1]]}),
    "AC17 next": ("next(A, B)", "A B B B", {}, {2: [[1, 2]]}),
    "AC17 absent": ("A ; absent(B) ; B", "A B B B", {}, {2: [[1, 2]]}),
    "AC17 literal": ("A ; not(B)* ; B", "A B B B", {}, {2: [[1, 2]], 4: [[1, 4]]}),
    "AC19": ("each(A, B)", "A B A", {}, {2: [[1, 2]], 3: [[2, 3]]}),
    "AC21": ("(A*)* ; B", "A A B", {}, {3: [[3], [2, 3], [1, 2, 3]]}),
    "AC25": ("A*", "A A B A", {}, {1: [[1]], 2: [[2], [1, 2]], 4: [[4]]}),
    "AC27 same marks": ("A ; B & any(A, B)", "A B", {}, {2: [[1, 2]]}),
    "a hidden first event, in the window of what is marked": (
        "hidden A ; hidden _* ; B",
        "A C B",
        {"window_events": 2},
        {3: [[3]]},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    pattern, stream, rules, expected = CASES[case]
    assert matches(pattern, stream, **rules) == expected


def test_ac27_different_marks_never_meet() -> None:
    with pytest.raises(CannotMatchError, match="can never match"):
        matches("A ; B & hidden A ; B", "A B")


def test_ac29_a_time_window_is_inclusive() -> None:
    assert matches("any(A, B)", "A B B B", [0, 9, 10, 11], window_us=10) == {2: [[1, 2]], 3: [[1, 3]]}
