"""A family over sparse rows forecasts exactly what one plain forecaster per feature does."""

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.models.counts import count
from foresail.models.family_forecaster import FamilyForecaster, FamilyForecasterState
from foresail.models.forecaster import Forecaster
from foresail.models.model import Model, ModelSettings, build
from foresail.models.suffix_tree import LearnSettings
from foresail.models.symbols import SymbolTable
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions.text import text_of
from foresail.patterns.recognition.events import EventBatch, Near
from foresail.patterns.spec import AfterMatch, spec_of
from tests.models.forecasting import rows_of
from tests.models.letters import MINUTE
from tests.patterns.layered import beside

FEATURES = 4
WHERE = {
    "near": "port.distance_m < 3",
    "ring": "3 <= port.distance_m < 6",
    "far": "port.distance_m >= 6",
    "fast": "fast",
}
REACH = 6
Row = tuple[Any, ...]


def family_model(name: str, text: str, order: int, **rules: Any) -> Model:
    """A model of one family, trained on distances that wander."""
    pattern = compile_pattern(spec_of(name, text, WHERE, family="port", **rules))
    random = Random(order)
    distances = [random.choice([1, 4, 4, 9, 9]) for _ in range(300)]
    truths = [truth(distance, random.random() < 0.5) for distance in distances]
    symbols = SymbolTable(pattern).symbols(words(pattern.conditions, truths))
    times = np.arange(300, dtype=np.int64) * MINUTE
    counts = count(symbols, times, np.array([0, 300]), pattern, 4, matches=1)
    return build(pattern, counts, ModelSettings(learn=LearnSettings(order=order), horizon=12, threshold=0.3))


def truth(distance: float, fast: bool) -> dict[str, bool]:
    return {
        "port.distance_m < 3": distance < 3,
        "3 <= port.distance_m < 6": 3 <= distance < 6,
        "port.distance_m >= 6": distance >= 6,
        "fast": fast,
    }


def words(conditions: Any, truths: list[dict[str, bool]]) -> np.ndarray:
    texts = [text_of(condition) for condition in conditions]
    codes = [sum(held[text] << n for n, text in enumerate(texts)) for held in truths]
    return np.array(codes, dtype=np.int64).reshape(-1, 1)


MODELS = [
    family_model("entering", "ring ; near", 3, max_gap_us=30 * MINUTE),
    family_model("leaving", "near ; far", 2, after_match=AfterMatch.RESTART),
    family_model("hurrying", "any(fast, near, near)", 1),
]


def scene(random: Random, events: int) -> list[tuple[list[float], bool]]:
    """Per event the distance to each feature, and whether the track is fast."""
    near = random.choice([0.1, 0.4])
    return [
        ([random.choice([1, 4]) if random.random() < near else 9 for _ in range(FEATURES)], random.random() < 0.5)
        for _ in range(events)
    ]


def read(family: FamilyForecaster, events: list[tuple[list[float], bool]]) -> tuple[np.ndarray, Near]:
    """The far words, and the rows of what is near."""
    far = words(family.conditions, [truth(np.inf, fast) for _, fast in events])
    rows = [
        (event, feature, truth(distance, fast))
        for event, (distances, fast) in enumerate(events)
        for feature, distance in enumerate(distances)
        if distance < REACH
    ]
    at = np.searchsorted([event for event, _, _ in rows], np.arange(len(events) + 1)).astype(np.int64)
    feature = np.array([feature for _, feature, _ in rows], dtype=np.int32)
    return far, Near(at, feature, words(family.conditions, [held for _, _, held in rows]))


def per_feature(events: list[tuple[list[float], bool]], times: np.ndarray, first: int) -> list[Row]:
    """The rows of one plain forecaster per feature, of the events near it."""
    found = []
    plain = Forecaster(MODELS)
    for feature in range(FEATURES):
        seen = words(plain.conditions, [truth(distances[feature], fast) for distances, fast in events])
        batch = EventBatch(seen, times, np.array([0, len(times)]))
        for row in rows_of(plain.advance(batch, plain.fresh(1))[0]):
            if events[row[0]][0][feature] < REACH:
                found.append((row[0] + first, *row[1:3], feature, *row[4:]))
    return found


def random_times(random: Random, events: int) -> np.ndarray:
    return np.cumsum([random.choice([1, 1, 1, 40]) * MINUTE for _ in range(events)]).astype(np.int64)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_a_family_equals_one_forecaster_per_feature(seed: int) -> None:
    random = Random(seed)
    tracks = [scene(random, random.randrange(1, 30)) for _ in range(3)]
    times = [random_times(random, len(track)) for track in tracks]
    family = FamilyForecaster(MODELS)
    first_of = np.cumsum([0, *map(len, tracks)])
    far, near = read(family, [event for track in tracks for event in track])
    found, after = family.advance(beside(EventBatch(far, np.concatenate(times), first_of), near), family.fresh(3))
    expected = [
        row
        for track, at, first in zip(tracks, times, first_of, strict=False)
        for row in per_feature(track, at, int(first))
    ]
    assert rows_of(found) == sorted(expected)
    assert after.seen.tolist() == [len(track) for track in tracks]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["all", "positive", "changes"]))
