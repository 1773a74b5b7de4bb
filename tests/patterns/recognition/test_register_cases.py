"""The acceptance cases of recognition with registers, by their names in the definition; plain ones as well.

Streams are `type:id:price`; a case without a window runs with one longer than its stream.
"""

import pytest

from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.errors import CannotMatchError
from foresail.patterns.spec import Output, spec_of
from tests.patterns.remembering import SCHEMA, Found, run

WHERE = {letter: f'k == "{letter}"' for letter in "ABCDS"} | {
    "same": 'k == "S" and x == r1.x',
    "cheap": 'k == "B" and v < 10',
    "dear": 'k == "B" and v > 500',
    "known": 'k == "A" and x == r1.x',
    "unknown": 'k == "A" and not (x == r1.x)',
    "again": 'k == "B" and x == r1.x',
    "rising": 'k == "A" and v > r1.v',
    "first": 'k == "S" and x == 1',
    "second": 'k == "B" and x == 2',
    "third": 'k == "B" and x == 3 and v > r1.v',
}
TABLE_1 = "B:1:22 B:1:24 B:2:32 S:1:70 S:1:68 B:2:33"
TABLE_4 = "B:1 B:1 B:1 S:1 B:1 S:1"
LONG = {"window_events": 100}
E1 = "B as r1 ; hidden _* ; same"


def stream(text: str, times: list[int] | None = None) -> list[dict[str, object]]:
    """The events of a stream."""
    events = []
    for n, word in enumerate(text.split()):
        kind, number, price = (*word.split(":"), "0", "0")[:3]
        events.append({"k": kind, "x": int(number), "v": float(price), "time": times[n] if times else n})
    return events


def compiled(pattern: str, **rules: object) -> CompiledPattern:
    return compile_pattern(spec_of("case", pattern, WHERE, output=Output.ENUMERATE, **rules), SCHEMA)


def sets(rows: list[Found]) -> dict[int, list[list[int]]]:
    found: dict[int, list[list[int]]] = {}
    for row in rows:
        found.setdefault(row.index, []).append(list(row.events))
    return {k: sorted(some, key=lambda s: (len(s), s)) for k, some in found.items()}


CASES: dict[str, tuple[str, str, dict[str, object], dict[int, list[list[int]]]]] = {
    "AC1": (E1, TABLE_1, LONG, {4: [[1, 4], [2, 4]], 5: [[1, 5], [2, 5]]}),
    "AC2": (E1, TABLE_1, {"window_events": 4}, {4: [[1, 4], [2, 4]], 5: [[2, 5]]}),
    "AC2b": (E1, TABLE_1, {"window_events": 3}, {4: [[2, 4]]}),
    "AC2c": (E1, TABLE_1, {"window_events": 2}, {}),
    "AC3": (
        "(cheap as r1 | dear as r1) ; same",
        "B:1:5 S:1:6 B:2:600 S:2:1 B:3:9 S:4:1 B:5:50 S:5:1 B:6:10 S:6:1",
        LONG,
        {2: [[1, 2]], 4: [[3, 4]]},
    ),
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
    "AC11": (
        "(B as r1)+ ; same",
        "B:1 B:2 S:1 B:1 S:1 B:3 B:3 B:4 S:4",
        LONG,
        {5: [[4, 5]], 9: [[8, 9], [7, 8, 9], [6, 7, 8, 9]]},
    ),
    "AC11b": ("(B as r1)+ ; same", TABLE_4, LONG, {4: [[3, 4], [2, 3, 4], [1, 2, 3, 4]], 6: [[5, 6]]}),
    "AC13": ("known", "A:1 A:1", LONG, {}),
    "AC13 denied": ("unknown", "A:1 B:1", LONG, {1: [[1]]}),
    "AC14": ("(A as r1 | again)*", "A:1 B:1 B:2 B:1", LONG, {1: [[1]], 2: [[1, 2]]}),
    "AC16": ("A ; hidden _*", "A C C", {}, {1: [[1]]}),
    "AC17": ("next(A, B)", "A B B B", {}, {2: [[1, 2]]}),
    "AC17 absent": ("A ; absent(B) ; B", "A B B B", {}, {2: [[1, 2]]}),
    "AC17 literal": ("A ; not(B)* ; B", "A B B B", {}, {2: [[1, 2]], 4: [[1, 4]]}),
    "AC18": ("A ; absent(B) ; C", "A B B C A D C", {}, {7: [[5, 7]]}),
    "AC18 literal": ("A ; not(B) ; C", "A B C A B B C", {}, {7: [[1, 7], [4, 7]]}),
    "AC19": ("each(A, B)", "A B A", {}, {2: [[1, 2]], 3: [[2, 3]]}),
    "AC21": ("(A*)* ; B", "A A B", {}, {3: [[3], [2, 3], [1, 2, 3]]}),
    "AC22": (
        "A as r1 ; (rising as r1)+",
        "A:0:1 A:0:2 A:0:3 A:0:2 A:0:5",
        LONG,
        {2: [[1, 2]], 3: [[2, 3], [1, 2, 3]], 5: [[4, 5]]},
    ),
    "AC23": (
        "any(first as r1, second, third)",
        "S:1:10 B:2:1 B:3:11 S:1:12 B:2:1 B:3:11 B:3:13",
        {"window_events": 5},
        {3: [[1, 2, 3]], 7: [[4, 5, 7]]},
    ),
    "AC24": ("hidden A as r1 ; hidden _* ; again", "A:1 C B:1", {"window_events": 2}, {3: [[3]]}),
    "AC25": ("A*", "A A B A", {}, {1: [[1]], 2: [[2], [1, 2]], 4: [[4]]}),
    "AC27": ("A ; B & any(A, B)", "A B", {}, {2: [[1, 2]]}),
    "AC27 with a register": ("(A as r1 ; B & any(A, B)) ; again", "A:1 B B:1", LONG, {3: [[1, 2, 3]]}),
}


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    pattern, text, rules, expected = CASES[case]
    assert sets(run(compiled(pattern, **rules), [stream(text)])) == expected


@pytest.mark.parametrize("case", CASES)
def test_case_cut_after_every_event(case: str) -> None:
    pattern, text, rules, expected = CASES[case]
    events = stream(text)
    assert sets(run(compiled(pattern, **rules), [events], range(1, len(events)))) == expected


def test_ac27_different_marks_never_meet() -> None:
    with pytest.raises(CannotMatchError, match="can never match"):
        compiled("A ; B & hidden A ; B")


def test_ac28_every_track_is_matched_alone() -> None:
    rows = run(compiled("A as r1 ; again", **LONG), [stream("A:1 B:1"), stream("A:2 B:2"), stream("A:1 B:2")])
    assert [(row.track, row.events) for row in rows] == [(0, (1, 2)), (1, (1, 2))]


def test_ac29_a_time_window_is_inclusive() -> None:
    events = stream("A:1 B:1 B:1 B:1", [0, 9, 10, 11])
    found = sets(run(compiled("any(A as r1, again)", window_us=10), [events]))
    assert found == {2: [[1, 2]], 3: [[1, 3]]}


def test_ac30_a_batch_that_is_cut_gives_what_a_whole_one_gives() -> None:
    whole, cut = (run(compiled(E1, **LONG), [stream(TABLE_1)], cuts) for cuts in ((), (3,)))
    assert whole == cut
    assert [(row.events, row.registers, row.register_times) for row in whole] == [
        ((1, 4), (1,), (0,)),
        ((2, 4), (2,), (1,)),
        ((1, 5), (1,), (0,)),
        ((2, 5), (2,), (1,)),
    ]
