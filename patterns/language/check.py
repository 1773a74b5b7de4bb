"""What a pattern must satisfy before and while it is compiled; each check raises with the way out."""

from collections import deque
from collections.abc import Mapping
from math import factorial

from foresail.patterns.automata.limits import MOST_STATES
from foresail.patterns.automata.nondeterministic import Nondeterministic
from foresail.patterns.conditions.typing import AttributeType, check_types
from foresail.patterns.errors import CannotMatchError, StateExplosionError, UnknownConditionError
from foresail.patterns.language.conditions import Conditions, terminals_of
from foresail.patterns.language.syntax import Each, Pattern, Repeat, children_of, pattern_text
from foresail.patterns.limits import check_parts
from foresail.patterns.minterms import Alphabet
from foresail.patterns.spec import PatternSpec

_FACTORIAL_SHOWN = 16
_FAR_TOO_MANY = 64 * MOST_STATES


def check_tree(tree: Pattern, spec: PatternSpec) -> None:
    """It is not too large, and no `each` has more orders than an automaton can hold."""
    check_parts(terminals_of(tree), spec.pattern.place)
    _check_orders(tree, spec)
    _check_written_out(tree, spec)


def check_conditions(conditions: Conditions, spec: PatternSpec, attributes: Mapping[str, AttributeType] | None) -> None:
    """Conditions read known attributes of the right type, of the current event or of the family's feature."""
    for condition, place in zip(conditions.parsed, conditions.places, strict=True):
        if attributes is not None:
            features = {spec.family: {"distance_m": AttributeType.NUMBER}} if spec.family else {}
            check_types(condition, attributes, place, features=features)
    known = [text.name for text in (*spec.where, *spec.features)]
    for name in (name for group in spec.exclusive for name in group):
        if name not in known:
            raise UnknownConditionError(name, known, f"{spec.name}.exclusive")


def check_alphabet(letters: Alphabet, conditions: Conditions) -> None:
    """Every condition that the pattern reads can hold."""
    for i in range(conditions.read):
        if letters.never(i):
            msg = f"{conditions.places[i]}: condition '{conditions.names[i]}' can never hold. Mend its thresholds."
            raise CannotMatchError(msg)


def check_matchable(nfa: Nondeterministic, spec: PatternSpec) -> None:
    """Some stretch matches and marks its last event, within the window."""
    if not nfa.transitions:
        msg = (
            f"{spec.pattern.place}: pattern {spec.name} can never match. A match must mark its last event: check "
            "`hidden`, `not` and `absent` at the end, `&` between parts that mark different events, and `next` "
            "over a part that may be empty."
        )
        raise CannotMatchError(msg)
    if spec.window_events is not None:
        shortest = _shortest_span(nfa)
        if shortest > spec.window_events:
            msg = (
                f"{spec.pattern.place}: pattern {spec.name} spans at least {shortest} events, its window only "
                f"{spec.window_events}. Widen the window."
            )
            raise CannotMatchError(msg)


def _check_written_out(tree: Pattern, spec: PatternSpec) -> int:
    """The parts of a tree with its repetitions and orders written out; far more than any automaton holds are refused.

    What is a little too large is found by building it, which can say how large it is; that would take for ever here.
    """
    parts = sum(_check_written_out(part, spec) for part in children_of(tree)) or 1
    match tree:
        case Repeat(_, least, most):
            parts *= max(least, most or 1)
        case Each(alternatives):
            parts *= factorial(min(len(alternatives), _FACTORIAL_SHOWN))
    if parts > _FAR_TOO_MANY:
        msg = (
            f"{spec.pattern.place}: {type(tree).__name__} `{pattern_text(tree)[:80]}` stands for {parts:,} parts; "
            f"{MOST_STATES} states are the limit. Lower its repetition counts."
        )
        raise StateExplosionError(msg)
    return parts


def _check_orders(tree: Pattern, spec: PatternSpec) -> None:
    if isinstance(tree, Each) and factorial(len(tree.parts)) * len(tree.parts) > MOST_STATES:
        parts = len(tree.parts)
        orders = factorial(parts) if parts < _FACTORIAL_SHOWN else f"{parts}!"
        msg = (
            f"{spec.pattern.place}: each(...) of {parts} parts has {orders} orders, "
            f"too many for {MOST_STATES} states: `{pattern_text(tree)[:80]}`. Split it into smaller groups."
        )
        raise StateExplosionError(msg)
    for part in children_of(tree):
        _check_orders(part, spec)


def _shortest_span(nfa: Nondeterministic) -> int:
    """The least number of events from the first marked to the last marked of any match."""
    best: dict[int, int] = {}
    waiting: deque[tuple[int, int]] = deque()
    unmarked = {0}
    grown = True
    while grown:
        more = {t.target for t in nfa.transitions if t.source in unmarked and not t.marked} - unmarked
        unmarked |= more
        grown = bool(more)
    waiting.extend((t.target, 1) for t in nfa.transitions if t.source in unmarked and t.marked)
    spans = [1 for t in nfa.transitions if t.source in unmarked and t.marked and t.target in nfa.finals]
    while waiting and not spans:
        state, span = waiting.popleft()
        if state in best:
            continue
        best[state] = span
        for t in nfa.transitions:
            if t.source == state:
                if t.marked and t.target in nfa.finals:
                    spans.append(span + 1)
                waiting.append((t.target, span + 1))
    return min(spans)
