import numpy as np

from foresail.patterns.compiler import compile_pattern
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.expiry import not_yet_emitted, overdue
from foresail.patterns.recognition.matches import STATUS
from foresail.patterns.recognition.protocol import NEVER_SEEN, Clock
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.spec import Report, spec_of

MINUTE = 60_000_000
PATTERN = compile_pattern(spec_of("stays", "a{2,}", {"a": "x"}, max_gap_us=10 * MINUTE, report=Report.EPISODES))
RECOGNISER = PatternRecogniser([PATTERN])
NUMBERS = np.zeros(1, dtype=np.int32)


def events_at(times: list[int]) -> EventBatch:
    return EventBatch(np.ones((len(times), 1), dtype=np.int64), np.array(times), np.array([0, len(times)]))


def after(times: list[int]) -> object:
    """The state of one track whose events all satisfy the condition."""
    return RECOGNISER.advance(events_at(times), RECOGNISER.fresh(1))[1].detecting


def found(times: list[int], before: int, now: int, touched: bool = False) -> int:
    states = after(times)
    return len(overdue([PATTERN], states, NUMBERS, Clock(before, now), np.array([touched])))  # type: ignore[arg-type]


def test_an_episode_is_overdue_when_the_silence_exceeds_the_gap_and_once() -> None:
    times = [0, MINUTE]
    assert found(times, 0, 11 * MINUTE) == 0
    assert found(times, 11 * MINUTE, 11 * MINUTE + 1) == 1
    assert found(times, 11 * MINUTE + 1, 20 * MINUTE) == 0


def test_a_track_just_read_is_overdue_if_time_has_passed_it_already() -> None:
    assert found([0, MINUTE], 20 * MINUTE, 20 * MINUTE, touched=True) == 1


def test_nothing_is_overdue_without_a_reported_episode() -> None:
    assert found([0], 0, 60 * MINUTE) == 0


def test_the_row_is_the_one_that_the_next_event_brings() -> None:
    states = after([0, MINUTE, 2 * MINUTE])
    told = overdue([PATTERN], states, NUMBERS, Clock(0, 60 * MINUTE), np.array([False]))  # type: ignore[arg-type]
    batch = EventBatch(
        np.ones((4, 1), dtype=np.int64), np.array([0, MINUTE, 2 * MINUTE, 60 * MINUTE]), np.array([0, 4])
    )
    matches, _ = RECOGNISER.advance(batch, RECOGNISER.fresh(1))
    (row,) = np.flatnonzero(matches.status == STATUS.index("timed_out"))
    for name in ("pattern", "status", "index", "time", "start_time", "id_time", "id_tie"):
        assert getattr(told, name)[0] == getattr(matches, name)[row]


def test_what_the_clock_has_emitted_is_not_emitted_by_the_next_event() -> None:
    silent_since = np.array([MINUTE])
    _, state = RECOGNISER.advance(events_at([0, MINUTE]), RECOGNISER.fresh(1))
    batch = events_at([60 * MINUTE, 61 * MINUTE])
    matches, _ = RECOGNISER.advance(batch, state)
    (row,) = np.flatnonzero(matches.status == STATUS.index("timed_out"))

    def left(last_time: int, until: int) -> int:
        last, now = np.array([last_time]), np.array([until])
        return len(matches) - len(not_yet_emitted(matches, [PATTERN], batch, last, now))

    assert matches.event[row] == 0
    assert left(silent_since[0], 11 * MINUTE + 1) == 1
    assert left(silent_since[0], 11 * MINUTE) == 0, "the clock has not come beyond the deadline"
    assert left(NEVER_SEEN, 60 * MINUTE) == 0, "nothing was known of the track"
