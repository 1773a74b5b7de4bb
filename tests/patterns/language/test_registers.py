"""What is wrong with registers is told with its place and the way out; what nobody reads costs nothing."""

import pytest

from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.errors import PatternError
from foresail.patterns.spec import Output, spec_of
from tests.patterns.remembering import SCHEMA, run

WHERE = {"low": "x < 2", "more": "v > r.v", "same": "k == r.k", "mixed": "v > r.k", "later": "seconds_since(r) > 5"}
WINDOW = {"window_events": 1_000_000}


def compiled(pattern: str, **rules: object) -> CompiledPattern:
    return compile_pattern(spec_of("case", pattern, WHERE, **{**WINDOW, **rules}), SCHEMA)


@pytest.mark.parametrize(
    ("pattern", "rules", "said"),
    [
        ("low as r ; more", {"window_events": None}, "without a window it would be kept for ever. Add `window:`"),
        ("low as port ; low", {"family": "port"}, "'port' names the family's feature and a register"),
        ("low as r ; more", {"family": "port"}, "which a pattern of `for_each` cannot"),
        ("(low as r ; more) & (low as r ; more)", {}, "'r' is written on both sides of `&`"),
        ("low ; (more & low as r) ; low", {}, "'r' is read on one side of `&` and written on the other"),
        ("low ; absent(low as r ; more) ; low", {}, "reads a register that it writes itself"),
        ("low as r ; mixed", {}, "r.k"),
    ],
)
def test_a_fault_says_what_to_do(pattern: str, rules: dict[str, object], said: str) -> None:
    with pytest.raises(PatternError) as fault:
        compiled(pattern, **rules)
    assert said in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_read_that_nothing_wrote_before_is_a_warning_with_its_place() -> None:
    (never,) = compiled("low ; more").warnings
    assert never.endswith("condition more reads 'r', which is never written: a comparison with it is false.")
    assert never.split(":")[1:3] == ["1", "7"]
    (early,) = compiled("more ; low as r").warnings
    assert "reads 'r', which is not written before" in early
    assert compiled("(low as r | more)+").warnings == ()


def test_a_register_that_nobody_reads_is_dropped_and_the_pattern_runs_on_its_table() -> None:
    plain = compiled("low as r ; low as s", window_events=None)
    assert plain.memory is None
    assert plain.automaton.states > 1


def test_a_window_too_small_is_refused() -> None:
    with pytest.raises(PatternError, match="spans at least 3 events, its window only 2"):
        compiled("low as r ; low ; more", window_events=2)
    events = [{"x": 0, "v": float(n), "k": "a", "time": n} for n in range(6)]
    assert [row.index for row in run(compiled("low as r ; low ; more", window_events=3), [events])] == [3, 4, 5, 6]


@pytest.mark.parametrize("output", list(Output))
def test_a_burst_gives_up_the_oldest_runs_and_says_how_many(output: Output) -> None:
    events = [{"x": 0, "v": 1.0, "k": "a", "time": n} for n in range(300)]
    pattern = compiled("any(low as r, low as s, [v > r.v and v > s.v])", output=output, limit=100)
    rows = run(pattern, [[*events, {"x": 5, "v": 2.0, "k": "a", "time": 300}]], most=1000)
    assert {row.index for row in rows} == {301}
    assert rows[0].omitted > 10_000
    later = run(pattern, [[*events, {"x": 5, "v": 2.0, "k": "a", "time": 300}]], cuts=(100, 200), most=1000)
    assert [(row.index, row.omitted) for row in later] == [(row.index, row.omitted) for row in rows]


def test_nulls_in_what_is_remembered_are_unknown() -> None:
    events = [{"x": 0, "v": None, "k": None, "time": 0}, {"x": 5, "v": 9.0, "k": "a", "time": 1}]
    assert run(compiled("low as r ; (more | same)"), [events]) == []
    assert [row.index for row in run(compiled("low as r ; [not (v > r.v)]"), [events])] == [2]
