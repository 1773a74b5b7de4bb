"""The machine against the definitions, on random rule sets and streams; cut anywhere it finds the same."""

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from foresail.patterns.tesla.machine import Session, joined
from foresail.patterns.tesla.resolved import RuleError
from tests.patterns.tesla.random_rules import rule_sets, streams
from tests.patterns.tesla.running import by_machine, by_reference, found_in, lowered, notifications

MODES = [(ties, selection) for ties in ("strict", "arrival") for selection in ("local", "admissible")]
settings.register_profile("rules", deadline=None, suppress_health_check=list(HealthCheck))


def _usable(text: str) -> None:
    try:
        lowered(text)
    except RuleError:
        assume(False)


@pytest.mark.parametrize(("ties", "selection"), MODES)
@settings(settings.get_profile("rules"), max_examples=60)
@given(rules=rule_sets(), events=streams())
def test_the_machine_finds_what_the_definitions_say(ties: str, selection: str, rules: str, events: list[Any]) -> None:
    _usable(rules)
    assert by_machine(rules, events, ties, selection) == by_reference(rules, events, ties, selection)


@settings(settings.get_profile("rules"), max_examples=40)
@given(rules=rule_sets(), events=streams(), cuts=st.lists(st.integers(0, 18), max_size=4), mode=st.sampled_from(MODES))
def test_cut_anywhere_it_finds_the_same(rules: str, events: list[Any], cuts: list[int], mode: tuple[str, str]) -> None:
    _usable(rules)
    session = Session(lowered(rules, *mode))
    whole = notifications(session, events)
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    parts = []
    for begin, end in zip(places, [*places[1:], places[-1]], strict=True):
        parts.append(session.advance(whole.slice(begin, end)))
        session.pruned()
    assert found_in(session, joined(parts)) == by_machine(rules, events, *mode)
