"""The layout keeps things apart and inside the picture, whatever the automaton; the eye has judged the catalog's."""

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.drawing import Diagram, Edge, draw_dot, draw_svg, make_diagram
from foresail.patterns.drawing.layout import lay_out

NAMES = ["first", "second", "third"]
SYMBOLS = [frozenset(NAMES[:n]) for n in range(4)]


@st.composite
def diagrams(draw: st.DrawFn) -> Diagram:
    states = draw(st.integers(1, 8))
    cells = draw(st.lists(st.integers(0, states - 1), min_size=4 * states, max_size=4 * states))
    accepting = np.array(draw(st.lists(st.booleans(), min_size=states, max_size=states)))
    return make_diagram("random", NAMES, SYMBOLS, np.array(cells, dtype=np.int32).reshape(states, 4), accepting)


@settings(max_examples=60, deadline=None)
@given(diagrams())
def test_nothing_overlaps_within_a_column_and_all_is_inside(diagram: Diagram) -> None:
    layout = lay_out(diagram)
    slots = {id(slot): slot for route in layout.routes for slot in route.slots}
    slots |= {id(slot): slot for slot in layout.states}
    columns: dict[int, list[tuple[float, float]]] = {}
    for slot in slots.values():
        columns.setdefault(slot.column, []).append((slot.y - slot.above, slot.y + slot.below))
        assert min(slot.x - slot.width / 2, slot.y - slot.above) >= -1e-6
        assert slot.x + slot.width / 2 <= layout.width + 1e-6
        assert slot.y + slot.below <= layout.height + 1e-6
    for spans in columns.values():
        assert all(one[1] <= other[0] + 1e-6 for one, other in pairwise(sorted(spans)))


@settings(max_examples=40, deadline=None)
@given(diagrams())
def test_the_picture_is_well_formed_and_shows_every_state_and_arrow(diagram: Diagram) -> None:
    picture = ElementTree.fromstring(draw_svg(diagram))
    name = "{http://www.w3.org/2000/svg}"
    circles = picture.findall(f".//{name}circle")
    arrows = [path for path in picture.findall(f".//{name}path") if path.get("class") == "arrow"]
    assert len(circles) == diagram.states + len(diagram.accepting)
    assert len(arrows) == 1 + len(diagram.forward)
    assert draw_svg(diagram) == draw_svg(diagram)


def test_signs_of_markup_in_guards_are_escaped() -> None:
    diagram = Diagram('a "b" <c>', 2, frozenset({1}), (Edge(0, 1, '[speed_kn < 5 & name = "x"]'),))
    picture = ElementTree.fromstring(draw_svg(diagram))
    assert picture.find("{http://www.w3.org/2000/svg}title").text == 'a "b" <c>'
    assert "[speed_kn < 5 & name =" in [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert r'label="[speed_kn < 5 & name = \"x\"]"' in draw_dot(diagram)
