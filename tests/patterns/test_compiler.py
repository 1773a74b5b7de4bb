"""From text to automaton: sizes, and what the compiler refuses with the way out."""

import time

import pytest

from foresail.patterns.automata.limits import MOST_STATES
from foresail.patterns.compiler import CompiledPattern, compile_pattern, compile_tree
from foresail.patterns.conditions import AttributeType
from foresail.patterns.conditions.parser import parse_condition
from foresail.patterns.errors import (
    AlphabetError,
    CannotMatchError,
    ConditionTypeError,
    PatternError,
    PatternRuleError,
    Place,
    RegistersError,
    StateExplosionError,
    UnknownAttributeError,
    UnknownConditionError,
)
from foresail.patterns.language.conditions import Conditions
from foresail.patterns.language.syntax import Named, Sequence
from foresail.patterns.spec import Output, Report, spec_of, without_features


def compiled(pattern: str, where: dict[str, str] | None = None, **rules: object) -> CompiledPattern:
    return compile_pattern(spec_of("p", pattern, where or {"a": "x > 5", "b": "x <= 5"}, **rules))


def test_three_in_a_row_need_four_states() -> None:
    assert compiled("a{3,}").automaton.states == 4


def test_conditions_that_exclude_each_other_make_no_impossible_symbol() -> None:
    pattern = compiled("a ; b")
    assert sorted(map(int, pattern.alphabet.codes)) == [0b00, 0b01, 0b10]


def test_twelve_rings_on_one_attribute_compile_quickly_to_few_symbols() -> None:
    rings = {f"ring_{i}": f"{i} <= distance_m < {i + 1}" for i in range(12)}
    began = time.process_time()
    pattern = compiled(" ; ".join(f"{ring}+" for ring in rings), rings)
    assert time.process_time() - began < 1
    assert len(pattern.alphabet) == 13
    assert pattern.automaton.states == 13


def test_equal_conditions_share_a_bit() -> None:
    pattern = compiled("a ; [x > 5] ; [5 < x]", {"a": "x > 5"})
    assert len(pattern.alphabet) == 2


def test_features_refine_the_alphabet_but_not_the_automaton() -> None:
    plain = compiled("a{2}")
    features = spec_of("p", "a{2}", {"a": "x > 5"}).where
    refined = compile_pattern(
        spec_of("p", "a{2}", {"a": "x > 5"}, features=(type(features[0])("ring", "x > 9", features[0].place),))
    )
    assert len(refined.alphabet) == 3
    assert refined.automaton.delta.shape == plain.automaton.delta.shape
    assert len(compile_pattern(without_features(refined.spec)).alphabet) == 2


def test_passes_can_be_printed() -> None:
    pattern = compiled("a ; b")
    assert "3 states" in str(pattern.automaton)
    assert "-->" in str(pattern.nfa)


