"""Sequences: a family is evaluated as one sequence per track and feature."""

import numpy as np

from foresail.models.scoring.sequences import family_sequences, plain_sequences
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions import AttributeType, parse_condition
from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.patterns.errors import Place
from foresail.patterns.spec import spec_of


def plain(lengths: list[int]):  # type: ignore[no-untyped-def]
    events = sum(lengths)
    columns = {"speed": ArrayColumn(np.arange(events, dtype=float), None, AttributeType.NUMBER)}
    return plain_sequences(columns, np.arange(events) * 60_000_000, np.cumsum([0, *lengths]))


def test_a_sequence_is_the_near_events_with_some_before_and_after_within_the_track() -> None:
    found = family_sequences(
        plain([10, 10]), np.array([1, 2, 12]), np.array([0, 0, 0]), np.array([5.0, 4.0, 3.0]), "port.distance_m", 2
    )
    assert found.first_of.tolist() == [0, 5, 10]
    assert found.event.tolist() == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]
    assert found.scored.tolist() == [False, True, True, False, False, False, False, True, False, False]
    assert found.columns["port.distance_m"].values[:3].tolist() == [np.inf, 5.0, 4.0]
    assert found.columns["speed"].values.tolist() == found.event.tolist()
    assert found.index.tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]


def test_near_stretches_that_touch_become_one_and_features_stay_apart() -> None:
    event, feature = np.array([1, 6, 1, 9]), np.array([0, 0, 1, 0])
    found = family_sequences(plain([12]), event, feature, np.zeros(4), "port.distance_m", 2)
    assert found.feature.tolist() == [0] * 12 + [1] * 4
    assert found.first_of.tolist() == [0, 12, 16]


def test_truth_knows_how_much_of_the_track_is_left_and_finds_matches_with_the_window() -> None:
    pattern = compile_pattern(
        spec_of("arrive", "out ; in_", {"out": "port.distance_m >= 5", "in_": "port.distance_m < 5"}, family="port")
    )
    found = family_sequences(
        plain([10]), np.array([4, 5]), np.array([0, 0]), np.array([7.0, 2.0]), "port.distance_m", 3
    )
    matched = found.matched(pattern)
    assert found.event[matched].tolist() == [5]
    truth = found.truth(matched)
    assert truth.until.tolist() == [4, 3, 2, 1, 0, 0, 0, 0]
    assert truth.left.tolist() == [8, 7, 6, 5, 4, 3, 2, 1]


def test_no_near_event_gives_no_sequence() -> None:
    none = np.empty(0, dtype=np.int64)
    assert len(family_sequences(plain([5]), none, none, np.empty(0), "port.distance_m", 2)) == 0


def test_one_near_stretch_in_two_tracks_is_two_though_no_event_lies_between() -> None:
    found = family_sequences(plain([3, 3]), np.array([2, 3]), np.zeros(2, int), np.zeros(2), "port.distance_m", 1)
    assert found.first_of.tolist() == [0, 2, 4]
    assert found.event.tolist() == [1, 2, 3, 4]


def test_the_sixty_fifth_condition_is_the_first_of_a_second_word() -> None:
    some = [parse_condition(f"speed >= {n}", Place("here")) for n in range(65)]
    words = plain([66]).words(some)
    assert words.shape == (66, 2)
    assert words[:, 1].tolist() == [0] * 64 + [1, 1]
    assert words[2].tolist() == [0b111, 0]
    assert plain([2]).words(some[:64]).shape == (2, 1)
