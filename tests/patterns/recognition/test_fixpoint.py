"""After how many like events the runs of a pattern depend on the last of them alone."""

import pytest

from foresail.patterns.automata.nondeterministic import Transition
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.recognition.fixpoint import NO_FIXPOINT, events_to_fixpoint
from foresail.patterns.recognition.tables import plan
from foresail.patterns.spec import AfterMatch, spec_of


def step(source: int, target: int, marked: bool = True) -> Transition:
    return Transition(source, 1, marked, target)


def test_a_run_that_stays_where_it_is_settles_at_once() -> None:
    assert events_to_fixpoint(2, frozenset({0}), [step(1, 1)]) == 1


def test_a_chain_settles_when_a_fresh_run_has_come_through() -> None:
    chain = [step(0, 1), step(1, 2), step(2, 3), step(3, 3)]
    assert events_to_fixpoint(4, frozenset({0}), chain) == 3


def test_runs_that_change_places_never_settle() -> None:
    assert events_to_fixpoint(3, frozenset({0}), [step(1, 2), step(2, 1)]) == NO_FIXPOINT


def test_a_run_that_may_have_marked_nothing_settles_only_behind_a_later_one() -> None:
    assert events_to_fixpoint(3, frozenset({0, 1}), [step(1, 2), step(2, 2)]) == NO_FIXPOINT
    assert events_to_fixpoint(3, frozenset({0, 1}), [step(0, 2), step(1, 2), step(2, 2)]) == 1


@pytest.mark.parametrize("rules", [{"window_us": 5}, {"window_events": 5}, {"after_match": AfterMatch.RESTART}])
def test_windows_and_restarts_make_every_event_count(rules: dict[str, object]) -> None:
    pattern = compile_pattern(spec_of("p", "a+", {"a": "x"}, **rules))
    assert set(plan([pattern]).tables.settles) == {NO_FIXPOINT}
