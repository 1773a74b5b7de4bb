"""A model that takes tracks over goes on as if it had read them from the start, where that can be known."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.models.forecaster import Forecaster, ForecasterState
from foresail.models.migration import corresponding_states, translated_symbols
from foresail.models.model import Model
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.spec import AfterMatch, spec_of
from tests.models.forecasting import batch_of, model_of, random_text, rows_of
from tests.models.letters import MINUTE, lettered, symbols_of, words_of

TEXTS = [random_text(Random(n), 80, "abcx") for n in range(5)]
LONG = "any(a, a, a, b)"
"""A pattern whose automaton state tells of events long ago."""


def models_of(pattern: str, orders: tuple[int, ...], **rules: object) -> list[Model]:
    compiled = lettered(pattern, features="c", **rules)
    return [model_of(compiled, TEXTS, order=order, max_order=4) for order in orders]


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["a ; b", LONG]), st.sampled_from(list(AfterMatch)))
def test_another_order_equals_replaying_the_whole_history(seed: int, pattern: str, rule: AfterMatch) -> None:
    random = Random(seed)
    one, other = models_of(
        pattern, (random.randrange(5), random.randrange(5)), after_match=rule, max_gap_us=30 * MINUTE
    )
    before, after = Forecaster([one]), Forecaster([other])
    compiled = lettered(pattern, features="c")
    text = random_text(random, 40, "abcx")
    times = np.cumsum([random.choice([1, 1, 1, 1, 1, 40]) * MINUTE for _ in text]).astype(np.int64)
    cut = random.randrange(41)
    read = words_of(compiled, text)
    _, state = before.advance(batch_of([read[:cut]], [times[:cut]]), before.fresh(1))
    whole, replayed = after.advance(batch_of([read], [times]), after.fresh(1))
    found, last = after.advance(batch_of([read[cut:]], [times[cut:]]), after.taken_over(state, before))
    assert rows_of(found, cut) == [row for row in rows_of(whole) if row[0] >= cut]
    assert all(np.array_equal(a, b) for a, b in zip(last, replayed, strict=True))


def test_a_model_for_a_new_pattern_begins_afresh_and_others_go_on() -> None:
    (kept,) = models_of("a ; b", (2,))
    before = Forecaster([kept])
    compiled = lettered("a ; b", features="c")
    _, state = before.advance(batch_of([words_of(compiled, "xa")], [np.arange(2)]), before.fresh(1))
    newcomer = model_of(compile_pattern(spec_of("newcomer", "b ; b", {"b": 'letter == "b"'})), TEXTS)
    migrated = Forecaster([newcomer, kept]).taken_over(state, before)
    assert migrated.chain.tolist() == [[0, int(state.chain[0, 0])]]
    assert migrated.length.tolist() == [[0, 2]]
    assert migrated.seen.tolist() == [2]


def taken_over(old: Model, new: Model, old_words: np.ndarray) -> tuple[Forecaster, ForecasterState]:
    before, after = Forecaster([old]), Forecaster([new])
    _, state = before.advance(batch_of([old_words], [np.arange(len(old_words))]), before.fresh(1))
    return after, after.taken_over(state, before)


def test_other_features_keep_the_automaton_state_and_begin_a_new_history() -> None:
    rings, learned = lettered(LONG, features="c"), lettered(LONG, features="d", version=2)
    old, new = model_of(rings, TEXTS), model_of(learned, TEXTS)
    assert translated_symbols(old, new) is None
    assert corresponding_states(old, new) is not None
    _, migrated = taken_over(old, new, words_of(rings, "axxxaxxxxax"))
    after_three = 0
    for symbol in symbols_of(learned, "aaa"):
        after_three = new.automaton.delta[after_three, symbol]
    assert new.chain.state[migrated.chain[0, 0]] == after_three
    assert migrated.length[0, 0] == 0


def test_fewer_features_keep_all() -> None:
    more, fewer = lettered("a ; b", features="cd"), lettered("a ; b", features="c", version=2)
    old, new = model_of(more, TEXTS), model_of(fewer, TEXTS)
    text = "xacdab" + "da"
    after, migrated = taken_over(old, new, words_of(more, text))
    plain = after.advance(batch_of([words_of(fewer, text)], [np.arange(len(text))]), after.fresh(1))[1]
    assert all(np.array_equal(a, b) for a, b in zip(migrated, plain, strict=True))


def test_another_pattern_reads_the_stored_history_anew() -> None:
    was, now = lettered("a ; b", features="c"), lettered("b ; a", features="c", version=2)
    assert [str(c) for c in was.conditions] != [str(c) for c in now.conditions]
    old, new = model_of(was, TEXTS, max_order=4), model_of(now, TEXTS, max_order=4)
    assert corresponding_states(old, new) is None
    text = "xxxxxaacb"
    after, migrated = taken_over(old, new, words_of(was, text))
    recent = after.advance(batch_of([words_of(now, text[-4:])], [np.arange(4)]), after.fresh(1))[1]
    assert migrated.chain.tolist() == recent.chain.tolist()
    assert migrated.history.tolist() == recent.history.tolist()


@pytest.mark.parametrize(("one", "other"), [(2, 6), (6, 2)])
def test_models_that_keep_more_or_less_history_exchange_what_both_keep(one: int, other: int) -> None:
    pattern = lettered("a ; b", features="c")
    old, new = (model_of(pattern, TEXTS, order=2, max_order=kept) for kept in (one, other))
    text = "xabcab"
    after, migrated = taken_over(old, new, words_of(pattern, text))
    plain = after.advance(batch_of([words_of(pattern, text)], [np.arange(6)]), after.fresh(1))[1]
    assert migrated.chain.tolist() == plain.chain.tolist()
    assert migrated.length[0, 0] == min(one, other)
    assert migrated.history[0, -2:].tolist() == plain.history[0, -2:].tolist()
