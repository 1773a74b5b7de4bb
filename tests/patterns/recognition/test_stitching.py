"""A track run in slices and stitched shows what the whole track shows, to the row."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from patterns.compiler import CompiledPattern, compile_pattern
from patterns.errors import PatternError
from patterns.recognition.matches import Matches, joined
from patterns.recognition.recogniser import Batch, Recogniser
from patterns.recognition.stitching import speculate, stitch
from patterns.spec import AfterMatch, Report, spec_of

WHERE = {"low": "x < 3", "high": "x >= 5", "odd": "x == 1 or x == 3", "every": "x >= 0"}
SHAPES = (
    "{0} ; {1}+",
    "{0}{{2,}}",
    "any({0}, {1}, {2})",
    "next({0}, {1})",
    "{0} ; {1}* ; {2}",
    "{0} ; every{{3}} ; {1}",
)
COLUMNS = ("event", "pattern", "status", "index", "time", "start_time", "id_time", "id_tie")


def random_patterns(random: Random) -> list[CompiledPattern]:
    found: list[CompiledPattern] = []
    while len(found) < 5:
        episodes = random.random() < 0.5
        rules = {
            "window_us": random.choice([None, None, 6]),
            "window_events": random.choice([None, None, 7]),
            "max_gap_us": random.choice([None, 4]),
            "after_match": random.choice(list(AfterMatch)),
            "report": Report.EPISODES if episodes else Report.EACH,
            "min_dwell_us": random.choice([0, 3]) if episodes else 0,
        }
        try:
            text = random.choice(SHAPES).format(*random.choices(list(WHERE), k=3))
            found.append(compile_pattern(spec_of(f"p{len(found)}", text, WHERE, **rules)))  # type: ignore[arg-type]
        except PatternError:
            continue
    return found


def random_track(random: Random, recogniser: Recogniser, events: int) -> Batch:
    from patterns.conditions import AttributeType
    from patterns.conditions.evaluate import ArrayColumn
    from patterns.conditions.packing import packed

    # long stretches of one value, so that some slices begin in the middle of an episode
    values = np.repeat(
        [random.randrange(7) for _ in range(events)], [random.choice([1, 1, 2, 9]) for _ in range(events)]
    )
    values = values[:events].astype(np.int64)
    times = np.cumsum([random.choice([0, 1, 1, 1, 6]) for _ in range(events)]).astype(np.int64)
    words = packed(recogniser.conditions, {"x": ArrayColumn(values, None, AttributeType.INTEGER)}, events)
    return Batch(words, times, np.array([0, events]))


def cuts_between_times(random: Random, times: np.ndarray) -> list[int]:
    places = np.flatnonzero(np.diff(times)) + 1
    return [0, *sorted(random.sample(places.tolist(), min(3, len(places)))), len(times)]


def rows(matches: Matches) -> list[tuple[int, ...]]:
    return sorted(zip(*(getattr(matches, name).tolist() for name in COLUMNS), strict=True))


@pytest.mark.parametrize("seed", range(40))
def test_slices_stitched_equal_the_whole(seed: int) -> None:
    random = Random(seed)
    recogniser = Recogniser(random_patterns(random))
    track = random_track(random, recogniser, events=random.randint(5, 160))
    expected, _ = recogniser.advance(track, recogniser.fresh(1))
    cuts = cuts_between_times(random, track.times)
    state, found = recogniser.fresh(1), []
    for begin, end in pairwise(cuts):
        part = Batch(track.words[begin:end], track.times[begin:end], np.array([0, end - begin]))
        matches, state, _ = stitch(recogniser, part, state, speculate(recogniser, part, block=5), block=5)
        found.append(
            Matches(**{f: getattr(matches, f) for f in Matches.__slots__ if f != "event"}, event=matches.event + begin)
        )
    assert rows(joined(found)) == rows(expected)


def test_a_pattern_that_forgets_is_hardly_run_again() -> None:
    recogniser = Recogniser([compile_pattern(spec_of("stay", "high{3,}", WHERE, report=Report.EPISODES))])
    track = random_track(Random(1), recogniser, events=2000)
    half = int(np.flatnonzero(np.diff(track.times))[900]) + 1
    first, second = (
        Batch(track.words[part], track.times[part], np.array([0, len(track.times[part])]))
        for part in (slice(0, half), slice(half, None))
    )
    _, state = recogniser.advance(first, recogniser.fresh(1))
    _, _, again = stitch(recogniser, second, state, speculate(recogniser, second, block=20), block=20)
    assert again <= 3
