"""Forecasts are what the model says in the state that a track's events lead to, however the events are cut."""

import pickle
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.models.errors import ImpossibleSymbolError, ModelError
from foresail.models.forecaster import PER_TRACK, Forecaster, ForecasterState
from foresail.models.model import Model
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions.parser import parse_condition
from foresail.patterns.conditions.text import text_of
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.spec import spec_of
from tests.models.forecasting import batch_of, model_of, random_text, rows_of
from tests.models.letters import MINUTE, lettered, symbols_of, words_of

PATTERN = lettered("a ; b", features="c", max_gap_us=30 * MINUTE)
TEXTS = [random_text(Random(n), 60, "abcx") for n in range(5)]
MODEL = model_of(PATTERN, TEXTS, order=3, horizon=20, within=3)
OTHER = compile_pattern(spec_of("other", "b ; b", {"b": 'letter == "b"'}))
SECOND = model_of(OTHER, TEXTS, order=1, horizon=9)


def words(forecaster: Forecaster, text: str) -> np.ndarray:
    """Words over the forecaster's own conditions, which are those of letters a, b, c in some order."""
    bit = {'letter == "a"': "a", 'letter == "b"': "b", 'letter == "c"': "c"}
    order = [bit[text_of(condition)] for condition in forecaster.conditions]
    return np.array([[1 << order.index(x) if x in order else 0] for x in text], dtype=np.int64).reshape(-1, 1)


def random_times(random: Random, length: int) -> np.ndarray:
    steps = [random.choice([1, 1, 1, 40]) * MINUTE for _ in range(length)]
    return np.cumsum(np.array(steps, dtype=np.int64))


def plainly(model: Model, text: str, times: np.ndarray) -> list[tuple[int, int]]:
    """The chain states of the events after which a forecast is made, one step at a time."""
    x, found = 0, []
    for event, symbol in enumerate(symbols_of(PATTERN, text)):
        gap = times[event] - times[event - 1] if event else 0
        x = int(model.chain.step[0 if gap > 30 * MINUTE else x, symbol])
        if not model.chain.accepting[x]:
            found.append((event, x))
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_forecasts_are_looked_up_in_the_state_that_the_events_lead_to(seed: int) -> None:
    random = Random(seed)
    text = random_text(random, random.randrange(1, 60), "abcx")
    times = random_times(random, len(text))
    forecaster = Forecaster([MODEL])
    found, _ = forecaster.advance(batch_of([words_of(PATTERN, text)], [times]), forecaster.fresh(1))
    expected = plainly(MODEL, text, times)
    assert list(zip(found.event.tolist(), found.chain.tolist(), strict=True)) == expected
    assert found.index.tolist() == [event + 1 for event, _ in expected]
    for name in ("state", "probability", "positive", "earliest", "latest", "most_likely"):
        assert getattr(found, name).tolist() == getattr(MODEL.decisions, name)[found.chain].tolist()


def same(one: ForecasterState, other: ForecasterState) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["all", "positive", "changes"]))
def test_tracks_cut_anywhere_are_forecast_as_if_whole(seed: int, emission: str) -> None:
    random = Random(seed)
    forecaster = Forecaster([MODEL, SECOND], emission=emission)  # type: ignore[arg-type]
    texts = [random_text(random, random.randrange(1, 25), "abcx") for _ in range(3)]
    read = [words(forecaster, text) for text in texts]
    times = [random_times(random, len(text)) for text in texts]
    whole, after = forecaster.advance(batch_of(read, times), forecaster.fresh(3))
    cuts = [[0, *sorted(random.randrange(len(text) + 1) for _ in range(2)), len(text)] for text in texts]
    state, pieces = forecaster.fresh(3), []
    first_of = np.cumsum([0, *map(len, texts)])
    for piece in range(3):
        bounds = [(ends[piece], ends[piece + 1]) for ends in cuts]
        order = np.array(random.sample(range(3), 3))
        part = batch_of([read[n][slice(*bounds[n])] for n in order], [times[n][slice(*bounds[n])] for n in order])
        found, moved = forecaster.advance(part, forecaster.rearranged(state, order))
        state = forecaster.rearranged(moved, np.argsort(order))
        for row in rows_of(found):
            place = int(np.searchsorted(part.first_of, row[0], side="right")) - 1
            track = order[place]
            pieces.append((int(row[0] - part.first_of[place] + bounds[track][0] + first_of[track]), *row[1:]))
    assert sorted(pieces) == rows_of(whole)
    assert same(state, after)


