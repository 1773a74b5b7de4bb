from pathlib import Path

import numpy as np
import pytest

from foresail.patterns.catalog import built_in_catalog
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.drawing import Edge, diagram_of, draw_dot, make_diagram

GOLDEN = Path(__file__).parents[2] / "golden" / "automata"


@pytest.mark.parametrize("name", built_in_catalog().names)
def test_the_automaton_of_a_catalog_pattern_has_not_changed(name: str) -> None:
    dot = draw_dot(diagram_of(compile_pattern(built_in_catalog()[name].spec())))
    assert dot == (GOLDEN / f"{name}.dot").read_text(encoding="utf-8"), (
        f"if the change is meant: foresail catalog draw {name} -o tests/golden/automata/{name}.dot"
    )


def test_there_is_a_golden_drawing_for_every_pattern_and_no_other() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == set(built_in_catalog().names)


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
