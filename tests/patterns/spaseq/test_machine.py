"""The machine equals the definitions, wherever its input is cut and whenever its state is kept."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.errors import Place
from foresail.patterns.spaseq.events import GraphEvent
from foresail.patterns.spaseq.knowledge import Knowledge, KnowledgeText
from foresail.patterns.spaseq.machine import ALWAYS_US, Machine
from foresail.patterns.spaseq.options import Options
from foresail.patterns.spaseq.plan import compile_query
from foresail.patterns.spaseq.results import Binding
from foresail.patterns.spaseq.saved import resumed, saved
from tests.patterns.spaseq.random_cases import cases, options_of_case, text_of
from tests.patterns.spaseq.reference import Case, expected
from tests.patterns.spaseq.running import DB, SECOND_US, event, machine, p, query, read, results, w


def machine_of(case: Case) -> Machine:
    start_us = None if case.start is None else case.start * SECOND_US
    # a second less one microsecond: half-open windows of whole seconds are closed ones of a second less
    options = Options(start_us=start_us, **options_of_case(case))
    plan = compile_query(text_of(case), Place("q"), options)
    return Machine(plan, Knowledge({DB: [KnowledgeText("kb", case.knowledge)]}))


def events_of(case: Case) -> list[GraphEvent]:
    return [GraphEvent(one.stream, one.time * SECOND_US, one.text) for one in case.events]


def as_reference(found: list[Binding]) -> set[Any]:
    return {
        (
            tuple((one.gpm, one.stream, one.time_us // SECOND_US) for one in each.events),
            frozenset(each.bindings.items()),
        )
        for each in found
    }


def check(case: Case) -> None:
    made = machine_of(case)
    found = made.advance(made.fresh(), events_of(case))
    assert as_reference(found.results) == expected(case), text_of(case)
    assert len({one.binding_id for one in found.results}) == len(found.results)
    assert not found.rejected


@given(cases())
@settings(max_examples=150, deadline=None)
def test_the_machine_finds_what_the_definitions_say(case: Case) -> None:
    check(case)


@pytest.mark.soak
@given(cases())
@settings(max_examples=5_000, deadline=None)
def test_the_machine_finds_what_the_definitions_say_at_length(case: Case) -> None:
    check(case)


@given(cases(), st.data())
@settings(max_examples=60, deadline=None)
def test_neither_cuts_nor_arrival_within_an_instant_change_anything(case: Case, data: st.DataObject) -> None:
    made = machine_of(case)
    events = events_of(case)
    whole = {one.binding_id: one for one in made.advance(made.fresh(), events).results}
    shuffled = sorted(data.draw(st.permutations(events)), key=lambda each: each.time_us)
    state = made.fresh()
    found: list[Binding] = []
    while shuffled:
        size = data.draw(st.integers(1, len(shuffled)))
        batch, shuffled = shuffled[:size], shuffled[size:]
        # the instant of the last event may not be complete yet
        until_us = batch[-1].time_us - 1
        found += made.advance(state, batch, until_us).results
        state = resumed(saved(state))
    found += made.advance(state, [], ALWAYS_US).results
    assert {one.binding_id: one for one in found} == whole
    assert len(found) == len(whole)


def test_an_event_of_an_instant_that_was_read_is_rejected_as_late() -> None:
    made = machine(query("A ; B", 10))
    state = made.fresh()
    made.advance(state, [p(5, 1, 1)], 6 * SECOND_US)
    late = made.advance(state, [p(6, 1, 1), w(7, 1, 1)])
    assert [one.reason for one in late.rejected] == ["late"]
    assert len(late.results) == 1


def test_a_malformed_graph_is_rejected_and_its_neighbours_are_read() -> None:
    bad = event("u1", 2, ":H1 :pow ; .")
    found = read(query("A", 10), [p(1, 1, 1), bad, p(3, 3, 1)])
    assert [(one.origin, one.reason) for one in found.rejected] == [("u1@2", "malformed graph")]
    assert len(found.results) == 2


def test_texts_that_only_complete_each_other_are_both_malformed() -> None:
    halves = [event("u1", 1, ':H1 :pow """'), event("u1", 2, '""" .'), event("u1", 3, ":H1 :loc :L1 ; :pow :P .")]
    found = read(query("A", 10), halves)
    assert [one.origin for one in found.rejected] == ["u1@1", "u1@2"]
    assert len(found.results) == 1


def test_an_explosion_of_mappings_is_cut_off_and_counted() -> None:
    many = " ".join(f":a{n} :p :b{n} ." for n in range(60))
    bodies = {"A": ("u1", "?a :p ?b . ?c :p ?d . ?e :p ?f")}
    found = read(query("A", 10, bodies), [event("u1", 1, many)])
    assert found.results == []
    assert found.cut_off == {"events with too many mappings": 1}


def test_a_variable_bound_nowhere_in_a_branch_is_left_out() -> None:
    found = results(query("A | B", 10), [w(1, 1, 1)])
    assert [sorted(one.bindings) for one in found] == [["l", "v", "w"]]


LETTERS = {name: ("u1", f"?{name.lower()} a :{name} ; :v ?x") for name in "ABC"}


@st.composite
def lettered(draw: st.DrawFn) -> list[GraphEvent]:
    drawn = draw(st.lists(st.tuples(st.sampled_from("ABCX"), st.integers(0, 1)), min_size=2, max_size=9))
    return [event("u1", time, f":x{time} a :{letter} ; :v {v} .") for time, (letter, v) in enumerate(drawn)]


def traced(seq: str, events: list[GraphEvent], bodies: dict[str, tuple[str, str]] = LETTERS) -> set[tuple[int, ...]]:
    found = results(query(seq, 3600, bodies, select="?x"), events)
    return {tuple(one.time_us // SECOND_US for one in each.events) for each in found}


@given(lettered(), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_selections_hold_each_other_and_strays_change_nothing(events: list[GraphEvent], place: int) -> None:
    strict, following, every = (traced(f"A {sign} B {sign} C", events) for sign in (",", ";", ":"))
    assert strict <= following <= every
    stray = GraphEvent(event("u2", 0, "").stream, place * SECOND_US + 1, "@prefix : <http://ex/> . :n :x :y .")
    assert traced("A ; B ; C", [*events, stray]) == following
    assert traced("A : B : C", [*events, stray]) == every
    backwards = dict(reversed(LETTERS.items()))
    assert traced("A ; B ; C", events, backwards) == following


def test_runs_beyond_the_limit_are_cut_off_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foresail.patterns.spaseq.machine.MOST_RUNS", 3)
    found = read(query("A : B", 100), [*(p(time, time, 1) for time in range(9)), w(50, 1, 1)])
    assert len(found.results) == 3
    assert found.cut_off == {"runs beyond the limit": 6}
