"""A track run in slices and stitched shows what the whole track shows, to the row."""

from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.conditions import AttributeType
from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.patterns.conditions.packing import packed
from foresail.patterns.errors import PatternError
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.matches import Matches, joined
from foresail.patterns.recognition.monitor import Monitor
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.recognition.stitching import beginning_of, state_after, stitch
from foresail.patterns.spec import AfterMatch, Report, spec_of

WHERE = {"low": "x < 3", "high": "x >= 5", "odd": "x == 1 or x == 3", "every": "x >= 0"}
SHAPES = (
    "{0} ; {1}+",
    "{0}{{2,}}",
    "any({0}, {1}, {2})",
    "next({0}, {1})",
    "{0} ; {1}* ; {2}",
    "{0} ; every{{3}} ; {1}",
)
COLUMNS = ("event", "pattern", "status", "index", "time", "start_time", "first_start_time", "id_time", "id_tie")


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


def random_track(random: Random, recogniser: PatternRecogniser, events: int) -> EventBatch:
    # long stretches of one value, so that some slices begin in the middle of an episode
    values = np.repeat(
        [random.randrange(7) for _ in range(events)], [random.choice([1, 1, 2, 9]) for _ in range(events)]
    )
    times = np.cumsum([random.choice([0, 1, 1, 1, 6]) for _ in range(events)])
    return track_of(recogniser, values[:events], times)


def track_of(recogniser: PatternRecogniser, values: np.ndarray, times: np.ndarray) -> EventBatch:
    column = ArrayColumn(values.astype(np.int64), None, AttributeType.INTEGER)
    words = packed(recogniser.conditions, {"x": column}, len(values))
    return EventBatch(words, times.astype(np.int64), np.array([0, len(values)]))


def cuts_between_times(random: Random, times: np.ndarray) -> list[int]:
    places = np.flatnonzero(np.diff(times)) + 1
    return [0, *sorted(random.sample(places.tolist(), min(3, len(places)))), len(times)]


def rows(matches: Matches) -> list[tuple[int, ...]]:
    return sorted(zip(*(getattr(matches, name).tolist() for name in COLUMNS), strict=True))


def part_of(track: EventBatch, begin: int, end: int) -> EventBatch:
    return EventBatch(track.words[begin:end], track.times[begin:end], np.array([0, end - begin]))


def in_slices(monitor: Monitor, track: EventBatch, cuts: list[int], least: int) -> Matches | None:
    """What slices run apart and stitched show, or None where that cannot be told."""
    state, found = monitor.fresh(1), []
    for begin, end in pairwise(cuts):
        slice_ = part_of(track, begin, end)
        beginning = beginning_of(monitor, slice_, block=5, least=least)
        rest = part_of(track, begin + beginning.events, end)
        (later,), last = monitor.advance(rest, state_after(beginning, begin))
        stitched = stitch(monitor, part_of(slice_, 0, beginning.events), beginning, state)
        if beginning.events < end - begin and not stitched.settled:
            return None
        state = last if beginning.events < end - begin else stitched.after
        found += [
            replace(stitched.matches, event=stitched.matches.event + begin),
            replace(later.results, event=later.results.event + begin + beginning.events),
        ]
    return joined(found)


@pytest.mark.parametrize("seed", range(120))
def test_slices_stitched_equal_the_whole(seed: int) -> None:
    random = Random(seed)
    recogniser = PatternRecogniser(random_patterns(random))
    track = random_track(random, recogniser, events=random.randint(5, 300))
    expected, _ = recogniser.advance(track, recogniser.fresh(1))
    found = in_slices(
        Monitor([recogniser]), track, cuts_between_times(random, track.times), least=random.choice([1, 3])
    )
    assert found is None or rows(found) == rows(expected)


def test_slices_can_mostly_be_stitched() -> None:
    stitched = 0
    for seed in range(60):
        random = Random(seed)
        recogniser = PatternRecogniser(random_patterns(random))
        track = random_track(random, recogniser, events=300)
        stitched += in_slices(Monitor([recogniser]), track, [0, 100, 200, 300], least=3) is not None
    assert stitched > 40


def test_a_pattern_that_forgets_has_a_short_beginning_of_which_little_is_run_again() -> None:
    recogniser = PatternRecogniser([compile_pattern(spec_of("stay", "high{3,}", WHERE, report=Report.EPISODES))])
    track = random_track(Random(1), recogniser, events=2000)
    half = int(np.flatnonzero(np.diff(track.times))[900]) + 1
    monitor = Monitor([recogniser])
    _, state = monitor.advance(part_of(track, 0, half), monitor.fresh(1))
    beginning = beginning_of(monitor, part_of(track, half, 2000), block=20, least=4)
    stitched = stitch(monitor, part_of(track, half, half + beginning.events), beginning, state)
    assert beginning.events == 80
    assert stitched.settled
    assert stitched.blocks_again <= 3


def test_a_run_from_before_the_slice_that_never_ends_cannot_be_stitched() -> None:
    recogniser = PatternRecogniser([compile_pattern(spec_of("waits", "any(odd, high)", WHERE))])
    values = np.array([1, *[6] * 199])
    track = track_of(recogniser, values, np.arange(200))
    monitor = Monitor([recogniser])
    _, state = monitor.advance(part_of(track, 0, 50), monitor.fresh(1))
    beginning = beginning_of(monitor, part_of(track, 50, 200), block=5, least=2)
    assert beginning.events < 150
    assert not stitch(monitor, part_of(track, 50, 50 + beginning.events), beginning, state).settled
