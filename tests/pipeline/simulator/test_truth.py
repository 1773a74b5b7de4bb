"""From marks and intervals to the truth table."""

import numpy as np

from foresail.pipeline.simulator.truth import INCIDENTAL, INJECTED, NEAR_MISS, Interval, Mark, findings, runs

TIMES = np.arange(10) * 60.0


def test_a_run_needs_enough_rows_and_ends_at_a_silence() -> None:
    holds = np.array([1, 1, 0, 1, 1, 1, 1, 1, 0, 1], dtype=bool)
    times = TIMES + np.where(np.arange(10) > 5, 3_600, 0)
    assert runs(holds, TIMES, 3, 1_800) == [(3, 7)]
    assert runs(holds, times, 3, 1_800) == [(3, 5)]
    assert runs(holds, times, 1, 1_800) == [(0, 1), (3, 5), (6, 7), (9, 9)]
    assert runs(np.zeros(0, dtype=bool), np.zeros(0), 1, 1_800) == []


def test_an_interval_is_injected_where_a_mark_meets_it_and_incidental_elsewhere() -> None:
    marks = [Mark("loitering", 60, 200, INJECTED, "planned")]
    found = findings(marks, [Interval("loitering", 2, 4), Interval("loitering", 6, 8)], TIMES)
    assert [(f.kind, f.start_s, f.end_s, f.rows) for f in found] == [
        (INJECTED, 120.0, 240.0, 3),
        (INCIDENTAL, 360.0, 480.0, 3),
    ]


def test_a_near_miss_is_listed_only_if_it_missed() -> None:
    marks = [Mark("loitering", 60, 200, NEAR_MISS), Mark("drifting", 60, 200, NEAR_MISS)]
    found = findings(marks, [Interval("loitering", 2, 4)], TIMES)
    assert [(f.pattern, f.kind) for f in found] == [("drifting", NEAR_MISS), ("loitering", INCIDENTAL)]


def test_a_mark_for_one_port_does_not_speak_for_another() -> None:
    marks = [Mark("port_entry", 0, 500, INJECTED, "call", feature="Brest")]
    found = findings(marks, [Interval("port_entry", 2, 4, "Roscoff"), Interval("port_entry", 2, 4, "Brest")], TIMES)
    assert {(f.feature, f.kind) for f in found} == {("Brest", INJECTED), ("Roscoff", INCIDENTAL)}
