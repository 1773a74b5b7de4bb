"""Recognition equals the definition, on random patterns and tracks, and does not depend on how events are cut."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.conditions.parser import parse_condition
from foresail.patterns.errors import CannotMatchError, Place, StateExplosionError
from foresail.patterns.language.syntax import pattern_text
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.impossible import ImpossibleEventError
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.recognition.tables import MOST_TRACKED_RUNS
from foresail.patterns.spec import MOST_LISTED, AfterMatch, Output, Report, spec_of
from tests.patterns.brute_force import matches_by_event
from tests.patterns.random_patterns import (
    TRUTHS,
    WHERE,
    Track,
    random_pattern,
    random_rules,
    random_track,
    stretched_track,
)
from tests.patterns.running import batch_of, found_in, run

TRACKS_PER_PATTERN = 20


def truths(track: Track) -> list[dict[str, bool]]:
    return [{name: holds(x) for name, holds in TRUTHS.items()} for x in track.values]


def compiled(random: Random, names: str, **rules: object) -> list[CompiledPattern]:
    """Random patterns that can match, one for each name."""
    found: list[CompiledPattern] = []
    while len(found) < len(names):
        text = pattern_text(random_pattern(random))
        try:
            found.append(compile_pattern(spec_of(names[len(found)], text, WHERE, **(rules or random_rules(random)))))
        except (CannotMatchError, StateExplosionError):
            continue
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_recognition_equals_the_definition(seed: int) -> None:
    random = Random(seed)
    pattern, rules, restart = random_pattern(random), random_rules(random), random.random() < 0.3
    tracks = [random_track(random) for _ in range(TRACKS_PER_PATTERN)]
    expected = [
        matches_by_event(
            pattern, [lambda c, x=x: TRUTHS[c](x) for x in track.values], track.times, restart=restart, **rules
        )
        for track in tracks
    ]
    after = AfterMatch.RESTART if restart else AfterMatch.CONTINUE
    try:
        patterns = [
            compile_pattern(
                spec_of(o.value, pattern_text(pattern), WHERE, output=o, after_match=after, limit=MOST_LISTED, **rules)
            )
            for o in Output
        ]
    except CannotMatchError:
        assert not any(expected)
        return
    except StateExplosionError:
        return
    found = run(patterns, [truths(t) for t in tracks], [t.times for t in tracks])
    for n, track in enumerate(tracks):
        mine = [f for f in found if f.track == n]
        detected = {f.index: f.start_time for f in mine if f.pattern == "detect"}
        assert set(detected) == set(expected[n])
        if patterns[0].nfa.states <= MOST_TRACKED_RUNS or "window_us" in rules or "window_events" in rules:
            assert detected == {k: max(track.times[min(s) - 1] for s in sets) for k, sets in expected[n].items()}
            earliest = {k: min(track.times[min(s) - 1] for s in sets) for k, sets in expected[n].items()}
            for output in ("detect", "count"):
                assert {f.index: f.first_start_time for f in mine if f.pattern == output} == earliest
        assert all(f.first_start_time == f.start_time for f in mine if f.pattern == "enumerate")
        assert {f.index: f.count for f in mine if f.pattern == "count"} == {k: len(s) for k, s in expected[n].items()}
        listed = [(f.index, f.events) for f in mine if f.pattern == "enumerate"]
        assert sorted(listed) == sorted((k, tuple(sorted(s))) for k, sets in expected[n].items() for s in sets)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_many_patterns_in_one_pass_find_what_each_finds_alone(seed: int) -> None:
    random = Random(seed)
    patterns = compiled(random, "abcdefgh")
    tracks = [random_track(random, 30) for _ in range(5)]
    events, times = [truths(t) for t in tracks], [t.times for t in tracks]
    together = run(patterns, events, times)
    assert together == [f for p in patterns for f in run([p], events, times)]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.data())
def test_cutting_a_batch_anywhere_changes_nothing(seed: int, data: st.DataObject) -> None:
    random = Random(seed)
    patterns = [
        *compiled(random, "abc"),
        *compiled(random, "d", report=Report.EPISODES, min_dwell_us=2),
        *compiled(random, "e", output=Output.ENUMERATE, limit=50, window_events=6),
        *compiled(random, "f", output=Output.COUNT),
    ]
    tracks = [random_track(random, 12), stretched_track(random, 30), stretched_track(random, 30)]
    recogniser = PatternRecogniser(patterns)
    events = [truths(t) for t in tracks]
    whole = batch_of(recogniser, events, [t.times for t in tracks])
    expected = found_in(recogniser.advance(whole, recogniser.fresh(3))[0], recogniser, whole.first_of)
    cuts = [data.draw(st.integers(0, len(t.values)), label="cut") for t in tracks]
    first = batch_of(
        recogniser,
        [e[:c] for e, c in zip(events, cuts, strict=True)],
        [t.times[:c] for t, c in zip(tracks, cuts, strict=True)],
    )
    second = batch_of(
        recogniser,
        [e[c:] for e, c in zip(events, cuts, strict=True)],
        [t.times[c:] for t, c in zip(tracks, cuts, strict=True)],
    )
    one, state = recogniser.advance(first, recogniser.fresh(3))
    order = np.array(data.draw(st.permutations(range(3))))
    there_and_back = recogniser.rearranged(recogniser.rearranged(state, order), np.argsort(order))
    two, _ = recogniser.advance(second, there_and_back)
    rows = found_in(one, recogniser, first.first_of) + found_in(two, recogniser, second.first_of)
    assert sorted(rows, key=repr) == sorted(expected, key=repr)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32))
def test_other_tracks_change_nothing(seed: int) -> None:
    random = Random(seed)
    patterns = compiled(random, "abc")
    tracks = [random_track(random, 12) for _ in range(4)]
    together = run(patterns, [truths(t) for t in tracks], [t.times for t in tracks])
    for n, track in enumerate(tracks):
        alone = run(patterns, [truths(track)], [track.times])
        assert [(f.pattern, f.index, f.start_time) for f in together if f.track == n] == [
            (f.pattern, f.index, f.start_time) for f in alone
        ]


def test_a_full_memo_is_emptied_and_nothing_is_lost() -> None:
    """More combinations of conditions, and of states, than the memo holds."""
    names = [f"c{i}" for i in range(12)]
    triples = [(names[i], names[(i + 1) % 12], names[(i + 5) % 12]) for i in range(12)]
    patterns = [
        compile_pattern(spec_of(f"p{n:02}", " ; ".join(triple), {name: f"v_{name}" for name in triple}))
        for n, triple in enumerate(triples)
    ]
    random = Random(7)
    events = [{name: random.random() < 0.5 for name in names} for _ in range(6000)]
    assert len({tuple(e.values()) for e in events}) > 2048
    found = run(patterns, [events], [range(6000)])
    for n, (first, second, third) in enumerate(triples):
        expected = [
            k + 1 for k in range(2, len(events)) if events[k - 2][first] and events[k - 1][second] and events[k][third]
        ]
        assert [f.index for f in found if f.pattern == f"p{n:02}"] == expected


def test_a_limit_is_reported_not_hidden() -> None:
    pattern = compile_pattern(spec_of("p", "any(a+)", {"a": "x"}, output=Output.ENUMERATE, limit=5))
    found = run([pattern], [[{"a": True}] * 4], [range(4)])
    last = [f for f in found if f.index == 4]
    assert len(last) == 5
    assert {(f.count, f.omitted) for f in last} == {(8, 3)}


def test_counts_that_would_overflow_stop_at_a_ceiling() -> None:
    pattern = compile_pattern(spec_of("p", "any(a+)", {"a": "x"}, output=Output.COUNT))
    found = run([pattern], [[{"a": True}] * 80], [range(80)])
    assert found[59].count == 2**59
    assert found[79].count == np.iinfo(np.int64).max // 4


def test_events_that_break_a_declared_exclusion_are_named() -> None:
    pattern = compile_pattern(spec_of("p", "a ; b", {"a": "x", "b": "y"}, exclusive=(("a", "b"),)))
    with pytest.raises(ImpossibleEventError, match=r"p: conditions a, b held on one event.*exclusive"):
        run([pattern], [[{"a": True, "b": True}]], [[0]])


def test_no_events_find_nothing() -> None:
    recogniser = PatternRecogniser([compile_pattern(spec_of("p", "a", {"a": "x"}))])
    empty = EventBatch(np.empty((0, 1), dtype=np.int64), np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64))
    matches, _ = recogniser.advance(empty, recogniser.fresh(0))
    assert len(matches) == 0


def test_more_than_64_conditions_use_several_words() -> None:
    patterns = [compile_pattern(spec_of(f"p{i:03}", "a ; b", {"a": f"v{i}", "b": f"w{i}"})) for i in range(70)]
    recogniser = PatternRecogniser(patterns)
    assert recogniser.words == 3
    condition = [parse_condition(f"{letter}69", Place("x")) for letter in "vw"]
    words = np.zeros((2, 3), dtype=np.int64)
    for n, c in enumerate(condition):
        bit = recogniser.conditions.index(c)
        words[n, bit // 64] = np.array([1 << bit % 64], dtype=np.uint64).view(np.int64)[0]
    matches, _ = recogniser.advance(EventBatch(words, np.arange(2), np.array([0, 2])), recogniser.fresh(1))
    assert [(int(p), int(i)) for p, i in zip(matches.pattern, matches.index, strict=True)] == [(69, 2)]


def test_a_long_pattern_without_a_window_tells_when_it_got_under_way() -> None:
    pattern = compile_pattern(spec_of("p", "a{40,}", {"a": "x"}))
    events = [{"a": n not in (3, 60)} for n in range(120)]
    found = run([pattern], [events], [range(120)])
    assert [(f.index, f.start_time) for f in found[:2]] == [(44, 4), (45, 4)]
    assert {f.start_time for f in found if f.index > 61} == {61}
    assert [f.index for f in found] == [*range(44, 61), *range(101, 121)]