def test_emission_all_positive_and_changes() -> None:
    text = "xxabxxaabbxcab" * 3
    read, times = words_of(PATTERN, text), np.arange(42, dtype=np.int64) * MINUTE
    found = {}
    model = MODEL.with_settings(threshold=float(np.median(MODEL.decisions.probability)))
    for emission in ("all", "positive", "changes"):
        forecaster = Forecaster([model], emission=emission)  # type: ignore[arg-type]
        found[emission] = forecaster.advance(batch_of([read], [times]), forecaster.fresh(1))[0]
    every = dict(zip(found["all"].event.tolist(), found["all"].positive.tolist(), strict=True))
    assert 0 < sum(every.values()) < len(every) < len(text)
    assert found["positive"].event.tolist() == [event for event, positive in every.items() if positive]
    changes = [e for e, positive in every.items() if positive != every.get(e - 1, 0)]
    assert found["changes"].event.tolist() == changes


def test_conditions_may_be_shared_with_a_longer_list() -> None:
    conditions = [*(parse_condition(f"n == {n}") for n in range(80)), *MODEL.conditions]
    wide = Forecaster([MODEL], conditions)
    narrow = Forecaster([MODEL])
    text = "xabcabx"
    own = words_of(PATTERN, text)
    far = np.zeros((len(text), wide.words), dtype=np.int64)
    far[:, 1] = own[:, 0] << (80 - 64)
    times = np.arange(len(text), dtype=np.int64)
    assert (wide.words, narrow.words) == (2, 1)
    assert rows_of(wide.advance(batch_of([far], [times]), wide.fresh(1))[0]) == rows_of(
        narrow.advance(batch_of([own], [times]), narrow.fresh(1))[0]
    )


def test_more_combinations_than_there_was_room_for_are_numbered_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foresail.models.numbering._FIRST_ROOM", 1)
    monkeypatch.setattr("foresail.models.numbering._MOST_KEPT", 2)
    small, usual = Forecaster([MODEL, SECOND]), None
    monkeypatch.undo()
    usual = Forecaster([MODEL, SECOND])
    read, times = words(usual, TEXTS[0]), np.arange(len(TEXTS[0]), dtype=np.int64)
    for _ in range(2):
        found = small.advance(batch_of([read], [times]), small.fresh(1))[0]
        assert rows_of(found) == rows_of(usual.advance(batch_of([read], [times]), usual.fresh(1))[0])


def test_read_only_events_and_tracks_without_events_are_read() -> None:
    forecaster = Forecaster([MODEL])
    batch = EventBatch(words_of(PATTERN, "ab"), np.arange(2, dtype=np.int64), np.array([0, 0, 2, 2], dtype=np.int64))
    for array in (batch.words, batch.times, batch.first_of):
        array.flags.writeable = False
    found, after = forecaster.advance(batch, forecaster.fresh(3))
    assert found.event.tolist() == [0]
    assert after.seen.tolist() == [0, 2, 0]


def test_advancing_changes_neither_the_state_nor_the_model() -> None:
    forecaster = Forecaster([MODEL])
    before = forecaster.advance(batch_of([words_of(PATTERN, "xa")], [np.arange(2)]), forecaster.fresh(1))[1]
    copy = before._replace(**{name: getattr(before, name).copy() for name in PER_TRACK})
    batch = batch_of([words_of(PATTERN, "bab")], [np.arange(2, 5)])
    first, second = (rows_of(forecaster.advance(batch, before)[0]) for _ in range(2))
    assert first == second
    assert same(before, copy)


def test_a_model_forecasts_alike_after_a_journey_to_a_worker() -> None:
    here, there = Forecaster([MODEL]), Forecaster([pickle.loads(pickle.dumps(MODEL))])
    batch = batch_of([words_of(PATTERN, TEXTS[0])], [np.arange(60)])
    assert rows_of(here.advance(batch, here.fresh(1))[0]) == rows_of(there.advance(batch, there.fresh(1))[0])


def test_a_row_of_track_state_stays_small() -> None:
    state = Forecaster([MODEL]).fresh(1)
    assert sum(getattr(state, name).nbytes for name in PER_TRACK) <= 16 + 4 + 1 + 2 * MODEL.header.max_order


def test_an_event_that_no_symbol_describes_is_refused_by_name() -> None:
    forecaster = Forecaster([MODEL])
    bad = batch_of([np.array([[3]], dtype=np.int64)], [np.zeros(1)])
    with pytest.raises(ImpossibleSymbolError, match="lettered: conditions a, b held on one event"):
        forecaster.advance(bad, forecaster.fresh(1))


def test_what_cannot_run_is_refused() -> None:
    with pytest.raises(ModelError, match="lettered: two models for one pattern"):
        Forecaster([MODEL, MODEL])
    with pytest.raises(ModelError, match="Choose one of all, positive, changes"):
        Forecaster([MODEL], emission="some")  # type: ignore[arg-type]
