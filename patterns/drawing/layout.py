"""Where everything of a diagram goes: states in columns by distance from the start, arrows through lanes of their own.

States stand in the even columns, the labels of arrows in the odd ones between. An arrow claims a slot in each column it
crosses, so no two things overlap; the slots are then ordered to have few crossings (barycentres) and moved
towards their neighbours as far as the room allows. After Sugiyama, Tagawa and Toda 1981.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from textwrap import wrap

from foresail.patterns.drawing.diagram import Diagram, Edge

RADIUS = 22.0
LINE = 15.0
LETTER = 6.4
WRAP = 24
LOOP = 34.0
_SPACE = 14.0
_SWEEPS = 24
_ONWARD = 8.0
"""Arrows onward pull their states into line this much harder than arrows back."""


@dataclass(slots=True)
class Slot:
    """A place in a column: a state, a label, or the crossing of a long arrow. Moves until the layout is done."""

    column: int
    width: float
    above: float
    below: float
    x: float = 0.0
    y: float = 0.0
    neighbours: list[tuple["Slot", float]] = field(default_factory=list)
    """What the slot is tied to, and how strongly."""


@dataclass(frozen=True, slots=True)
class Route:
    """An arrow's way: the slots it passes from source to target, and the lines of its label at slot `label`."""

    edge: Edge
    slots: tuple[Slot, ...]
    label: Slot
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """An arrow from a state to itself."""

    edge: Edge
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The finished places."""

    states: tuple[Slot, ...]
    routes: tuple[Route, ...]
    loops: tuple[Loop, ...]
    width: float
    height: float


def lay_out(diagram: Diagram) -> Layout:
    """Places for the states and the arrows of the diagram, with no margin."""
    depth = _distances(diagram)
    loops = tuple(Loop(edge, _lines(edge.label)) for edge in diagram.forward if edge.source == edge.target)
    states = _state_slots(diagram, depth, loops)
    columns: list[list[Slot]] = [[] for _ in range(2 * (max(depth) + 1))]
    for state in states:
        columns[state.column].append(state)
    routes = tuple(_route(edge, states, columns) for edge in diagram.forward if edge.source != edge.target)
    _place(columns)
    return Layout(states, routes, loops, *_extent(columns))


def _distances(diagram: Diagram) -> list[int]:
    """How many arrows each state is from the start; states reached by none stand last."""
    depth = {0: 0}
    queue = [0]
    for state in queue:  # grows while it is walked
        for edge in diagram.edges:
            if edge.source == state and edge.target not in depth:
                depth[edge.target] = depth[state] + 1
                queue.append(edge.target)
    last = max(depth.values())
    return [depth.get(state, last) for state in range(diagram.states)]


def _lines(label: str) -> tuple[str, ...]:
    return tuple(wrap(label, WRAP, break_long_words=False, break_on_hyphens=False)) or ("",)


def text_width(lines: Sequence[str]) -> float:
    """How wide the widest line is drawn, about."""
    return max(len(line) for line in lines) * LETTER


def _state_slots(diagram: Diagram, depth: Sequence[int], loops: Sequence[Loop]) -> tuple[Slot, ...]:
    above = {loop.edge.source: LOOP + LINE * len(loop.lines) for loop in loops}
    width = {loop.edge.source: text_width(loop.lines) for loop in loops}
    return tuple(
        Slot(2 * depth[state], max(2 * RADIUS, width.get(state, 0)), RADIUS + above.get(state, 0), RADIUS)
        for state in range(diagram.states)
    )


def _route(edge: Edge, states: Sequence[Slot], columns: list[list[Slot]]) -> Route:
    """Slots for the arrow in every column between its states; the label takes the one next to the source."""
    source, target = states[edge.source], states[edge.target]
    lines = _lines(edge.label)
    step = 1 if target.column >= source.column else -1
    crossed = (
        range(source.column + step, target.column, step) if source.column != target.column else [source.column + 1]
    )
    slots: list[Slot] = []
    for column in crossed:
        labelled = not slots
        half = LINE * len(lines) / 2 if labelled else 4.0
        slots.append(Slot(column, text_width(lines) + 16 if labelled else 0.0, half, half))
        columns[column].append(slots[-1])
    way = (source, *slots, target)
    weight = _ONWARD if target.column > source.column else 1.0
    for one, other in pairwise(way):
        one.neighbours.append((other, weight))
        other.neighbours.append((one, weight))
    return Route(edge, way, slots[0], lines)


def _place(columns: list[list[Slot]]) -> None:
    x = 0.0
    for column in columns:
        width = max((slot.width for slot in column), default=0.0)
        for slot in column:
            slot.x = x + width / 2
        x += width + 2 * _SPACE
    for column in columns:
        _spread(column, [slot.y for slot in column])
    for sweep in range(_SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            if sweep < _SWEEPS // 2:
                column.sort(key=_wanted)
            _spread(column, [_wanted(slot) for slot in column])


def _wanted(slot: Slot) -> float:
    """Where the slot would stand if it were alone: amid its neighbours."""
    if not slot.neighbours:
        return slot.y
    return sum(weight * other.y for other, weight in slot.neighbours) / sum(weight for _, weight in slot.neighbours)


def _spread(column: Sequence[Slot], wanted: Sequence[float]) -> None:
    """Give the slots the places nearest to `wanted` (least squares) that keep their order and their distance."""
    offset, offsets = 0.0, []
    for before, slot in zip([None, *column], column, strict=False):
        offset += before.below + _SPACE + slot.above if before else 0.0
        offsets.append(offset)
    blocks: list[tuple[float, int]] = []
    for want, off in zip(wanted, offsets, strict=True):
        total, size = want - off, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / size:
            before_total, before_size = blocks.pop()
            total, size = total + before_total, size + before_size
        blocks.append((total, size))
    level = [total / size for total, size in blocks for _ in range(size)]
    for slot, base, off in zip(column, level, offsets, strict=True):
        slot.y = base + off


def _extent(columns: list[list[Slot]]) -> tuple[float, float]:
    """Shift everything so that it begins at 0, and say how large it is."""
    slots = [slot for column in columns for slot in column]
    top = min(slot.y - slot.above for slot in slots)
    for slot in slots:
        slot.y -= top
    return max(slot.x + slot.width / 2 for slot in slots), max(slot.y + slot.below for slot in slots)
