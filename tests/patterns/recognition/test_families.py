"""A family over sparse rows finds exactly what one pattern per feature finds."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.errors import CannotMatchError
from foresail.patterns.recognition.events import EventBatch, Near
from foresail.patterns.recognition.families import FamilyRecogniser, FarMatchError
from foresail.patterns.spec import AfterMatch, Report, spec_of
from tests.patterns.layered import LAYER, beside
from tests.patterns.running import run, words_of

FEATURES = 4
WHERE = {
    "near": "port.distance_m < 3",
    "ring": "3 <= port.distance_m < 6",
    "far": "port.distance_m >= 6",
    "far_fast": "port.distance_m >= 3 and fast",
    "fast": "fast",
}
PATTERNS = [
    "ring ; near",
    "far ; far ; near",
    "near ; far",
    "near ; far_fast+",
    "near ; absent(near) ; ring",
    "any(near, far, near)",
    "next(near, fast)",
    "near{2,} ; (ring | far)",
]


def truth(distance: float, fast: bool) -> dict[str, bool]:
    return {
        "near": distance < 3,
        "ring": 3 <= distance < 6,
        "far": distance >= 6,
        "far_fast": distance >= 3 and fast,
        "fast": fast,
    }


def random_families(random: Random) -> list[CompiledPattern]:
    families = []
    for n, text in enumerate(random.sample(PATTERNS, 3)):
        rules: dict[str, object] = {"after_match": random.choice(list(AfterMatch))}
        if random.random() < 0.5:
            rules |= random.choice([{"window_us": 4}, {"window_events": 4}])
        if random.random() < 0.5:
            rules["max_gap_us"] = 3
        if random.random() < 0.3:
            rules |= {"report": Report.EPISODES, "min_dwell_us": random.choice([0, 2])}
        try:
            families.append(compile_pattern(spec_of(f"{n}", text, WHERE, family="port", **rules)))
        except CannotMatchError:
            continue
    return families


def random_journey(random: Random) -> tuple[list[list[float]], list[bool], list[int]]:
    """Distances to each feature, speed, and times."""
    distances: list[list[float]] = []
    fast: list[bool] = []
    for _ in range(random.randint(0, 14)):
        stay = random.choice([1, 1, 2, 5, 12])  # long enough for runs to settle, so that the kernel skips
        distances += [[random.choice([1, 4, 9, 9, 9]) for _ in range(FEATURES)]] * stay
        fast += [random.random() < 0.5] * stay
    times = [int(t) for t in np.cumsum([random.choice([0, 1, 1, 1, 1, 2, 5]) for _ in fast])]
    return distances, fast, times


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 40))
def test_a_family_equals_one_pattern_per_feature_however_it_is_cut(seed: int, cut: int) -> None:
    random = Random(seed)
    families = random_families(random)
    if not families:
        return
    journeys = [random_journey(random) for _ in range(3)]
    expected = set()
    for track, (distances, fast, times) in enumerate(journeys):
        for feature in range(FEATURES):
            events = [truth(row[feature], f) for row, f in zip(distances, fast, strict=True)]
            expected |= {
                (f.pattern, track, feature, f.status, f.index, f.start_time, f.first_start_time, f.identity)
                for f in run(families, [events], [times])
            }
    assert found_sparsely(families, journeys, cut) == expected


def found_sparsely(families: list[CompiledPattern], journeys: list, cut: int) -> set[tuple]:  # type: ignore[type-arg]
    recogniser = FamilyRecogniser(families, LAYER)
    state = recogniser.fresh(len(journeys))
    found = set()
    for part in (slice(0, cut), slice(cut, None)):
        pieces = [(d[part], f[part], t[part]) for d, f, t in journeys]
        batch, near = sparse(recogniser, pieces)
        matches, state = recogniser.advance(beside(batch, near), state)
        for i in range(len(matches)):
            track = int(np.searchsorted(batch.first_of, matches.event[i], side="right")) - 1
            found.add(
                (
                    families[matches.pattern[i]].name, track, int(matches.feature[i]),
                    ("detected", "opened", "updated", "closed", "timed_out")[matches.status[i]],
                    int(matches.index[i]), int(matches.start_time[i]), int(matches.first_start_time[i]),
                    (int(matches.id_time[i]), int(matches.id_tie[i])),
                )
            )  # fmt: skip
    return found


def sparse(recogniser: FamilyRecogniser, pieces: list) -> tuple[EventBatch, Near]:  # type: ignore[type-arg]
    """Far words for every event; rows only for features nearer than 6."""
    far, near, counts, features = [], [], [], []
    for distances, fast, _ in pieces:
        for row, f in zip(distances, fast, strict=True):
            far.append(truth(np.inf, f))
            close = [n for n in range(FEATURES) if row[n] < 6]
            near += [truth(row[n], f) for n in close]
            features += close
            counts.append(len(close))
    times = np.array([t for _, _, ts in pieces for t in ts], dtype=np.int64)
    batch = EventBatch(words_of(recogniser, far), times, np.cumsum([0, *(len(t) for _, _, t in pieces)]))
    at = np.cumsum([0, *counts]).astype(np.int64)
    return batch, Near(at, np.array(features, dtype=np.int32), words_of(recogniser, near))


def test_a_family_that_matches_everywhere_is_refused() -> None:
    family = compile_pattern(spec_of("outside", "far ; far", WHERE, family="port"))
    recogniser = FamilyRecogniser([family], LAYER)
    batch, near = sparse(recogniser, [([[9.0] * FEATURES] * 2, [True, True], [0, 1])])
    with pytest.raises(FarMatchError, match="far from every feature"):
        recogniser.advance(beside(batch, near), recogniser.fresh(1))
