"""The acceptance cases of the specification, by their numbers; those that it cites but does not list are worked out."""

import pytest

from foresail.patterns.errors import PatternError
from foresail.patterns.spaseq.events import GraphEvent
from tests.patterns.spaseq.running import BODIES, DB, event, p, query, read, results, said, stream, traces, w

LOCATIONS = {"A": ("u1", "?h :loc ?l"), "B": ("u2", "?w :loc ?l")}
FOUR = [p(10, 1, 1), p(15, 2, 1), w(15, 1, 2), w(20, 1, 1), w(25, 2, 1)]
TWO = [p(10, 1, 1), p(25, 2, 2), w(10, 1, 1), w(20, 2, 1)]


def letters(text: str) -> list[GraphEvent]:
    """One event a letter, at 1, 2, 3, ...; the letter is its type."""
    return [event("u1", time, f":x{time} a :{letter} .") for time, letter in enumerate(text, start=1)]


def typed(seq: str) -> str:
    bodies = {name: ("u1", f"?{name.lower()} a :{name}") for name in "ABC"}
    return query(seq, 3600, bodies)


def test_1_a_graph_pattern_in_a_closed_window() -> None:
    found = results(query("A", 10), [p(10, 1, 1), p(15, 2, 2), p(25, 3, 3)], start=5)
    assert said(found) == {"@10 H1 Pw1 L1", "@15 H2 Pw2 L2", "@25 H3 Pw3 L3"}
    assert said(results(query("A", 10), [p(10, 1, 1), p(15, 2, 2)], start=5)) == {"@10 H1 Pw1 L1", "@15 H2 Pw2 L2"}


def test_2_a_conjunction_is_of_one_instant() -> None:
    assert said(results(query("A & B", 15), TWO, start=10)) == {"@10 H1 Pw1 L1 W1 Vl1"}


def test_3_a_disjunction_gives_every_branch() -> None:
    found = results(query("A | B", 15), TWO, start=10)
    assert said(found) == {"@10 H1 Pw1 L1", "@10 L1 W1 Vl1", "@20 L1 W2 Vl2", "@25 H2 Pw2 L2"}


def test_4_skip_till_any() -> None:
    found = results(query("A : B", 15, select="?h ?w ?v"), FOUR, start=10)
    assert said(found) == {"@20 H1 W1 Vl1", "@20 H2 W1 Vl1", "@25 H1 W2 Vl2", "@25 H2 W2 Vl2"}
    assert len(found) == 4


def test_5_skip_till_next() -> None:
    assert said(results(query("A ; B", 15, select="?h ?w"), FOUR, start=10)) == {"@20 H1 W1", "@20 H2 W1"}


def test_6_strict_contiguity() -> None:
    found = results(query("A , B", 15, select="?h ?w"), FOUR, start=10)
    assert said(found) == {"@20 H2 W1"}
    assert traces(found) == ["A15 B20"]


def test_7_iterations_of_the_example_that_is_not_derivable_formally() -> None:
    events = [p(10, 1, 1), w(15, 1, 1), w(20, 2, 1)]
    text = query("A , B+", 10, select="?h ?w")
    assert said(results(text, events, start=10)) == {"@15 H1 W1", "@20 H1 W2"}
    assert said(results(text, events, start=10, kleene="formal")) == {"@15 H1 W1"}


def test_8_enrichment() -> None:
    bodies = {"A": ("u1", f"?h :pow ?p . ?h :loc ?l GRAPH <{DB}> {{ ?h :owner ?n . ?h :address ?a }}")}
    knowledge = ":H1 :owner :john; :address :paris. :H2 :owner :smith; :address :lyon ."
    events = [p(10, 1, 1), p(25, 2, 2), w(15, 1, 1)]
    text = query("A", 10, bodies, select="?h ?p ?l ?n ?a")
    assert said(results(text, events[:1] + events[2:], start=10, knowledge=knowledge)) == {"@10 H1 Pw1 L1 john paris"}
    assert results(text, events, start=10, knowledge="") == []
    assert results(text, events, start=10) == []


