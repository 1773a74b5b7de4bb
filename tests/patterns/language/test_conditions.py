"""Conditions are numbered by first use, equal ones once, those of the pattern before its features."""

import pytest

from foresail.patterns.errors import PatternRuleError, Place, UnknownConditionError
from foresail.patterns.language.conditions import MOST_CONDITIONS, Conditions, resolve_conditions, terminals_of
from foresail.patterns.language.parser import parse_pattern
from foresail.patterns.language.syntax import pattern_text
from foresail.patterns.spec import Text, spec_of
from tests.patterns.random_patterns import HERE

WHERE = {"slow": "speed < 2", "crawling": "speed < 2", "fast": "speed > 9"}


def resolved(pattern: str, where: dict[str, str] | None = None, features: dict[str, str] | None = None) -> Conditions:
    texts = tuple(Text(name, text, Place(f"features.{name}")) for name, text in (features or {}).items())
    spec = spec_of("numbered", pattern, WHERE if where is None else where, features=texts)
    return resolve_conditions(parse_pattern(pattern, HERE), spec)


def numbers(pattern: str, found: Conditions) -> list[int | None]:
    return [found.number(terminal) for terminal in terminals_of(parse_pattern(pattern, HERE))]


def test_equal_conditions_share_a_number_whatever_they_are_called() -> None:
    text = "fast ; slow ; crawling ; [speed < 2] ; _ ; [ speed>9 ]"
    found = resolved(text)
    assert numbers(text, found) == [0, 1, 1, 1, None, 0]
    assert found.names == ("fast", "slow")
    assert found.read == 2


def test_features_come_after_what_the_pattern_reads() -> None:
    found = resolved("slow", features={"quick": "speed > 9", "still": "speed < 2", "far": "slow and distance > 5"})
    assert found.names == ("slow", "quick", "far")
    assert found.read == 1
    assert found.numbers == {"slow": 0, "quick": 1, "still": 0, "far": 2}


def test_a_condition_that_nothing_reads_has_no_number() -> None:
    assert resolved("fast").numbers == {"fast": 0}


def test_terminals_are_told_from_left_to_right() -> None:
    text = "any(a, [x > 1], not(b ; _)) ; each(c, d)+"
    assert [pattern_text(t) for t in terminals_of(parse_pattern(text, HERE))] == ["a", "[x > 1]", "b", "_", "c", "d"]


def test_a_pattern_of_any_events_has_no_conditions() -> None:
    found = resolved("_ ; _")
    assert (found.names, found.read) == ((), 0)


def test_as_many_conditions_as_there_are_bits_are_possible_and_no_more() -> None:
    where = {f"c{n}": f"x == {n}" for n in range(MOST_CONDITIONS + 1)}
    assert len(resolved(" | ".join(list(where)[:MOST_CONDITIONS]), where).names) == MOST_CONDITIONS
    with pytest.raises(PatternRuleError, match=r"numbered has 65 conditions, at most 64 are possible. Split it"):
        resolved(" | ".join(where), where)


def test_names_that_cannot_be_are_refused_with_the_way_out() -> None:
    with pytest.raises(UnknownConditionError, match="slo"):
        resolved("slo")
    with pytest.raises(PatternRuleError, match=r"'next' is a word of the pattern language. Give the condition another"):
        resolved("slow", {"slow": "speed < 2", "next": "speed > 3"})
    with pytest.raises(PatternRuleError, match=r"features.slow:1:1: 'slow' is defined twice"):
        resolved("slow", features={"slow": "speed > 3"})
