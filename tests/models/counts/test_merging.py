"""Counts add up, and old ones weigh less."""

from dataclasses import replace

import pytest

from foresail.models.counts import decay, half_life_factor, merge
from foresail.models.counts.merging import LEAST_COUNT
from foresail.models.errors import ModelSettingError, OtherPatternError
from tests.models.letters import counts_of_text


def test_decayed_counts_weigh_less_and_merge_with_new_ones() -> None:
    old, new = counts_of_text("aab", "ab", 2), counts_of_text("abb", "ab", 2)
    held = merge([decay(old, 0.5), new]).as_dictionary()
    assert held[(0,)] == 0.5 * 2 + 1
    assert held[(0, 1)] == 0.5 + 1
    assert held[(1, 1)] == 1


def test_what_has_decayed_away_is_forgotten_with_all_that_begins_with_it() -> None:
    old = counts_of_text("aaaaaaaabaaaaaaa", "ab", 3)
    held = decay(old, 1.5 * LEAST_COUNT)
    assert {stretch for stretch in held.as_dictionary() if 1 in stretch} == {
        stretch for stretch, times in old.as_dictionary().items() if 1 in stretch and 1.5 * times >= 1
    }
    gone = decay(old, 0.5 * LEAST_COUNT).as_dictionary()
    assert all(1 not in stretch for stretch in gone)
    assert gone[(0, 0)] == pytest.approx(13 * 0.5 * LEAST_COUNT)


def test_counts_of_another_pattern_or_order_do_not_merge() -> None:
    one = counts_of_text("aab", "ab", 2)
    other = replace(one, identity=replace(one.identity, version=2))
    with pytest.raises(OtherPatternError, match="this is of text version 2, not text version 1"):
        merge([one, other])
    with pytest.raises(ModelSettingError, match="one part goes to order 2, another to 1"):
        merge([one, counts_of_text("aab", "ab", 1)])


def test_a_half_life_halves() -> None:
    assert half_life_factor(30, 30) == 0.5
    assert half_life_factor(0, 30) == 1
    with pytest.raises(ModelSettingError, match="half_life_days is 0"):
        half_life_factor(1, 0)


@pytest.mark.parametrize("factor", [0, -1, 1.1])
def test_an_impossible_decay_is_refused(factor: float) -> None:
    with pytest.raises(ModelSettingError, match="is not above 0 and at most 1"):
        decay(counts_of_text("aab", "ab", 2), factor)
