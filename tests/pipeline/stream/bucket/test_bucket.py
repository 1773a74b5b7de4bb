import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.spec import Output
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.state.saved import BucketClock
from tests.pipeline.stream import lines

PATTERNS = lines.some_patterns()
SPEC = lines.spec_for(PATTERNS)


def cut(events: pd.DataFrame, seed: int) -> list[pd.DataFrame]:
    """The events in micro-batches of random sizes."""
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(np.arange(1, len(events)), size=rng.integers(1, 25), replace=False))
    return [events.iloc[first:end] for first, end in pairwise([0, *places.tolist(), len(events)])]


def without_last_silence(rows: list[dict[str, object]], events: pd.DataFrame) -> set[tuple[object, ...]]:
    """Rows but for episodes that a clock closed after the last event of their track: a batch leaves those open."""
    last = events.groupby("track")["time_us"].max()
    open_at_end = {
        tuple(row[name] for name in lines.SAME)
        for row in rows
        if row["status"] == "timed_out" and last[row["track"]] == row["time_us"]
    }
    return lines.as_set(rows) - open_at_end


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), rest_s=st.sampled_from([60, 600, 100_000]))
def test_any_cut_into_micro_batches_tells_what_a_batch_tells(seed: int, rest_s: int) -> None:
    events = lines.some_events(seed)
    line = lines.Running(SPEC, BucketRules(rest_after_us=rest_s * 1_000_000))
    for part in cut(events, seed):
        line.read(part)
    told = line.rows("match")
    assert without_last_silence(told, events) == lines.as_set(lines.in_batch(PATTERNS, events))
    assert len(told) == len(lines.as_set(told)), "nothing is told twice"


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_events_out_of_order_within_the_watermark_are_put_in_order(seed: int) -> None:
    events = lines.some_events(seed)
    rng = np.random.default_rng(seed)
    shuffled = events.iloc[np.argsort(events["time_us"] + rng.integers(0, 50_000_000, len(events)))]
    line = lines.Running(SPEC, BucketRules(out_of_order_us=60_000_000))
    for part in cut(shuffled, seed):
        line.read(part)
    line.read(lines.NOTHING, control=['{"id": "end", "flush": true}'])
    assert line.rows("late") == []
    assert without_last_silence(line.rows("match"), events) == lines.as_set(lines.in_batch(PATTERNS, events))


@pytest.mark.parametrize("episodes", ["all", "changes"])
def test_an_episode_is_counted_as_one_match_however_many_rows_tell_of_it(episodes: str) -> None:
    events = lines.some_events(3)
    line = lines.Running(replace(SPEC, episodes=episodes))
    matches, rows = Counter[str](), Counter[str]()
    for part in cut(events, 3):
        line.read(part)
        assert line.bucket is not None
        matches.update(line.bucket.tally.matches)
        rows.update(line.bucket.tally.match_rows)
    told = line.rows("match")
    assert rows == Counter(row["pattern"] for row in told)
    names = ("pattern", "track", "id_time_us", "id_tie")
    listing = {p.name for p in PATTERNS if p.spec.output is Output.ENUMERATE}
    found = {tuple(row[name] for name in names) for row in told if row["pattern"] not in listing}
    assert {name: n for name, n in matches.items() if name not in listing} == Counter(name for name, *_ in found)
    assert sum(matches.values()) < sum(rows.values())


def test_an_event_behind_what_was_read_of_its_track_is_late_and_changes_nothing() -> None:
    events = lines.some_events(3)
    line = lines.Running(SPEC)
    line.read(events)
    before = line.saved
    late = events.iloc[[5]].assign(time_us=events["time_us"].min() - 1)
    line.read(pd.concat([late, events.iloc[[-1]]]))
    reasons = [row["payload"] for row in line.rows("late")]
    assert ['"reason": "late"' in text for text in reasons] == [True, False]
    assert '"reason": "same_time"' in reasons[1]
    assert before is not None
    assert line.saved is not None
    assert line.saved.states == before.states


