"""Automata as pictures: DOT text for graph tools, SVG that needs none."""

from foresail.patterns.drawing.diagram import Diagram, Edge, diagram_of, make_diagram
from foresail.patterns.drawing.svg import Drawing, draw_dot, draw_svg, draw_svg_within

__all__ = ["Diagram", "Drawing", "Edge", "diagram_of", "draw_dot", "draw_svg", "draw_svg_within", "make_diagram"]
