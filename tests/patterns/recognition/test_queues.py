"""The earliest start of a match: what it is on plain cases, and that windows are kept however long they are."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.spec import AfterMatch, Report, spec_of
from tests.patterns.running import Found, batch_of, found_in, run

WHERE = {"a": "x", "b": "y", "c": "z"}


def pattern(text: str, **rules: object) -> CompiledPattern:
    return compile_pattern(spec_of("p", text, WHERE, **rules))


def truths(letters: str) -> list[dict[str, bool]]:
    return [{name: name == letter for name in WHERE} for letter in letters]


def found(one: CompiledPattern, letters: str, times: list[int] | None = None) -> list[Found]:
    return run([one], [truths(letters)], [times or list(range(len(letters)))])


def spans(one: CompiledPattern, letters: str) -> list[tuple[int, int, int]]:
    return [(f.time, f.start_time, f.first_start_time) for f in found(one, letters)]


@pytest.mark.parametrize(
    ("text", "letters", "expected"),
    [
        ("a{3,}", "-aaaaa", [(3, 1, 1), (4, 2, 1), (5, 3, 1)]),
        ("a{2}", "aaaa", [(1, 0, 0), (2, 1, 1), (3, 2, 2)]),
        ("any(a, b)", "a-a-b", [(4, 2, 0)]),
        ("next(a, b)", "a-a-b", [(4, 2, 0)]),
        ("a* ; b", "aab-b", [(2, 2, 0), (4, 4, 4)]),
        ("hidden c ; a* ; b", "acaab", [(4, 2, 2)]),
        ("hidden _* ; a ; b", "ab", [(1, 0, 0)]),
        ("(a ; a)* ; b", "aaaaaaab", [(7, 7, 1)]),
    ],
)
def test_the_earliest_start_is_that_of_the_longest_stretch_that_matches_here(
    text: str, letters: str, expected: list[tuple[int, int, int]]
) -> None:
    assert spans(pattern(text), letters) == expected


def test_a_window_lets_the_next_start_take_over_when_the_earliest_expires() -> None:
    assert spans(pattern("any(a, b)", window_us=4), "aa-abb--b") == [(4, 3, 0), (5, 3, 1)]
    assert spans(pattern("any(a, b)", window_events=4), "aa-abb") == [(4, 3, 1), (5, 3, 3)]


def test_a_restart_and_a_silence_leave_no_earlier_start() -> None:
    assert spans(pattern("a{2,}", after_match=AfterMatch.RESTART), "aaaa") == [(1, 0, 0), (3, 2, 2)]
    rows = found(pattern("a{2,}", max_gap_us=5), "aaaa", [0, 1, 20, 21])
    assert [(f.time, f.first_start_time) for f in rows] == [(1, 0), (21, 20)]


def test_an_episode_began_with_the_earliest_start_of_its_first_detection() -> None:
    rows = found(pattern("a ; a* ; b+", report=Report.EPISODES), "-aaabbb-")
    assert [(f.status, f.start_time, f.first_start_time) for f in rows] == [
        ("opened", 3, 1), ("updated", 3, 1), ("closed", 3, 1), ("updated", 3, 1),
    ]  # fmt: skip


def test_a_long_stay_keeps_its_beginning_while_its_events_are_not_looked_at_one_by_one() -> None:
    episodes = pattern("a{3,}", report=Report.EPISODES)
    rows = found(episodes, "-" + "a" * 5000 + "-" + "a" * 4)
    assert {(f.start_time, f.first_start_time) for f in rows} == {(1, 1), (5002, 5002)}
    assert spans(pattern("a{3,} ; b"), "-" + "a" * 5000 + "b") == [(5001, 4998, 1)]


@pytest.mark.parametrize("text", ["a{70,80}", "any(a, b)"])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32), cuts=st.lists(st.integers(0, 900), min_size=0, max_size=6))
def test_all_starts_of_a_long_window_are_kept_wherever_the_track_is_cut(text: str, seed: int, cuts: list[int]) -> None:
    random = Random(seed)
    letters = "".join(random.choice("ab") * random.choice([1, 2, 40, 200]) for _ in range(30))[:900]
    times = np.cumsum([random.choice([0, 1, 1, 2]) for _ in letters]).tolist()
    window = random.choice([75, 300, 2000])
    recogniser = PatternRecogniser([pattern(text, window_us=window)])
    state, rows = recogniser.fresh(1), list[Found]()
    edges = sorted({0, *(c for c in cuts if c < len(letters)), len(letters)})
    for first, end in pairwise(edges):
        part: EventBatch = batch_of(recogniser, [truths(letters[first:end])], [times[first:end]])
        matches, state = recogniser.advance(part, state)
        rows += found_in(matches, recogniser, part.first_of)
    starts = starts_of_runs if text.startswith("a{") else starts_of_pairs
    expected = {k + 1: found for k in range(len(letters)) if (found := starts(letters, times, k, window))}
    told = {f.index: (f.start_time, f.first_start_time) for f in rows}
    assert told == {k: (times[max(found)], times[min(found)]) for k, found in expected.items()}


def test_a_pattern_that_goes_on_in_another_catalog_keeps_its_earliest_start() -> None:
    windowed, other = pattern("any(a, b)", window_us=10), compile_pattern(spec_of("o", "c", WHERE, window_us=3))
    plain = compile_pattern(spec_of("q", "any(a, b)", WHERE))
    for before, after in (([plain, windowed], [other, windowed, plain]), ([windowed, plain], [plain])):
        first, second = PatternRecogniser(before), PatternRecogniser(after)
        _, state = first.advance(batch_of(first, [truths("aa")], [[0, 1]]), first.fresh(1))
        part = batch_of(second, [truths("b")], [[2]])
        matches, _ = second.advance(part, second.migrated(state, first.form))
        assert {(f.start_time, f.first_start_time) for f in found_in(matches, second, part.first_of)} == {(1, 0)}


def starts_of_runs(letters: str, times: list[int], k: int, window: int) -> list[int]:
    lengths = range(70, 81)
    return [
        k - n + 1
        for n in lengths
        if n <= k + 1 and letters[k - n + 1 : k + 1] == "a" * n and times[k] - times[k - n + 1] <= window
    ]


def starts_of_pairs(letters: str, times: list[int], k: int, window: int) -> list[int]:
    if letters[k] != "b":
        return []
    return [s for s in range(k) if letters[s] == "a" and times[k] - times[s] <= window]
