"""Truth: events until the next match of the same track."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.models.scoring.truth import truth_of


def test_a_match_counts_from_the_events_before_it_and_never_across_tracks() -> None:
    matched = np.array([0, 0, 1, 0, 0, 0, 1], dtype=bool)
    truth = truth_of(matched, np.array([0, 4, 7]))
    assert truth.until.tolist() == [2, 1, 0, 0, 2, 1, 0]
    assert truth.left.tolist() == [3, 2, 1, 0, 2, 1, 0]


def test_events_near_the_end_of_a_track_are_not_known() -> None:
    truth = truth_of(np.zeros(5, dtype=bool), np.array([0, 5]))
    assert truth.known(2).tolist() == [True, True, True, False, False]


@settings(deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=12), min_size=1, max_size=4), st.integers(1, 6))
def test_within_is_what_looking_ahead_event_by_event_finds(tracks: list[list[bool]], within: int) -> None:
    matched = np.array([m for track in tracks for m in track], dtype=bool)
    first_of = np.cumsum([0, *map(len, tracks)])
    expected = [any(track[i + 1 : i + 1 + within]) for track in tracks for i in range(len(track))]
    assert truth_of(matched, first_of).within(within).tolist() == expected