@pytest.fixture
def staying() -> pd.DataFrame:
    """One track that is slow for five minutes."""
    events = lines.some_events(1, tracks=1, events=6)
    return events.assign(time_us=1_700_000_000_000_000 + np.arange(6) * lines.MINUTE_US, word_0=1)


def others(staying: pd.DataFrame, minutes: int, *tracks: str) -> pd.DataFrame:
    """An event of each of these tracks, so long after the last one of `staying`."""
    time = staying["time_us"].max() + minutes * lines.MINUTE_US
    return pd.concat([staying.iloc[[0]].assign(track=track, time_us=time) for track in tracks])


def late_tracks(line: lines.Running) -> set[str]:
    return {json.loads(row["payload"])["track"] for row in line.rows("late")}


def out_of_order(seed: int, tracks: int = 60) -> pd.DataFrame:
    """Events of many tracks, each up to 25 s after one of its time could have come."""
    events = lines.some_events(seed, tracks=tracks, events=3000).drop_duplicates(["track", "time_us"])
    rng = np.random.default_rng(seed)
    events["time_us"] = (
        1_700_000_000_000_000 + np.sort(rng.integers(0, 3600, len(events))) * 1_000_000 + np.arange(len(events))
    )
    return events.iloc[np.argsort(events["time_us"] + rng.integers(0, 25_000_000, len(events)))]


@pytest.mark.parametrize(("ahead", "since"), [(1, 0), (1, 500), (2, 500)])
def test_clocks_that_are_ahead_make_no_event_of_other_tracks_late(ahead: int, since: int) -> None:
    events = out_of_order(4)
    liars = [f"t{n}" for n in range(ahead)]
    mine = [np.flatnonzero(events["track"] == liar) for liar in liars]
    wrong = np.isin(np.arange(len(events)), [places[places >= since][0] for places in mine])
    rows = events.assign(time_us=events["time_us"] + np.where(wrong, 3 * 3_600_000_000, 0))
    line = lines.Running(SPEC, BucketRules(out_of_order_us=30_000_000))
    for first in range(0, len(rows), 100):
        line.read(rows.iloc[first : first + 100])
    assert late_tracks(line) <= set(liars)
    line.read(lines.NOTHING, control=['{"id": "end", "flush": true}'])
    good = rows[~rows["track"].isin(liars)]
    told = [row for row in line.rows("match") if row["track"] not in liars]
    assert without_last_silence(told, good) == lines.as_set(lines.in_batch(PATTERNS, good))


def test_a_clock_believed_while_it_was_alone_is_not_believed_against_others() -> None:
    events = out_of_order(5, tracks=8)
    line = lines.Running(SPEC, BucketRules(out_of_order_us=30_000_000))
    line.read(events.iloc[[0]].assign(track="liar", time_us=events["time_us"].max() + 10**10))
    for first in range(0, len(events), 50):
        line.read(events.iloc[first : first + 50])
    assert line.rows("late") == []
    assert line.bucket is not None
    assert line.bucket.tally.waiting < 100, "what was put in order has been read"


def test_a_track_that_is_heard_alone_does_not_wait_for_others(staying: pd.DataFrame) -> None:
    line = lines.Running(SPEC, BucketRules(out_of_order_us=90_000_000))
    line.read(others(staying, -60, "silent", "too"))
    line.read(staying)
    assert [row["index"] for row in line.rows("match")] == [3, 4], "the last two wait for 90 s more of their own track"


def test_the_wall_clock_goes_on_while_events_do_not_move_the_clock_but_not_while_the_line_is_down() -> None:
    clock = BucketClock().hearing(1_000_000_000, 5_000_000)
    assert clock.hearing(1_000_000_000, 25_000_000).reached_us == 1_020_000_000
    assert clock.hearing(1_000_000_000, 5_000_000 + 3_600_000_000).reached_us == 1_000_000_000
    assert clock.hearing(1_000_000_001, 25_000_000).reached_us == 1_000_000_001
    assert clock.hearing(None, 5_000_000 + 3_600_000_000).reached_us == 4_600_000_000


