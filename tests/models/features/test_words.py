"""Learned conditions as a reader says them."""

import pytest

from foresail.models.features.words import in_words, is_learned


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("7000 <= port.distance_m < 8000 and 7 <= speed_kn < 11", "7 to 8 km off the port, 7 to 11 kn"),
        ("coast_distance_m >= 18500", "18.5 km or more off the coast"),
        ("port.distance_m < 350 and speed_kn >= 8.1", "less than 350 m off the port, 8.1 kn or more"),
        ("course_deg < 90 and implied_speed_kn < 3", "course less than 90°, implied speed less than 3 kn"),
        ("600 <= gap_s < 1200", "gap 10 to 20 min"),
        ("vessel_type = 'tug' and in_port = false", "vessel type tug, not in port"),
        ("vessel_type != 'tug' and vessel_type != 'cargo'", "vessel type not tug, vessel type not cargo"),
        ("fuel_level >= 0.25", "fuel level 0.25 or more"),
        ("speed_kn < 3 or speed_kn > 9", "speed_kn < 3 or speed_kn > 9"),
        ("abs(turn_rate) > 3", "abs(turn_rate) > 3"),
    ],
)
def test_a_condition_is_told_in_words(text: str, words: str) -> None:
    assert in_words(text) == words


def test_learned_conditions_are_known_by_their_name() -> None:
    assert is_learned("leaf_18")
    assert not is_learned("leafy")
