"""Learned features: leaves of a tree as exclusive, readable conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.models.features.learning import FeatureLearningError, learn_features, with_features
from foresail.models.features.leaves import rounded
from foresail.models.features.words import Attributes
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions import AttributeType
from foresail.patterns.conditions.evaluate import ArrayColumn, evaluate
from foresail.patterns.conditions.parser import parse_condition
from foresail.patterns.errors import Place
from foresail.patterns.spec import spec_of

HORIZON = 40
ENTRY = spec_of("entry", "out ; out ; in_", {"out": "port_m >= 5000", "in_": "port_m < 5000"})


def columns_of(rows: int, seed: int, unknown: float = 0.0) -> dict[str, ArrayColumn]:
    random = np.random.default_rng(seed)
    words = ("cargo", "ferry", "tug")
    valid = random.random(rows) >= unknown
    return {
        "port_m": ArrayColumn(random.uniform(0, 10_000, rows), None, AttributeType.NUMBER),
        "speed_kn": ArrayColumn(random.uniform(0, 20, rows), valid, AttributeType.NUMBER),
        "bound_in": ArrayColumn(random.random(rows) < 0.5, None, AttributeType.BOOLEAN),
        "kind": ArrayColumn(random.integers(0, 3, rows).astype(np.int32), None, AttributeType.STRING, words),
    }


def until_of(columns: dict[str, ArrayColumn]) -> np.ndarray:
    away = np.maximum(columns["port_m"].values - 5000, 0) / (10 + 20 * columns["speed_kn"].values)
    never = ~columns["bound_in"].values | (columns["kind"].values == 2)
    return np.where(never, HORIZON + 1, np.clip(away, 1, HORIZON + 1)).astype(np.int64)


def learned_from(columns: dict[str, ArrayColumn], leaves: int = 24) -> tuple[str, ...]:
    conditions = compile_pattern(ENTRY).conditions
    found = learn_features(Attributes.of(columns, list(columns)), until_of(columns), HORIZON, conditions, leaves)
    return tuple(feature.text for feature in found.features)


def holding(texts: tuple[str, ...], columns: dict[str, ArrayColumn]) -> np.ndarray:
    return np.array([evaluate(parse_condition(text, Place("leaf")), columns) for text in texts])


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_every_known_event_is_in_exactly_one_leaf_and_an_unknown_one_in_at_most_one(seed: int) -> None:
    columns = columns_of(2000, seed)
    texts = learned_from(columns)
    assert (holding(texts, columns).sum(axis=0) == 1).all()
    with_unknown = columns_of(2000, seed + 1, unknown=0.3)
    assert (holding(texts, with_unknown).sum(axis=0) <= 1).all()


def test_leaves_are_ordered_by_how_soon_a_match_comes_and_count_their_events() -> None:
    columns = columns_of(4000, 1)
    found = learn_features(Attributes.of(columns, list(columns)), until_of(columns), HORIZON).features
    assert [f.mean_until for f in found] == sorted(f.mean_until for f in found)
    assert sum(f.events for f in found) == 4000


def test_a_threshold_near_one_of_the_pattern_becomes_that_one() -> None:
    assert rounded(5033.7, [5000.0]) == 5000
    assert rounded(5633.7, [5000.0]) == 5630
    assert rounded(0.012345) == 0.0123
    assert rounded(0.0) == 0.0


def test_words_and_booleans_read_as_tests_that_the_unknown_fails() -> None:
    texts = " ; ".join(learned_from(columns_of(4000, 3), leaves=12))
    assert "bound_in = false" in texts
    assert 'kind = "tug"' in texts or 'kind != "tug"' in texts


def test_the_leaves_take_the_place_of_the_features_and_the_alphabet_grows_with_them_alone() -> None:
    columns = columns_of(6000, 5)
    conditions = compile_pattern(ENTRY).conditions
    found = learn_features(Attributes.of(columns, list(columns)), until_of(columns), HORIZON, conditions, 40).features
    pattern = compile_pattern(with_features(ENTRY, found))
    assert 20 <= len(found) <= 40
    assert len(found) <= len(pattern.alphabet) <= 2 * len(found) + 2


def test_an_attribute_that_is_mostly_unknown_is_left_out_and_told() -> None:
    columns = columns_of(1000, 7, unknown=0.5)
    found = learn_features(Attributes.of(columns, list(columns)), until_of(columns), HORIZON)
    assert found.left_out == ("speed_kn",)
    assert not any("speed_kn" in feature.text for feature in found.features)


def test_nothing_to_learn_from_is_said_in_one_line() -> None:
    columns = {"speed_kn": ArrayColumn(np.zeros(100), np.zeros(100, dtype=bool), AttributeType.NUMBER)}
    with pytest.raises(FeatureLearningError, match=r"speed_kn too often unknown.*Allow other attributes"):
        learn_features(Attributes.of(columns, ["speed_kn"]), np.ones(100, dtype=np.int64), HORIZON)
