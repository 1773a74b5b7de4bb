"""Patterns and conditions that are too large are refused at once, with the limit named; large honest ones are not."""

import time

import pytest

from foresail.patterns.compiler import compile_pattern
from foresail.patterns.errors import PatternError, PatternSyntaxError
from foresail.patterns.limits import MOST_CHARACTERS, MOST_DEPTH, MOST_PARTS, MOST_TERMS
from foresail.patterns.notations.sre import Importing, import_sre
from foresail.patterns.spec import MOST_LISTED, Output, spec_of

AT_ONCE_S = 5.0
A = {"a": "x > 1", "b": "y > 1"}
DOUBLED = {"c0": "x > 1 or y > 1", **{f"c{n}": f"c{n - 1} or c{n - 1}" for n in range(1, 60)}}
NEGATED = {"c0": "x > 1", **{f"c{n}": f"not c{n - 1}" for n in range(1, 2000)}}
LARGE: dict[str, tuple[str, dict[str, str], str]] = {
    "10 MB of pattern": ("a ; " * 2_500_000 + "a", A, f"{MOST_CHARACTERS:,}"),
    "a pattern of many parts": (";".join(["a"] * 5_000), A, f"{MOST_PARTS:,}"),
    "a pattern in many parentheses": ("not(" * 1_000 + "a" + ")" * 1_000, A, f"{MOST_DEPTH} levels"),
    "many stars": ("a" + "*" * 1_000, A, f"{MOST_DEPTH} levels"),
    "hidden in hidden": ("hidden " * 1_000 + "a", A, f"{MOST_DEPTH} levels"),
    "a count of 5,000 digits": (f"a{{{'9' * 5_000}}}", A, "4096 states"),
    "repetitions of repetitions": ("(" * 60 + "a" + "){2}" * 60, A, "4096 states"),
    "orders of orders": ("each(a,b," * 40 + "b" + ")" * 40, A, "4096 states"),
    "200,000 ors": ("c", {"c": " or ".join(["x > 1"] * 200_000)}, f"{MOST_CHARACTERS:,}"),
    "many ors": ("c", {"c": " or ".join(["x>1"] * 2_500)}, f"{MOST_TERMS} terms"),
    "many parentheses": ("c", {"c": "(" * 5_000 + "x > 1" + ")" * 5_000}, f"{MOST_DEPTH} levels"),
    "not not not": ("c", {"c": "not " * 3_000 + "x > 1"}, f"{MOST_DEPTH} levels"),
    "a long sum": ("c", {"c": "+".join(["x"] * 5_000) + " > 1"}, f"{MOST_DEPTH} levels"),
    "minus minus minus": ("c", {"c": "x > " + "- " * 5_000 + "y"}, f"{MOST_DEPTH} levels"),
    "names that double": ("c59", DOUBLED, f"{MOST_TERMS} terms"),
    "names of names": ("c1999", NEGATED, f"{MOST_DEPTH} levels"),
    "too much inline": (f"[{' or '.join(['x>1'] * 10_000)}]", {}, f"{MOST_CHARACTERS:,}"),
}


@pytest.mark.parametrize("case", list(LARGE))
def test_what_is_too_large_is_refused_at_once_in_one_line_with_the_limit(case: str) -> None:
    pattern, where, limit = LARGE[case]
    began = time.monotonic()
    with pytest.raises(PatternError, match=limit) as caught:
        compile_pattern(spec_of("p", pattern, where))
    assert time.monotonic() - began < AT_ONCE_S
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_watch_list_of_1500_ships_compiles_at_once() -> None:
    listed = ", ".join(str(219_000_000 + 7 * n) for n in range(1_500))
    began = time.monotonic()
    pattern = compile_pattern(spec_of("p", "c", {"c": f"mmsi in ({listed}) and speed_kn > 3"}))
    assert time.monotonic() - began < AT_ONCE_S
    assert len(pattern.alphabet.codes) == 2


def test_as_deep_as_is_allowed_compiles() -> None:
    compile_pattern(spec_of("p", "a" + "?" * (MOST_DEPTH - 4), A))
    compile_pattern(spec_of("p", "c", {"c": "not " * (MOST_DEPTH - 4) + "x > 1"}))


def test_more_sets_than_memory_holds_cannot_be_asked_for() -> None:
    spec_of("p", "any(a, b)", A, output=Output.ENUMERATE, limit=MOST_LISTED)
    with pytest.raises(PatternError, match=f"limit of p is 1000000000; {MOST_LISTED} are the most"):
        spec_of("p", "any(a, b)", A, output=Output.ENUMERATE, limit=1_000_000_000)


def test_of_a_long_line_only_the_part_around_the_fault_is_shown() -> None:
    with pytest.raises(PatternSyntaxError) as caught:
        compile_pattern(spec_of("p", "a ; " * 2_000 + "; a" + " ; a" * 2_000, A))
    _, shown, caret = str(caught.value).splitlines()
    assert len(shown) < 200
    assert shown[caret.index("^")] == ";"


def test_a_deep_file_of_another_notation_is_refused() -> None:
    text = "*(" * 5_000 + "IsTrue(a)" + ")" * 5_000 + "{window:10}"
    with pytest.raises(PatternError, match=f"{MOST_DEPTH} levels"):
        import_sre(text, "a.sre", Importing("a"))
