import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.catalog import built_in_catalog
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.drawing import Edge, diagram_of, draw_dot, draw_svg, make_diagram
from foresail.patterns.drawing.diagram import say_guard
from foresail.patterns.spec import spec_of

GOLDEN = Path(__file__).parents[2] / "golden" / "automata"


@pytest.mark.parametrize("name", [entry.name for entry in built_in_catalog()])
def test_the_automaton_of_a_catalog_pattern_has_not_changed(name: str) -> None:
    dot = draw_dot(diagram_of(compile_pattern(built_in_catalog()[name].spec())))
    assert dot == (GOLDEN / f"{name}.dot").read_text(encoding="utf-8"), (
        f"if the change is meant: foresail catalog draw {name} -o tests/golden/automata/{name}.dot"
    )


def test_there_is_a_golden_drawing_for_every_pattern_and_no_other() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == {entry.name for entry in built_in_catalog()}


def test_parallel_arrows_are_one_and_those_to_the_start_are_marked() -> None:
    symbols = [frozenset(), frozenset({"a"}), frozenset({"b"})]
    delta = np.array([[0, 1, 1], [0, 0, 1]], dtype=np.int32)
    diagram = make_diagram("x", ["a", "b"], symbols, delta, np.array([False, True]))
    assert diagram.edges == (
        Edge(0, 0, "otherwise", back=True),
        Edge(0, 1, "a or b"),
        Edge(1, 0, "otherwise", back=True),
        Edge(1, 1, "b"),
    )
    assert diagram.accepting == {1}
    assert len(diagram.forward) == 2


NAMES = ("a", "b", "c", "d")
SYMBOLS = st.sets(st.frozensets(st.sampled_from(NAMES)), min_size=1, max_size=16)


def holds(words: str, symbol: frozenset[str]) -> bool:
    """What a reader takes the words to mean: `and` before `or`, `not` before both."""
    said = "True" if words == "any event" else re.sub(r"\b[a-d]\b", lambda name: str(name[0] in symbol), words)
    return bool(eval(said))


@settings(max_examples=200)
@given(SYMBOLS, st.data())
def test_the_words_hold_for_the_chosen_symbols_and_no_others(symbols: set[frozenset[str]], data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.sampled_from(sorted(symbols, key=sorted)), min_size=1))
    words = say_guard(chosen, symbols, NAMES)
    assert {symbol for symbol in symbols if holds(words, symbol)} == chosen


def test_what_cannot_occur_makes_the_words_short() -> None:
    exclusive = [frozenset(), frozenset("a"), frozenset("b"), frozenset("c")]
    assert say_guard([frozenset("b")], exclusive, NAMES) == "b"
    assert say_guard([frozenset("a"), frozenset("b")], exclusive, NAMES) == "a or b"
    assert say_guard([frozenset(), frozenset("b"), frozenset("c")], exclusive, NAMES) == "not a"
    assert say_guard(exclusive, exclusive, NAMES) == "any event"


def test_the_more_general_condition_is_said_where_both_would_do() -> None:
    nested = [frozenset(), frozenset("b"), frozenset("ab")]
    assert say_guard([frozenset("b"), frozenset("ab")], nested, NAMES) == "b"
    assert say_guard([frozenset("b")], nested, NAMES) == "b and not a"


def test_what_is_shorter_said_by_what_it_is_not_is_said_so() -> None:
    exclusive = [frozenset("a"), frozenset("b"), frozenset("c")]
    assert say_guard([frozenset("b"), frozenset("c")], exclusive, NAMES) == "not a"
    assert say_guard([frozenset("a")], exclusive, NAMES) == "a"


def test_a_pattern_with_registers_is_drawn_with_what_it_keeps_and_compares() -> None:
    where = {"slow": "speed_kn < 1", "faster": "speed_kn > left.speed_kn + 4"}
    diagram = diagram_of(compile_pattern(spec_of("departure", "any(slow as left, faster)", where, window_events=9)))
    assert {(edge.source, edge.target, edge.label) for edge in diagram.edges} == {
        (0, 1, "slow as left"),
        (1, 2, "hidden any event"),
        (2, 2, "hidden any event"),
        (1, 3, "faster"),
        (2, 3, "faster"),
    }
    assert diagram.accepting == {3}
    assert diagram.relations == ("faster: speed_kn > left.speed_kn + 4",)
    assert "faster: speed_kn &gt; left.speed_kn + 4</text>" in draw_svg(diagram)