REFUSED: dict[str, tuple[str, dict[str, str], dict[str, object], type[PatternError], str]] = {
    "an unknown condition": ("a ; bb", {"a": "x > 1", "bbb": "x"}, {}, UnknownConditionError, "Did you mean 'bbb'"),
    "a register and no window": (
        "a as r ; b", {"a": "x > 1", "b": "x > r.x"}, {}, RegistersError,
        "p:1:1: 'r' keeps an event, and without a window it would be kept for ever. Add `window:`",
    ),
    "a register on both sides": (
        "(a as r ; b & a ; a as r) ; b", {"a": "x > 1", "b": "x > r.x"}, {"window_events": 5}, RegistersError,
        "'r' is written on both sides of `&`",
    ),
    "a register called as the family": (
        "a as port ; b", {"a": "port.distance_m > 1", "b": "x > port.x"}, {"window_events": 5, "family": "port"},
        RegistersError, "'port' names the family's feature and a register",
    ),
    "a condition that never holds": ("a", {"a": "x > 1 and x < 0"}, {}, CannotMatchError, "'a' can never hold"),
    "a pattern that never matches": ("a ; hidden b", {"a": "x > 1", "b": "x < 0"}, {}, CannotMatchError, "never match"),
    "a window of no length": ("a", {"a": "x > 1"}, {"window_us": 0}, PatternRuleError, "not above zero"),
    "a window shorter than any match": (
        "a ; a ; a", {"a": "x > 1"}, {"window_events": 2}, CannotMatchError, "at least 3 events, its window only 2",
    ),
    "counting episodes": (
        "a", {"a": "x > 1"}, {"output": Output.COUNT, "report": Report.EPISODES}, PatternRuleError, "goes with output",
    ),
    "a dwell without episodes": ("a", {"a": "x > 1"}, {"min_dwell_us": 5}, PatternRuleError, "Add report: episodes"),
    "a name of the language": ("any(a)", {"any": "x > 1", "a": "x"}, {}, PatternRuleError, "is a word of the pattern"),
    "too many repetitions": ("(a{100}){100}", {"a": "x > 1"}, {}, StateExplosionError, "a{100}"),
    "too many orders": (
        f"each({', '.join('a' * 9)})", {"a": "x > 1"}, {}, StateExplosionError, "362880 orders",
    ),
    "more orders of six than states": (
        "each(a, b, c, d, e, f)", {name: f"{name} > 1" for name in "abcdef"}, {}, StateExplosionError, "720 orders",
    ),
    "too many skipped conditions": (
        "_* ; a ; _{20} ; a", {"a": "x > 1"}, {}, StateExplosionError, "needs at least 4096 states",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_work_is_refused_with_the_way_out(case: str) -> None:
    pattern, where, rules, error, said = REFUSED[case]
    with pytest.raises(error) as caught:
        compiled(pattern, where, **rules)
    assert said in str(caught.value)


def test_five_parts_in_any_order_are_not_too_many() -> None:
    where = {name: f"x == {n}" for n, name in enumerate("abcde")}
    assert compiled("each(a, b, c, d, e)", where).automaton.states < MOST_STATES


def test_the_operator_that_explodes_is_named() -> None:
    with pytest.raises(StateExplosionError, match=r"Sequence `a ; _\{20\} ; b` needs at least 4096 states"):
        compiled("b ; absent(a ; _{20} ; b) ; b")


def test_more_symbols_than_fit_name_the_conditions_that_multiply() -> None:
    where = {f"c{i}": f"v{i}" for i in range(20)}
    with pytest.raises(AlphabetError):
        compiled(" | ".join(where), where)


def test_conditions_are_checked_against_the_schema() -> None:
    schema = {"speed_kn": AttributeType.NUMBER, "name": AttributeType.STRING}
    with pytest.raises(UnknownAttributeError, match=r"unknown attribute 'sped_kn'. Did you mean 'speed_kn'"):
        compile_pattern(spec_of("p", "[sped_kn > 1]"), schema)
    with pytest.raises(ConditionTypeError, match="name"):
        compile_pattern(spec_of("p", "[name > 1]"), schema)


def test_cost_per_event_does_not_grow_with_the_pattern() -> None:
    """One look-up a step, whatever the length: the table has a row per state and a column per class."""
    assert compiled("a{500}").automaton.delta.shape == (501, 2)


def handed_over(attribute: str) -> tuple[Sequence, Conditions]:
    """A tree that no pattern text was parsed for, with places in a text of another language."""
    where = {"first": f"{attribute} > 5", "then": "x <= 5"}
    places = {name: Place("query.spaseq", 7 + n, 3) for n, name in enumerate(where)}
    tree = Sequence(tuple(Named(name, places[name]) for name in where))
    parsed = tuple(parse_condition(text, places[name]) for name, text in where.items())
    numbers = {name: n for n, name in enumerate(where)}
    return tree, Conditions(tuple(where), parsed, tuple(places.values()), len(where), numbers)


def test_a_tree_of_another_language_compiles_to_the_same_automaton() -> None:
    tree, conditions = handed_over("x")
    made = compile_tree(tree, conditions, spec_of("p", "(not a pattern text)"))
    expected = compiled("a ; b")
    assert (made.automaton.delta == expected.automaton.delta).all()
    assert (made.alphabet.codes == expected.alphabet.codes).all()


def test_a_fault_of_a_tree_points_at_the_place_in_its_own_text() -> None:
    tree, conditions = handed_over("sped")
    with pytest.raises(UnknownAttributeError, match=r"^query\.spaseq:7:3: "):
        compile_tree(tree, conditions, spec_of("p", ""), {"x": AttributeType.NUMBER, "speed": AttributeType.NUMBER})
