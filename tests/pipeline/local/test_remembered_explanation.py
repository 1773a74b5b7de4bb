"""What is told of patterns with registers agrees with what is found, and names what was remembered."""

from random import Random

import numpy as np
import pandas as pd

import foresail as fs
from foresail.patterns.spec import Output
from foresail.pipeline.local.remembered_explanation import RunsOfTrack
from tests.patterns.random_memory import random_track
from tests.patterns.recognition.test_register_recogniser import random_case
from tests.patterns.remembering import SCHEMA, column_of, run

LOST = {
    "parked": 'engine == "parked"',
    "lost": 'engine == "parked" and fuel_level < before.fuel_level - 0.1',
}


def truck(levels: list[float], minutes: int = 10) -> pd.DataFrame:
    moments = pd.to_datetime(np.arange(len(levels)) * 60 * minutes, unit="s", utc=True)
    return pd.DataFrame({"track": "T1", "time": moments, "engine": "parked", "fuel_level": levels})


def fuel_lost(window: str = "2h") -> fs.Pattern:
    return fs.pattern("fuel_lost", "parked as before ; hidden parked* ; lost", where=LOST, window=window)


def test_the_nearest_miss_tells_what_was_remembered() -> None:
    told = fs.why(truck([0.5, 0.43, 0.42]), fuel_lost(), "T1")
    (why,) = told.to_json()
    assert why["matches"] == []
    assert [event["what"] for event in why["events"]] == ["began", "not yet", "not yet"]
    assert why["nearest_miss"]["registers"] == {"before": 1}
    assert (
        "had 1 (since event 1); event 3 was not lost: fuel_level was 0.42, before.fuel_level 0.5: 0.08 less, "
        "0.1 is asked (before is event 1)." in str(told)
    )


def test_a_match_and_a_window_that_was_too_short_are_told() -> None:
    (why,) = fs.why(truck([0.5, 0.45, 0.32]), fuel_lost(), "T1").to_json()
    assert (why["matches"], why["events"][2]["since"]) == ([3], 2)
    (late,) = fs.why(truck([0.5, 0.5, 0.5, 0.32], minutes=60), fuel_lost("30min"), "T1").to_json()
    assert "not within 30min" in late["nearest_miss"]["words"]


def test_random_patterns_are_told_to_match_where_they_are_found() -> None:
    random, told, matched = Random(7), 0, 0
    while told < 80:
        case = random_case(random)
        if case is None or case.pattern.memory is None:
            continue
        track = random_track(random)
        columns = {name: column_of(name, kind, track) for name, kind in SCHEMA.items()}
        times = np.array([event["time"] for event in track], dtype=np.int64)
        pattern = case.reported(Output.DETECT)
        runs = RunsOfTrack(pattern, columns, times)
        steps = [runs.step(n) for n in range(len(track))]
        found = [row.index for row in run(pattern, [track])]
        assert [n + 1 for n, step in enumerate(steps) if step.matched] == found, pattern.spec.pattern.text
        told += 1
        matched += bool(found)
    assert matched > 8
