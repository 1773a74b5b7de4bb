"""The rule sets of the built-in catalog on tracks made by hand: what is told, what just is not, and how often."""

from typing import Any

import pandas as pd
import pytest

import foresail as fs
from foresail.patterns.catalog.loader import built_in_catalog

START = pd.Timestamp("2024-05-01T00:00:00Z")
NAMES = ("meeting_rule", "dark_after_departure", "loitering_rule", "harsh_braking")


def positions(*rows: tuple[str, float, float, float, float], **columns: Any) -> pd.DataFrame:
    """Track, seconds, latitude, longitude and speed of each position."""
    frame = pd.DataFrame(rows, columns=["track", "s", "lat", "lon", "speed_kn"])
    frame["time"] = START + pd.to_timedelta(frame.pop("s"), unit="s")
    return frame.assign(**columns)


def found(name: str, events: pd.DataFrame, kind: str) -> list[tuple[float, dict[str, Any]]]:
    """Seconds and attributes of the composites of a type."""
    rows = fs.find(events, name)
    rows = rows[rows["type"] == kind]
    return [((row.time - START).total_seconds(), row.attributes) for row in rows.itertuples()]


@pytest.mark.parametrize("name", NAMES)
def test_the_catalog_has_them_and_nothing_is_wrong_with_them(name: str) -> None:
    entry = built_in_catalog().other(name)
    assert entry is not None
    assert entry.check() == []
    assert all(entry.name != name for entry in built_in_catalog().entries)


def test_two_slow_vessels_near_each_other_are_told_once_in_two_hours() -> None:
    near = [("a", 300.0 * n, 48.0, -5.0, 1.0) for n in range(20)]
    near += [("b", 300.0 * n + 100, 48.001, -5.0, 1.0) for n in range(20)]
    far = [("c", 300.0 * n + 50, 48.006, -5.0, 1.0) for n in range(20)]
    events = positions(*near, *far, nav_status=0)
    ((at, held),) = found("meeting_rule", events, "Meeting")
    assert (at, held["a"], held["b"]) == (600.0, "a", "b")
    assert held["metres"] == pytest.approx(111.2, abs=0.5)
    assert found("meeting_rule", events.assign(nav_status=5), "Meeting") == []
    assert found("meeting_rule", events.assign(speed_kn=3.0), "Meeting") == []


def test_a_silence_after_a_departure_is_told_once_and_only_at_sea() -> None:
    times = [0.0, 600.0, 1200.0, 3000.0, 4801.0, 9000.0]
    rows = [("a", t, 48.0 + t / 1e5, -5.0, 0.0 if t < 600 else 10.0) for t in times]
    events = positions(*rows, nav_status=[5, 0, 0, 0, 0, 0])
    assert [at for at, _ in found("dark_after_departure", events, "Departure")] == [600.0]
    gaps = found("dark_after_departure", events, "DarkGap")
    assert [(at, held["silence_s"]) for at, held in gaps] == [(4801.0, 1801.0), (9000.0, 4199.0)]
    assert [at for at, _ in found("dark_after_departure", events, "DarkAfterDeparture")] == [4801.0]
    again = positions(*rows, nav_status=[5, 0, 0, 5, 0, 0])
    assert [at for at, _ in found("dark_after_departure", again, "DarkAfterDeparture")] == [9000.0]


def test_harsh_braking_after_speeding_is_told_once_for_a_sample() -> None:
    speeds = [(0, 130), (10, 130), (20, 125), (30, 110), (35, 30), (40, 110), (44, 20)]
    rows = [("v", float(t), 48.0, 2.0, 0.0) for t, _ in speeds]
    events = positions(*rows, speed_kmh=[float(v) for _, v in speeds])
    assert [at for at, _ in found("harsh_braking", events, "Brake")] == [35.0, 44.0]
    told = found("harsh_braking", events, "HarshBraking")
    assert [(at, held["top_kmh"]) for at, held in told] == [(35.0, 130.0), (44.0, 130.0)], "a sample each"
    assert told[0][1]["mean_kmh"] == 123.75
    stopped = events.assign(speed_kmh=[130.0, 130.0, 125.0, 0.0, 110.0, 20.0, 20.0])
    assert found("harsh_braking", stopped, "HarshBraking") == []


def test_four_sharp_turns_of_a_slow_vessel_are_told_once_in_three_hours() -> None:
    rows = [("a", 600.0 * n, 48.0, -5.0, 2.0) for n in range(12)]
    zigzag = positions(*rows, course_deg=[float(90 * (n % 2)) for n in range(12)])
    ((at, held),) = found("loitering_rule", zigzag, "Loitering")
    assert (at, held["turns"]) == (2400.0, 4)
    assert found("loitering_rule", zigzag.assign(speed_kn=5.0), "Loitering") == []
    across_north = zigzag.assign(course_deg=[350.0 if n % 2 else 10.0 for n in range(12)])
    assert found("loitering_rule", across_north, "Turn") == []
