"""A pattern that grows too large is refused with the smallest part that does."""

import pytest

from foresail.patterns.automata.explosion import explained
from foresail.patterns.automata.limits import MOST_STATES, SizeExceededError
from foresail.patterns.errors import StateExplosionError
from foresail.patterns.language.parser import parse_pattern
from foresail.patterns.language.syntax import Pattern, Repeat, children_of
from foresail.patterns.spec import spec_of
from tests.patterns.random_patterns import HERE


def fault(text: str, least: int) -> StateExplosionError:
    """The fault where every repetition of at least so many times, and what holds one, is too large."""

    def probe(part: Pattern) -> None:
        for size in _sizes(part):
            if size >= least:
                raise SizeExceededError(size)

    tree = parse_pattern(text, HERE)
    with pytest.raises(SizeExceededError) as refused:
        probe(tree)
    return explained(refused.value, tree, spec_of("large", text), probe)


def _sizes(part: Pattern) -> list[int]:
    own = [part.least] if isinstance(part, Repeat) else []
    return own + [size for child in children_of(part) for size in _sizes(child)]


def test_the_innermost_part_that_is_too_large_is_named() -> None:
    assert str(fault("a ; (b ; c{9})+ ; d{2}", 5)) == (
        f"large:1:1: Repeat `c{{9}}` needs at least 9 states; {MOST_STATES} are the limit. Lower its repetition "
        "counts, or replace repeated skipping by a window."
    )


def test_a_long_part_is_cut_short() -> None:
    inside = " | ".join(["condition"] * 20)
    told = str(fault(f"({inside}){{9}}", 5))
    assert "`(condition | condition" in told
    assert "...` needs" in told
    assert len(told) < 300
