"""A rule set as a picture: types of events, rules, and what each rule reads of which."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from foresail.patterns.durations import say_duration
from foresail.patterns.tesla.plan import RulePlan
from foresail.patterns.tesla.resolved import Absent, Compare, Compute, Select, Step

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN, _SIGN = 150.0, 34.0, 120.0, 34.0, 24.0, 7.2
_STYLE = (
    "text{font:12px Helvetica,Arial,sans-serif;fill:#1d2b3a;text-anchor:middle}"
    ".type{fill:#eaf2fb;stroke:#2b5c8a;stroke-width:1.6}"
    ".made{fill:#e6f6ea;stroke:#22803c}"
    ".rule{fill:#fff;stroke:#51677d;stroke-width:1.4}"
    ".arrow{fill:none;stroke:#51677d;stroke-width:1.4}"
    ".not{stroke:#b3372f;stroke-dasharray:5 3}"
    ".figure{stroke:#8a6d1a;stroke-dasharray:2 3}"
    ".word{font-size:11px;fill:#51677d}"
)


@dataclass(frozen=True, slots=True)
class _Arrow:
    """From a type to a rule, or from a rule to the type that it makes."""

    source: str
    target: str
    words: str
    kind: str = ""


def draw_rules_dot(plan: RulePlan) -> str:
    """The graph in the DOT language."""
    lines = [
        f'digraph "{plan.name}" {{',
        "  rankdir=LR;",
        '  node [fontname="Helvetica"];',
        '  edge [fontname="Helvetica"];',
    ]
    for name in _types(plan):
        lines.append(
            f'  "type {name}" [label="{name}", shape=ellipse{", peripheries=2" if name in plan.made else ""}];'
        )
    lines += [f'  "rule {rule.name}" [label="{rule.name}", shape=box];' for rule in plan.resolved]
    for arrow in _arrows(plan):
        style = ', style="dashed"' if arrow.kind else ""
        lines.append(f'  "{arrow.source}" -> "{arrow.target}" [label="{arrow.words}"{style}];')
    return "\n".join([*lines, "}", ""])


def draw_rules_svg(plan: RulePlan) -> str:
    """The graph as SVG text: types rounded, those that rules make green; negations are red, aggregates dotted."""
    arrows = list(_arrows(plan))
    columns = _columns(plan, arrows)
    sizes = {name: max(_WIDTH, _SIGN * len(name.partition(" ")[2]) + 20) for column in columns for name in column}
    lefts = [_MARGIN]
    for column in columns:
        lefts.append(lefts[-1] + max((sizes[name] for name in column), default=_WIDTH) + _GAP_X)
    places = {
        name: (lefts[x], _MARGIN + y * (_HEIGHT + _GAP_Y))
        for x, column in enumerate(columns)
        for y, name in enumerate(column)
    }
    width = lefts[-1] - _GAP_X + _MARGIN
    height = 2 * _MARGIN + max(len(column) for column in columns) * (_HEIGHT + _GAP_Y) - _GAP_Y + 30
    body = [*_curves(arrows, places, sizes), *_boxes(plan, places, sizes)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">\n<title>{escape(plan.name)}</title>\n'
        f"<style>{_STYLE}</style>\n"
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 1 L10 5 L0 9 z" fill="#51677d"/></marker></defs>\n'
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="#fff"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _types(plan: RulePlan) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*plan.lowered.types, *plan.made)))


def _arrows(plan: RulePlan) -> Iterator[_Arrow]:
    for rule in plan.resolved:
        here = f"rule {rule.name}"
        yield _Arrow(f"type {rule.terminator.type}", here, "when")
        for step in rule.steps:
            if not isinstance(step, Compare):
                words, kind = _words(step)
                yield _Arrow(f"type {step.matching.type}", here, words, kind)
        yield _Arrow(here, f"type {rule.type}", "")


def _words(step: Step) -> tuple[str, str]:
    assert not isinstance(step, Compare), "conditions read no type"
    span = "between" if step.span.other is not None else say_duration(step.span.span_us)
    match step:
        case Select(_, policy, number, _):
            return f"{policy if policy == 'each' or number == 1 else f'{number}-{policy}'} {span}", ""
        case Absent():
            return f"not {span}", "not"
        case Compute(_, function):
            return f"{function} {span}", "figure"


def _columns(plan: RulePlan, arrows: Sequence[_Arrow]) -> list[list[str]]:
    """The nodes from left to right: a rule after what it reads, a type after the rules that make it."""
    depth = {f"type {name}": 0 for name in _types(plan)}
    depth |= {f"rule {rule.name}": 1 for rule in plan.resolved}
    for _ in range(len(plan.resolved)):
        for arrow in arrows:
            own = arrow.target.startswith("rule") and arrow.words != "when" and _makes(arrows, arrow)
            if not own and depth[arrow.source] < 2 * len(plan.resolved):
                depth[arrow.target] = max(depth[arrow.target], depth[arrow.source] + 1)
    columns: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name, column in depth.items():
        columns[column].append(name)
    return [column for column in columns if column]


def _makes(arrows: Sequence[_Arrow], arrow: _Arrow) -> bool:
    """Whether the rule makes the type that it reads: a loop."""
    return any(other.source == arrow.target and other.target == arrow.source for other in arrows)


def _curves(
    arrows: Sequence[_Arrow], places: Mapping[str, tuple[float, float]], sizes: Mapping[str, float]
) -> Iterator[str]:
    seen: dict[tuple[str, str], int] = {}
    for arrow in arrows:
        number = seen[(arrow.source, arrow.target)] = seen.get((arrow.source, arrow.target), -1) + 1
        (x, y), (to_x, to_y) = places[arrow.source], places[arrow.target]
        begin_x, end_x = x + sizes[arrow.source], to_x - 2
        begin_y, end_y = y + _HEIGHT / 2, to_y + _HEIGHT / 2 + 9 * number
        bend = max(abs(end_x - begin_x) / 2, 40.0)
        low = 60.0 if end_x < begin_x else 0.0
        path = (
            f"M{begin_x:.0f} {begin_y:.0f} C{begin_x + bend:.0f} {begin_y + low:.0f} "
            f"{end_x - bend:.0f} {end_y + low:.0f} {end_x:.0f} {end_y:.0f}"
        )
        yield f'<path class="arrow {arrow.kind}" marker-end="url(#head)" d="{path}"/>'
        if arrow.words:
            middle = ((begin_x + end_x) / 2, (begin_y + end_y) / 2 + 0.75 * low - 4)
            yield f'<text class="word" x="{middle[0]:.0f}" y="{middle[1]:.0f}">{escape(arrow.words)}</text>'


def _boxes(plan: RulePlan, places: Mapping[str, tuple[float, float]], sizes: Mapping[str, float]) -> Iterator[str]:
    for name, (x, y) in places.items():
        kind, _, word = name.partition(" ")
        shown = "rule" if kind == "rule" else "type made" if word in plan.made else "type"
        radius = 4 if kind == "rule" else _HEIGHT / 2
        yield (
            f'<rect class="{shown}" x="{x:.0f}" y="{y:.0f}" width="{sizes[name]:.0f}" height="{_HEIGHT:.0f}" '
            f'rx="{radius:.0f}"/>'
        )
        yield f'<text x="{x + sizes[name] / 2:.0f}" y="{y + _HEIGHT / 2 + 4:.0f}">{escape(word)}</text>'