def test_an_episode_times_out_by_the_wall_clock_when_nothing_comes(staying: pd.DataFrame) -> None:
    line = lines.Running(SPEC)
    line.read(staying, now_us=5_000_000)
    line.read(lines.NOTHING, now_us=5_000_000 + 9 * lines.MINUTE_US)
    assert [row["status"] for row in line.rows("match")] == ["opened", "updated", "updated", "updated"]
    line.read(lines.NOTHING, now_us=5_000_001 + 10 * lines.MINUTE_US)
    line.read(lines.NOTHING, now_us=5_000_000 + 30 * lines.MINUTE_US)
    assert [row["status"] for row in line.rows("match")][4:] == ["timed_out"]
    last = line.rows("match")[-1]
    assert last["time_us"] == staying["time_us"].max()
    assert last["id_time_us"] == line.rows("match")[0]["id_time_us"]


def test_silence_is_measured_from_the_first_tick_where_events_came_before_it(staying: pd.DataFrame) -> None:
    line = lines.Running(SPEC)
    line.read(staying)
    line.read(lines.NOTHING, now_us=7_000_000)
    line.read(lines.NOTHING, now_us=7_000_000 + 9 * lines.MINUTE_US)
    assert "timed_out" not in [row["status"] for row in line.rows("match")]
    line.read(lines.NOTHING, now_us=7_000_001 + 10 * lines.MINUTE_US)
    assert [row["status"] for row in line.rows("match")][-1] == "timed_out"


def test_an_episode_times_out_by_the_events_of_other_tracks(staying: pd.DataFrame) -> None:
    line = lines.Running(SPEC)
    line.read(staying)
    line.read(others(staying, 11, "one"))
    assert [row["status"] for row in line.rows("match")][-1] == "updated", "one alone may have a clock that is ahead"
    line.read(others(staying, 12, "two"))
    assert [row["status"] for row in line.rows("match")][-1] == "timed_out"


def test_timers_that_wait_for_the_later_of_two_tracks_are_not_hurried_by_other_pairs(staying: pd.DataFrame) -> None:
    line = lines.Running(SPEC, BucketRules(timers_wait_us=20 * lines.MINUTE_US))
    last = staying["time_us"].max()
    line.read(staying)
    line.read(others(staying, 29, "one", "two"))
    line.read(lines.NOTHING, control=['{"id": "1", "flush": true}'])
    line.read(staying.iloc[[0]].assign(time_us=last + 9 * lines.MINUTE_US))
    told = [row["status"] for row in line.rows("match") if row["pattern"] == "stays"]
    assert told == ["opened", *["updated"] * 4]
    assert line.rows("late") == []
    line.read(others(staying, 40, "one", "two"))
    assert [row["status"] for row in line.rows("match")][-1] == "timed_out"


def test_what_the_clock_has_told_is_not_told_again_when_the_track_is_heard(staying: pd.DataFrame) -> None:
    again = staying.iloc[[0]].assign(time_us=staying["time_us"].max() + 60 * lines.MINUTE_US)
    line = lines.Running(SPEC)
    line.read(staying, now_us=1)
    line.read(lines.NOTHING, now_us=1 + 20 * lines.MINUTE_US)
    line.read(again, now_us=1 + 60 * lines.MINUTE_US)
    told = [row["status"] for row in line.rows("match")]
    assert told.count("timed_out") == 1
    assert lines.as_set(line.rows("match")) == lines.as_set(lines.in_batch(PATTERNS, pd.concat([staying, again])))