def test_9_windows_from_the_time_of_issue() -> None:
    events = [p(10, 1, 1), p(25, 2, 2), w(15, 1, 1), w(40, 2, 2)]
    text = query("A ; B", 50, select="?h ?p ?v")
    assert said(results(text, events, start=0)) == {"@15 H1 Pw1 Vl1", "@40 H2 Pw2 Vl2"}
    assert said(results(text, events, start=20)) == {"@40 H2 Pw2 Vl2"}


@pytest.mark.parametrize(
    ("sign", "expected"),
    [
        (",", ["A1 B2 C3", "A5 B6 C7"]),
        (";", ["A1 B2 C3", "A4 B6 C7", "A5 B6 C7"]),
        (":", ["A1 B2 C3", "A1 B2 C7", "A1 B6 C7", "A4 B6 C7", "A5 B6 C7"]),
    ],
)
def test_10_the_three_selections_of_figure_1(sign: str, expected: list[str]) -> None:
    assert traces(results(typed(f"A {sign} B {sign} C"), letters("ABCAABC"))) == expected


VESSEL = {
    "A": ("u1", '?vessel :speed ?s1 ; :location "harbour" ; :direction ?d1 . FILTER(?s1 > 0)'),
    "B": ("u1", "?vessel :speed ?s2 ; :location ?l ; :direction ?d1 . FILTER(?s2 > ?s1)"),
    "C": (
        "u1",
        '?vessel :speed 0 ; :location "fishingarea" ; :direction ?d3 . '
        f"GRAPH <{DB}> {{ ?vessel :name ?n ; :operatedBy ?c . ?c :cname ?cname }}",
    ),
}
OPERATORS = ':v1 :name "Nea" ; :operatedBy :c1 . :v2 :name "Eos" ; :operatedBy :c1 . :c1 :cname "Aegean" .'


def position(time: int, vessel: str, speed: int, location: str, direction: int) -> GraphEvent:
    return event("u1", time, f':{vessel} :speed {speed} ; :location "{location}" ; :direction {direction} .')


def trip(vessel: str, *times: int) -> list[GraphEvent]:
    said = [(5, "harbour", 90), (8, "sea", 90), (9, "sea", 90), (0, "fishingarea", 10)]
    return [position(time, vessel, *values) for time, values in zip(times, said, strict=True)]


def test_12_a_vessel_leaves_keeps_its_course_and_stops_in_a_fishing_area() -> None:
    text = query("A, B+, C", 30, VESSEL, select="?vessel ?n ?cname")
    found = results(text, trip("v1", 1, 2, 3, 4), start=0, knowledge=OPERATORS)
    assert said(found) == {"@4 v1 Nea Aegean"}
    assert traces(found) == ["A1 B2 B3 C4"]
    assert results(text, trip("v1", 1, 2, 3, 4), start=0, knowledge=OPERATORS, kleene="formal") == []


def test_13_a_partition_makes_contiguity_one_of_each_vessel() -> None:
    events = trip("v1", 1, 3, 5, 7) + trip("v2", 2, 4, 6, 8)
    whole = query("A, B+, C", 30, VESSEL, select="?vessel ?n")
    assert results(whole, events, knowledge=OPERATORS) == []
    parted = query("A, B+, C", 30, VESSEL, select="?vessel ?n", partition_by="?vessel")
    assert said(results(parted, events, knowledge=OPERATORS)) == {"@7 v1 Nea", "@8 v2 Eos"}
    # an event of the vessel that matches nothing is between its events, too
    stray = position(4, "v1", 1, "sea", 7)
    assert said(results(parted, [*trip("v1", 1, 3, 5, 7), stray], knowledge=OPERATORS)) == set()


def test_14_skip_till_next_takes_the_whole_run_or_one_mapping() -> None:
    events = [
        event("u1", 1, ":H1 :loc :L1 . :H2 :loc :L2 ."),
        event("u2", 2, ":W1 :loc :L1 ."),
        event("u2", 3, ":W2 :loc :L2 ."),
    ]
    text = query("A ; B", 10, LOCATIONS, select="?h ?w")
    assert said(results(text, events)) == {"@2 H1 W1"}
    assert said(results(text, events, stn="per_mapping")) == {"@2 H1 W1", "@3 H2 W2"}


