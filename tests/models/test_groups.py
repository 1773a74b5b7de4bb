"""Models of groups of tracks: each speaks for its own tracks as if it were alone, that of all tracks for the rest."""

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.models.counts import NO_GROUP, GroupedCounts, TrackGroups, count_groups
from foresail.models.errors import ModelFileError
from foresail.models.family_forecaster import FamilyForecaster
from foresail.models.forecaster import Forecaster
from foresail.models.groups import GroupModels, build_groups, groups_from_bytes, groups_to_bytes
from foresail.models.model import Model, ModelSettings, build
from foresail.models.store import ModelStore
from foresail.models.suffix_tree import LearnSettings
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.events import EventBatch, Near
from tests.models.forecasting import batch_of, random_text
from tests.models.letters import MINUTE, joined, lettered, symbols_of, words_of
from tests.patterns.layered import beside

PATTERN = lettered("a ; b", features="c", max_gap_us=30 * MINUTE)
FAMILY = lettered("a ; b", features="c", max_gap_us=30 * MINUTE, family="port")
SETTINGS = ModelSettings(learn=LearnSettings(order=2, min_context_probability=0.01), horizon=12, within=3)
GROUPS = {"ferry": "aab", "tug": "abcx", NO_GROUP: "xxab", "rare": "x"}
COLUMNS = ("index", "state", "chain", "probability", "positive", "earliest", "latest", "most_likely", "latest_s")


def tracks_of(letters: str, steps: int, number: int = 6) -> list[tuple[str, np.ndarray]]:
    texts = [random_text(Random(f"{letters} {n}"), 40, letters) for n in range(number)]
    return [(text, np.arange(len(text), dtype=np.int64) * steps * MINUTE) for text in texts]


TRACKS = {name: tracks_of(letters, 1 + n) for n, (name, letters) in enumerate(GROUPS.items())}


def counted(pattern: CompiledPattern, names: tuple[str, ...] = tuple(sorted(GROUPS))) -> GroupedCounts:
    held = [(names.index(name), text, times) for name in names for text, times in TRACKS[name]]
    symbols, first_of = joined([symbols_of(pattern, text) for _, text, _ in held])
    groups = TrackGroups(names, np.array([group for group, _, _ in held], dtype=np.int64))
    return count_groups(symbols, np.concatenate([times for _, _, times in held]), first_of, groups, pattern, 4)


def models_of(pattern: CompiledPattern) -> tuple[Model, GroupModels]:
    counts = counted(pattern)
    return build(pattern, counts.together(), SETTINGS), build_groups(pattern, counts, SETTINGS, "vessel_type", 5)


WHOLE, OWN = models_of(PATTERN)


def test_only_groups_with_enough_matches_have_a_model_and_its_version_names_them() -> None:
    assert OWN.names == ("ferry", "tug")
    assert OWN.models["ferry"].version.endswith("@ferry")
    assert "@" not in WHOLE.version
    alone = build(PATTERN, counted(PATTERN, ("ferry",)).together(), SETTINGS)
    np.testing.assert_array_equal(OWN.models["ferry"].waiting, alone.waiting)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_a_group_is_forecast_as_by_a_model_of_its_events_alone_and_others_as_by_that_of_all(seed: int) -> None:
    random = Random(seed)
    served = [random.choice([WHOLE, *OWN.models.values()]) for _ in range(4)]
    texts = [random_text(random, random.randrange(1, 30), "abcx") for _ in served]
    times = [np.cumsum([random.choice([1, 1, 40]) * MINUTE for _ in text]).astype(np.int64) for text in texts]
    forecaster = Forecaster([WHOLE], groups=[tuple(OWN.models.values())])
    members = np.array([[forecaster.emitted_by.index(model)] for model in served])
    cut = [random.randrange(len(text) + 1) for text in texts]
    state = forecaster.rearranged(forecaster.fresh(0), np.full(4, -1), members)
    found: dict[int, list[tuple[Any, ...]]] = {n: [] for n in range(4)}
    for part in (lambda values, at: values[:at], lambda values, at: values[at:]):
        words = [part(words_of(PATTERN, text), at) for text, at in zip(texts, cut, strict=True)]
        batch = batch_of(words, [part(moments, at) for moments, at in zip(times, cut, strict=True)])
        told, state = forecaster.advance(batch, state)
        track = np.searchsorted(batch.first_of, told.event, side="right") - 1
        for n in range(4):
            assert {forecaster.emitted_by[m] for m in told.model[track == n]} <= {served[n]}
            found[n] += rows(told, track == n)
    for n, model in enumerate(served):
        alone = Forecaster([model])
        told, _ = alone.advance(batch_of([words_of(PATTERN, texts[n])], [times[n]]), alone.fresh(1))
        assert found[n] == rows(told, np.ones(len(told), dtype=np.bool_))


