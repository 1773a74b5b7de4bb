"""What is told of a track agrees with what is found on it, and names the condition that was not met."""

from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foresail as fs
from foresail.patterns.errors import PatternError
from foresail.patterns.language.syntax import pattern_text
from tests.patterns.random_patterns import WHERE, random_pattern, random_track

SPEEDS = [5, 0.5, 0.2, 1.3, 0.3, 9]


def ferry(speeds: list[float], minutes: list[int] | None = None) -> pd.DataFrame:
    moments = np.array(minutes or range(0, 10 * len(speeds), 10)) * 60
    return pd.DataFrame({"track": "Ravn", "time": pd.to_datetime(moments, unit="s", utc=True), "speed_kn": speeds})


def stop(**rules: object) -> fs.Pattern:
    return fs.pattern("stop", "slow{3,}", where={"slow": "speed_kn < 1"}, **rules)  # type: ignore[arg-type]


def test_the_nearest_miss_says_what_was_lacking_and_by_how_much() -> None:
    told = fs.why(ferry(SPEEDS), stop(), "Ravn")
    (why,) = told.to_json()
    assert why["matches"] == []
    assert [event["what"] for event in why["events"]] == ["idle", "began", "went on", "died", "began", "died"]
    assert why["nearest_miss"]["event"] == 4
    assert why["nearest_miss"]["lacking"][0]["off"] == pytest.approx(0.3)
    assert (
        "needed at least 3 events, had 2 (since event 2); event 4 was not slow: "
        "speed_kn was 1.3, 0.3 above the limit of 1." in str(told)
    )


def test_a_window_and_a_silence_are_told_as_such() -> None:
    (late,) = fs.why(ferry([0.1, 0.1, 0.1]), stop(window="15min"), "Ravn").to_json()
    assert late["nearest_miss"]["words"].startswith("all of it was there from event 1 to event 3, but in 20 min")
    (silent,) = fs.why(ferry([0.1, 0.1, 0.1], [0, 10, 120]), stop(max_gap="30min"), "Ravn").to_json()
    assert "the track was silent for longer than 30min, before event 3" in silent["verdict"]
    (ended,) = fs.why(ferry([5, 0.1, 0.1]), stop(), "Ravn").to_json()
    assert "had 2 (since event 2); then the track ended" in ended["verdict"]


def test_a_condition_of_several_parts_names_the_one_that_failed() -> None:
    calm = fs.pattern("calm", "a ; b", where={"a": "speed_kn < 1", "b": "2 < speed_kn < 4 and speed_kn != 3"})
    (why,) = fs.why(ferry([0.5, 4.5]), calm, "Ravn").to_json()
    assert [one["needs"] for one in why["nearest_miss"]["lacking"]] == ["speed_kn < 4"]
    (never,) = fs.why(ferry([9.0, 9.0]), calm, "Ravn").to_json()
    assert never["verdict"].endswith("a, b never held.")


def test_a_moment_chooses_the_events_around_it() -> None:
    long = ferry([5.0] * 100 + [0.1] * 3)
    (why,) = fs.why(long, stop(), "Ravn", at="1970-01-01T17:00:00").to_json()
    assert 97 <= why["events"][0]["index"] < 103
    assert why["events"][-1]["what"] == "matched"
    assert len(str(fs.why(long, stop(), "Ravn")).splitlines()) < 45


def test_an_unknown_track_is_told_with_the_nearest() -> None:
    with pytest.raises(fs.InputError, match=r"no track 'Ravm'. Did you mean 'Ravn'\?"):
        fs.why(ferry(SPEEDS), stop(), "Ravm")


def test_it_shows_itself_in_a_notebook() -> None:
    shown = fs.why(ferry(SPEEDS), stop(), "Ravn")._repr_html_()
    assert "&lt;svg" in shown
    assert "data-state" in shown
    assert fs.Pattern.draw(stop())._repr_svg_().startswith("<svg")


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 1_000_000))
def test_what_is_told_as_matched_is_what_is_found(seed: int) -> None:
    random = Random(seed)
    rules = {
        "window": random.choice([None, "3s", "4 events"]),
        "max_gap": random.choice([None, "2s"]),
        "after_match": random.choice(["continue", "restart"]),
        "report": random.choice(["each", "episodes"]),
    }
    try:
        entry = fs.pattern("p", pattern_text(random_pattern(random, 2)), WHERE, **rules)  # type: ignore[arg-type]
    except PatternError:
        return
    track = random_track(random, 12)
    times = pd.to_datetime(np.array(track.times, dtype=np.int64) * 1_000_000, unit="us", utc=True)
    events = pd.DataFrame({"track": "t", "time": times, "x": np.array(track.values, dtype=np.int64)})
    if not len(events):
        return
    (why,) = fs.why(events, entry, "t").to_json()
    found = fs.find(events, entry)
    found = found[found["status"].isin(["detected", "opened", "updated"])]
    assert why["matches"] == sorted(set(found["index"]))