def test_15_windows_side_by_side_share_an_instant() -> None:
    text = query("A ; B", 10)
    assert results(text, [p(8, 1, 1), w(12, 1, 1)], start=0) == []
    assert traces(results(text, [p(8, 1, 1), w(10, 1, 1)], start=0)) == ["A8 B10"]
    assert traces(results(query("A", 10), [p(10, 1, 1)], start=0)) == ["A10"]
    assert traces(results(text, [p(8, 1, 1), w(12, 1, 1)], start=0, windows="per_run")) == ["A8 B12"]
    assert results(text, [p(8, 1, 1), w(10, 1, 1)], start=0, half_open=True) == []


def test_16_only_declared_streams_stand_between() -> None:
    bodies = {"A": ("u1", "?h :pow ?p"), "B": ("u1", "?k :alarm ?z")}
    events = [event("u1", 1, ":H1 :pow :P1 ."), w(2, 9, 9), event("u1", 3, ":K :alarm :Z .")]
    assert results(query("A , B", 10, bodies), events) == []
    assert traces(results(query("A , B", 10, bodies, streams="u1"), events)) == ["A1 B3"]


def test_17_the_order_of_arrival_within_an_instant_says_nothing() -> None:
    events = [p(1, 1, 1), w(2, 1, 1), event("u3", 2, ":n :x :y .")]
    first = results(query("A , B", 10), events)
    assert traces(first) == ["A1 B2"]
    assert results(query("A , B", 10), [events[0], events[2], events[1]]) == first


def test_18_skip_till_next_goes_on_behind_what_does_not_join() -> None:
    events = [p(1, 1, 1), w(2, 9, 9), event("u3", 2, ":q :rain :m ; :loc :L1 ."), w(4, 1, 1)]
    assert traces(results(query("A ; B", 10), events)) == ["A1 B4"]
    both = [*events, event("u3", 4, ":q :rain :m ; :loc :L1 .")]
    assert traces(results(query("A ; (B & C)", 10), both)) == ["A1 B4 C4"]


def test_20_what_matches_nothing_changes_only_iterations() -> None:
    stray = event("u3", 3, ":n :x :y .")
    events = [p(1, 1, 1), w(2, 1, 1), w(4, 2, 1)]
    for seq in ("A ; B", "A : B"):
        assert results(query(seq, 10), [*events, stray]) == results(query(seq, 10), events)
    assert traces(results(query("A ; B+", 10), events)) == ["A1 B2", "A1 B2 B4"]
    assert traces(results(query("A ; B+", 10), [*events, stray])) == ["A1 B2"]


def test_21_results_differ_by_their_events_or_only_by_bindings() -> None:
    events = [p(1, 1, 1), p(2, 1, 1), w(3, 1, 1)]
    assert traces(results(query("A ; B", 10), events)) == ["A1 B3", "A2 B3"]
    assert traces(results(query("A ; B", 10), events, distinct="bindings")) == ["A1 B3"]


def test_23_blank_nodes_never_join_across_events() -> None:
    events = [event("u1", 1, ":H1 :loc _:b0 ."), event("u2", 2, ":W1 :loc _:b0 .")]
    assert results(query("A ; B", 10, LOCATIONS), events) == []
    (alone,) = results(query("A", 10, LOCATIONS), events)
    assert alone.bindings["l"].startswith("_:")
    assert results(query("A", 10, LOCATIONS), events) == [alone]


@pytest.mark.parametrize("sign", [";", ",", ":"])
def test_25_a_sequence_needs_a_later_instant(sign: str) -> None:
    events = [p(5, 1, 1), w(5, 1, 1)]
    assert results(query(f"A {sign} B", 10), events) == []
    assert traces(results(query("A & B", 10), events)) == ["A5 B5"]


def test_26_one_event_may_be_both_parts_of_a_conjunction() -> None:
    bodies = {**BODIES, "D": ("u1", "?h :loc ?l")}
    assert traces(results(query("A & D", 10, bodies), [p(5, 1, 1)])) == ["A5 D5"]


