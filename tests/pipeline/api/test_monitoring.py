"""A monitor finds what a whole frame holds, however the events are cut, and goes on from its saved state."""

from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foresail as fs

PATTERNS = [
    fs.pattern("rise", "low ; high+", {"low": "x < 3", "high": "x >= 3"}, max_gap="5s"),
    fs.pattern("pairs", "any(low, high)", {"low": "x < 3", "high": "x >= 3"}, window="6s", output="enumerate"),
    fs.pattern("counted", "next(odd, high)", {"odd": "x == 1", "high": "x >= 3"}, output="count"),
    fs.pattern("stay", "high", {"high": "x >= 3"}, report="episodes"),
]


def some_events(seed: int, tracks: int = 4, length: int = 25) -> pd.DataFrame:
    random = Random(seed)
    rows = []
    for track in range(tracks):
        now = 1_700_000_000
        for _ in range(length):
            now += random.choice([0, 1, 1, 2, 9])
            rows.append((f"t{track}", now, random.randint(0, 5), random.random(), random.random()))
    frame = pd.DataFrame(rows, columns=["track", "time", "x", "lon", "lat"]).sort_values("time", kind="stable")
    return frame.assign(time=pd.to_datetime(frame["time"], unit="s", utc=True)).reset_index(drop=True)


def rows_of(found: pd.DataFrame) -> list[str]:
    return sorted("|".join(map(str, row)) for row in found.itertuples(index=False))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), parts=st.integers(1, 12))
def test_any_cut_and_any_restart_find_what_the_whole_holds(seed: int, parts: int) -> None:
    events = some_events(seed)
    monitor = fs.Monitor(PATTERNS)
    found = []
    for part in np.array_split(np.arange(len(events)), parts):
        found.append(monitor.advance(events.iloc[part]))
        if seed % 2:
            monitor = fs.Monitor(PATTERNS).resume(monitor.state())
    assert rows_of(pd.concat(found)) == rows_of(fs.find(events, PATTERNS))


def test_late_events_are_left_out_and_counted() -> None:
    events = some_events(3)
    monitor = fs.Monitor(PATTERNS)
    monitor.advance(events.iloc[50:])
    with pytest.warns(fs.ForesailWarning, match="before the last one of their track left out"):
        assert len(monitor.advance(events.iloc[:50])) == 0
    assert monitor.late == 50


def test_a_state_of_other_patterns_is_refused() -> None:
    monitor = fs.Monitor(PATTERNS[:1])
    monitor.advance(some_events(1))
    other = fs.Monitor(PATTERNS[3]).resume(monitor.state())
    with pytest.raises(fs.InputError, match="saved for other patterns"):
        other.advance(some_events(1))
    for rubbish in (b"rubbish", b"x" * 40, monitor.state()[:20]):
        with pytest.raises(fs.InputError, match="none that a monitor saved"):
            fs.Monitor(PATTERNS).resume(rubbish)


def test_a_state_of_another_form_is_refused_by_that_name() -> None:
    monitor = fs.Monitor(PATTERNS[:1])
    monitor.advance(some_events(1))
    later = monitor.state().replace(b'"version": 1', b'"version": 7', 1)
    with pytest.raises(fs.InputError, match=r"is of form 7, .* reads form 1"):
        fs.Monitor(PATTERNS[:1]).resume(later)


def test_a_state_is_not_taken_on_by_a_changed_pattern_of_the_same_name() -> None:
    monitor = fs.Monitor(PATTERNS[:1])
    monitor.advance(some_events(1))
    changed = fs.pattern("rise", "low ; high+", {"low": "x < 2", "high": "x >= 3"}, max_gap="5s")
    with pytest.raises(fs.InputError, match="saved for other patterns"):
        fs.Monitor(changed).resume(monitor.state()).advance(some_events(1))


def test_what_is_asked_of_episodes_is_checked() -> None:
    with pytest.raises(fs.InputError, match="neither 'all' nor 'changes'"):
        fs.Monitor(PATTERNS, episodes="ends")
    with pytest.raises(fs.InputError, match="neither 'all' nor 'changes'"):
        fs.find(some_events(1), PATTERNS, episodes="ends")


def test_a_monitor_that_has_read_nothing_has_an_empty_state() -> None:
    assert fs.Monitor(PATTERNS).state() == b""
    assert len(fs.Monitor(PATTERNS).resume(b"").advance(some_events(1))) > 0