def test_a_track_heard_in_time_after_all_goes_on_with_its_episode(staying: pd.DataFrame) -> None:
    held_up = staying.iloc[[0]].assign(time_us=staying["time_us"].max() + 9 * lines.MINUTE_US)
    line = lines.Running(SPEC)
    line.read(staying, now_us=1)
    line.read(lines.NOTHING, now_us=1 + 20 * lines.MINUTE_US)
    line.read(held_up, now_us=1 + 21 * lines.MINUTE_US)
    episode = [row for row in line.rows("match") if row["pattern"] == "stays"]
    assert [row["status"] for row in episode][-3:] == ["timed_out", "updated", "timed_out"]
    assert len({row["id_time_us"] for row in episode}) == 1


def test_tracks_that_rest_leave_the_hand_and_come_back_with_their_state() -> None:
    events = lines.some_events(7, tracks=30)
    line = lines.Running(SPEC, BucketRules(rest_after_us=60_000_000))
    line.read(events.iloc[:400])
    assert line.bucket is not None
    assert 0 < len(line.bucket.tracks) < 30
    assert line.chunks
    line.read(events.iloc[400:])
    assert without_last_silence(line.rows("match"), events) == lines.as_set(lines.in_batch(PATTERNS, events))


def test_tracks_silent_for_too_long_are_forgotten(staying: pd.DataFrame) -> None:
    line = lines.Running(SPEC, BucketRules(rest_after_us=60_000_000, forget_after_us=3_600_000_000))
    line.read(staying, now_us=1)
    for n in range(300):
        line.read(lines.NOTHING, now_us=1 + (60 + n) * 60 * lines.MINUTE_US)
    assert line.bucket is not None
    assert len(line.bucket.tracks) == 0
    assert line.chunks == {}


def test_a_pattern_that_is_switched_off_is_silent_and_keeps_its_state(staying: pd.DataFrame) -> None:
    line = lines.Running(SPEC)
    line.read(staying.iloc[:4], control=['{"id": "1", "pattern": "stays", "enabled": false}'])
    assert line.rows("match") == []
    line.read(staying.iloc[4:], control=['{"id": "2", "pattern": "stays", "enabled": true}'])
    assert [row["status"] for row in line.rows("match")] == ["updated", "updated"]
    assert next(row["payload"] for row in line.rows("ack")).startswith('{"id": "1", "accepted": true')


def test_a_bad_control_message_is_refused_with_a_reason_and_changes_nothing(staying: pd.DataFrame) -> None:
    line = lines.Running(SPEC)
    bad = [
        "not json",
        '{"id": "x"}',
        '{"id": "y", "pattern": "nothing", "enabled": true}',
        '{"id": "z", "threshold": 2}',
    ]
    line.read(staying, control=bad)
    replies = [row["payload"] for row in line.rows("ack")]
    assert len(replies) == 4
    assert all('"accepted": false' in reply for reply in replies)
    assert "not JSON" in replies[0]
    assert "There are: stays" in replies[2]
    assert len(line.rows("match")) == 4


def test_each_track_of_a_micro_batch_is_shown_once_where_it_was_last() -> None:
    events = lines.some_events(4, tracks=5, events=200)
    rng = np.random.default_rng(1)
    events = events.assign(lon=rng.uniform(-5, -4, 200), lat=48.5, name='<b>"ship"</b>', speed_kn=np.nan)
    running = lines.Running(replace(lines.spec_for(lines.some_patterns()), shown=("lon", "lat", "name", "speed_kn")))
    halves = [events[:100], events[100:]]
    for half in halves:
        running.told = []
        running.read(half, control=['{"id": "1", "flush": true}'])
        rows = [json.loads(row["payload"]) for row in running.rows("position")]
        last = half.sort_values("time_us").groupby("track").last()
        assert {row["track"]: row["lon"] for row in rows} == pytest.approx(last["lon"].to_dict(), abs=1e-6)
        assert len(rows) == len(last)
        assert rows[0]["name"] == '<b>"ship"</b>'
        assert rows[0]["speed_kn"] is None
        assert rows[0]["time"].endswith("+00:00")