@pytest.mark.parametrize(
    ("seq", "text", "expected"),
    [
        ("A, B?, C", "AC", ["A1 C2"]),
        ("A, B?, C", "ABC", ["A1 B2 C3"]),
        ("A, B?, C", "AXC", ["A1 C3"]),
        ("A, B?, C", "AXXC", []),
        ("A, B?, C", "ABBC", []),
        ("A, B!, C", "AC", ["A1 C2"]),
        ("A, B!, C", "ABC", []),
        ("A, B!, C", "AXC", ["A1 C3"]),
        ("A, B!, C", "AXXC", []),
        ("A, B?", "AB", ["A1", "A1 B2"]),
        ("A, B?", "AX", ["A1"]),
        ("A, B!", "AB", []),
        ("A, B!", "AX", ["A1"]),
        ("A, B!", "A", ["A1"]),
    ],
)
def test_28_optional_and_negated_patterns(seq: str, text: str, expected: list[str]) -> None:
    assert traces(results(typed(seq), letters(text))) == expected


def test_a_last_negation_is_decided_by_its_own_window() -> None:
    seq = typed("A, B, C!").replace("WITHIN 3600 ", "WITHIN 3 ")
    # the window [1, 4] ends with B, and what comes at 5 is of the next
    read_at = [letters("XA_BC")[time - 1] for time in (1, 2, 4, 5)]
    assert traces(results(seq, read_at)) == ["A2 B4"]


@pytest.mark.parametrize(
    ("text", "fault", "line"),
    [
        (query("B", 9, {"B": ("u2", "?w :value ?v FILTER(?zz > 1)")}), "?zz", 4),
        (query("A", 9, select="?nobody"), "?nobody", 2),
        (query("A, Z", 9), "'Z'", 3),
        (query("A,", 9), "','", 3),
        (query("A", 9, streams="u2"), "'u1'", 4),
        (query("A", 9).replace("SECONDS", "DAYS"), "'DAYS'", 2),
        (query("A & B | C", 9), "'|'", 3),
        (query("A", 9, {"A": ("u1", "?h nope:pow ?p")}), "'nope:'", 4),
        (query("A", 9, {"A": ("u1", "SERVICE <http://x/> { ?h :pow ?p }")}), "SERVICE", 4),
        (query("A", 9, {"A": ("u1", "?h :pow ; ?p")}), "SPARQL", 4),
        (query("A ; B?, C", 9), "'?'", 3),
        (query("A?, B", 9), "'?'", 3),
    ],
)
def test_29_what_cannot_run_is_rejected_where_it_stands(text: str, fault: str, line: int) -> None:
    with pytest.raises(PatternError) as error:
        results(text, [w(1, 1, 1)])
    first = str(error.value).splitlines()[0]
    assert first.startswith(f"q:{line}:")
    assert fault in first
    assert first.count(". ") >= 1, "what is wrong, then the way out"


def test_30_a_second_graph_at_one_instant_is_rejected_or_merged() -> None:
    events = [event("u1", 1, ":H1 :pow :P1 ."), event("u1", 1, ":H1 :loc :L1 .")]
    rejecting = read(query("A", 10), events)
    assert (rejecting.results, [one.reason for one in rejecting.rejected]) == ([], ["second graph at one instant"])
    merging = read(query("A", 10), events, merge_same_tau=True)
    assert (said(merging.results), merging.rejected) == ({"@1 H1 P1 L1"}, [])


def test_31_a_strict_iteration_ends_at_what_does_not_match() -> None:
    assert traces(results(typed("A, B+, C"), letters("ABCBC"))) == ["A1 B2 C3"]


def test_every_result_bears_the_time_of_its_last_event() -> None:
    found = results(query("A : B", 15), FOUR)
    assert found
    assert all(one.time_us == max(each.time_us for each in one.events) for one in found)


def test_events_name_their_streams() -> None:
    (found,) = results(query("A & B", 15), TWO)
    assert [one.stream for one in found.events] == [stream("u1"), stream("u2")]
