"""Which operator of a pattern made its automaton too large, said in a sentence."""

from collections.abc import Callable

from foresail.patterns.automata.limits import MOST_STATES, SizeExceededError
from foresail.patterns.errors import StateExplosionError
from foresail.patterns.language.syntax import Pattern, children_of, pattern_text
from foresail.patterns.spec import PatternSpec

_SHOWN = 80


def explained(
    error: SizeExceededError, tree: Pattern, spec: PatternSpec, probe: Callable[[Pattern], None]
) -> StateExplosionError:
    """The fault of `spec`, naming the smallest part that is too large by itself."""
    part, size = _smallest_too_large(tree, error.size, probe)
    text = pattern_text(part)
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    msg = (
        f"{spec.pattern.place}: {type(part).__name__} `{shown}` needs at least {size} states; {MOST_STATES} are the "
        "limit. Lower its repetition counts, or replace repeated skipping by a window."
    )
    return StateExplosionError(msg)


def _smallest_too_large(part: Pattern, size: int, probe: Callable[[Pattern], None]) -> tuple[Pattern, int]:
    for child in children_of(part):
        try:
            probe(child)
        except SizeExceededError as error:
            return _smallest_too_large(child, error.size, probe)
    return part, size