def test_a_track_cut_anywhere_is_forecast_as_if_whole(seed: int, emission: str) -> None:
    random = Random(seed)
    events = scene(random, 30)
    times = random_times(random, 30)
    family = FamilyForecaster(MODELS, emission=emission)  # type: ignore[arg-type]

    def advance(first: int, end: int, state: FamilyForecasterState) -> tuple[list[Row], FamilyForecasterState]:
        far, near = read(family, events[first:end])
        found, after = family.advance(
            beside(EventBatch(far, times[first:end], np.array([0, end - first])), near), state
        )
        return rows_of(found, first), after

    whole, after = advance(0, 30, family.fresh(1))
    cut = random.randrange(31)
    one, state = advance(0, cut, family.fresh(1))
    moved = family.rearranged(state, np.array([-1, 0, -1]))
    other, last = advance(cut, 30, family.rearranged(moved, np.array([1])))
    assert sorted(one + other) == whole
    assert all(np.array_equal(a, b) for a, b in zip(last, after, strict=True))


def test_features_left_long_ago_take_no_room() -> None:
    entering = FamilyForecaster(MODELS[:1])
    events = [([1.0, 4.0, 9.0, 9.0], False)] * 3 + [([9.0] * FEATURES, False)] * 10
    far, near = read(entering, events)
    times = np.arange(13, dtype=np.int64) * MINUTE
    states = []
    for end in (3, 4, 13):
        rows = near.at[end]
        part = Near(near.at[: end + 1], near.feature[:rows], near.words[:rows])
        batch = EventBatch(far[:end], times[:end], np.array([0, end]))
        states.append(entering.advance(beside(batch, part), entering.fresh(1))[1])
    assert [len(state.feature) for state in states] == [3, 3, 1]
    assert states[-1].feature.tolist() == [-1]


def test_changes_tell_where_positive_begins_and_ends_near_a_feature() -> None:
    model = MODELS[0].with_settings(threshold=0.2)
    every, changes = FamilyForecaster([model]), FamilyForecaster([model], emission="changes")
    events = scene(Random(7), 200)
    far, near = read(every, events)
    batch = EventBatch(far, np.arange(200, dtype=np.int64) * MINUTE, np.array([0, 200]))
    told = {(row[3], row[0]): row[7] for row in rows_of(every.advance(beside(batch, near), every.fresh(1))[0])}
    found = {(row[3], row[0]) for row in rows_of(changes.advance(beside(batch, near), changes.fresh(1))[0])}
    assert found == {(f, e) for (f, e), positive in told.items() if positive != told.get((f, e - 1), 0)}
    assert 0 < len(found) < len(told)


def test_two_orders_of_the_tracks_give_the_same_rows() -> None:
    family = FamilyForecaster(MODELS)
    tracks = [scene(Random(n), 12) for n in range(2)]
    times = np.arange(12, dtype=np.int64) * MINUTE
    results = []
    for order in ((0, 1), (1, 0)):
        far, near = read(family, [event for n in order for event in tracks[n]])
        batch = EventBatch(far, np.concatenate([times, times]), np.array([0, 12, 24]))
        rows = rows_of(family.advance(beside(batch, near), family.fresh(2))[0])
        results.append(sorted((order[row[0] // 12], row[0] % 12, *row[1:]) for row in rows))
    assert results[0] == results[1]


def test_no_tracks_and_no_near_rows_are_fine() -> None:
    family = FamilyForecaster(MODELS)
    none = Near(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty((0, 1), np.int64))
    nobody = EventBatch(np.empty((0, 1), np.int64), np.empty(0, np.int64), np.zeros(1, np.int64))
    found, after = family.advance(beside(nobody, none), family.fresh(0))
    assert (len(found), len(after.seen)) == (0, 0)
    empty = EventBatch(np.empty((0, 1), np.int64), np.empty(0, np.int64), np.zeros(2, np.int64))
    assert family.advance(beside(empty, none), family.fresh(1))[1].seen.tolist() == [0]


@pytest.mark.parametrize("emission", ["all", "positive"])
def test_models_of_another_order_take_a_family_over(emission: str) -> None:
    random = Random(11)
    events, times = scene(random, 60), random_times(random, 60)
    shorter = [family_model("entering", "ring ; near", 1, max_gap_us=30 * MINUTE), *MODELS[1:]]
    before, after = (FamilyForecaster(models, emission=emission) for models in (shorter, MODELS))  # type: ignore[arg-type]
    for cut in (0, 1, 7, 30, 59):
        far, near = read(before, events[:cut])
        state = before.advance(beside(EventBatch(far, times[:cut], np.array([0, cut])), near), before.fresh(1))[1]
        rest, close = read(after, events[cut:])
        later = EventBatch(rest, times[cut:], np.array([0, 60 - cut]))
        found = after.advance(beside(later, close), after.taken_over(state, before))[0]
        whole_far, whole_near = read(after, events)
        whole = after.advance(beside(EventBatch(whole_far, times, np.array([0, 60])), whole_near), after.fresh(1))[0]
        assert rows_of(found, cut) == [row for row in rows_of(whole) if row[0] >= cut]
