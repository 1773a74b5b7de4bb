"""A diagram as DOT text: for graph tools, and for golden files that show a change of an automaton line by line."""

from foresail.patterns.drawing.diagram import Diagram, Edge


def draw_dot(diagram: Diagram) -> str:
    """The diagram in the DOT language."""
    lines = [
        f"digraph {_quoted(diagram.title)} {{",
        "  rankdir=LR;",
        '  node [shape=circle, fontname="Helvetica"];',
        '  edge [fontname="Helvetica"];',
        '  begin [shape=point, label=""];',
        "  begin -> 0;",
        *(
            f"  {state}{' [shape=doublecircle]' if state in diagram.accepting else ''};"
            for state in range(diagram.states)
        ),
        *(f"  {edge.source} -> {edge.target} [{_attributes(edge)}];" for edge in diagram.edges),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _attributes(edge: Edge) -> str:
    light = ', style=dotted, color="gray60", fontcolor="gray60", constraint=false' if edge.back else ""
    return f"label={_quoted(edge.label)}{light}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