def rows(told: Any, mine: np.ndarray) -> list[tuple[Any, ...]]:
    return [tuple(np.nan_to_num(row)) for row in zip(*(getattr(told, name)[mine] for name in COLUMNS), strict=True)]


def test_a_family_is_forecast_by_the_model_of_the_track_s_group() -> None:
    whole, own = models_of(FAMILY)
    forecaster = FamilyForecaster([whole], groups=[tuple(own.models.values())])
    random = np.random.default_rng(3)
    first_of, times = np.array([0, 40, 80, 120]), np.cumsum(random.choice([1, 1, 40], 120)).astype(np.int64) * MINUTE
    near = random.random(120) < 0.6
    at = np.concatenate([[0], np.cumsum(near)]).astype(np.int64)
    far = words_of(FAMILY, random_text(Random(1), 120, "cx"))
    close = words_of(FAMILY, random_text(Random(2), int(at[-1]), "abcx"))
    feature = random.integers(0, 2, int(at[-1])).astype(np.int32)
    members = np.array([[2], [0], [1]])
    state = forecaster.rearranged(forecaster.fresh(0), np.full(3, -1), members)
    told, _ = forecaster.advance(beside(EventBatch(far, times, first_of), Near(at, feature, close)), state)
    track = np.searchsorted(first_of, told.event, side="right") - 1
    for n, model in enumerate([own.models["tug"], whole, own.models["ferry"]]):
        begin, end = first_of[n], first_of[n + 1]
        mine = slice(int(at[begin]), int(at[end]))
        alone = FamilyForecaster([model])
        expected, _ = alone.advance(
            beside(
                EventBatch(far[begin:end], times[begin:end], np.array([0, 40])),
                Near(at[begin : end + 1] - at[begin], feature[mine], close[mine]),
            ),
            alone.fresh(1),
        )
        assert len(expected)
        assert rows(told, track == n) == rows(expected, np.ones(len(expected), dtype=np.bool_))


def test_models_of_groups_are_a_file_that_is_checked() -> None:
    content = groups_to_bytes(OWN)
    back = groups_from_bytes(content, "some place")
    assert (back.per, back.names) == ("vessel_type", OWN.names)
    np.testing.assert_array_equal(back.models["tug"].waiting, OWN.models["tug"].waiting)
    with pytest.raises(ModelFileError, match=r"some place.*cut short.*Train it anew"):
        groups_from_bytes(content[: len(content) // 2], "some place")


def test_a_store_keeps_them_with_the_model_of_all_tracks(tmp_path: Any) -> None:
    store = ModelStore(tmp_path)
    version = store.add(WHOLE, groups=OWN)
    assert store.load(PATTERN.name).version == version
    held = store.load_groups(PATTERN.name)
    assert held is not None
    assert all(f"-{1:04d}-" in model.version for model in held.models.values())
    assert store.add(WHOLE, groups=OWN) == version
    without = store.add(WHOLE)
    assert without != version
    assert store.load_groups(PATTERN.name, without) is None
    assert store.has_groups(PATTERN.name, version)
    assert not store.has_groups(PATTERN.name, without)


def test_another_threshold_holds_for_every_group() -> None:
    changed = OWN.with_threshold(0.9)
    assert {model.settings.threshold for model in changed.models.values()} == {0.9}
    assert {model.version for model in changed.models.values()} == {model.version for model in OWN.models.values()}
