"""Every line of the maritime truth table is checked against the generated rows, with other tools than made it."""

import numpy as np
import pytest
import shapely
from pyproj import Geod

from foresail.pipeline.simulator.truth import INJECTED, NEAR_MISS

GEOD = Geod(ellps="WGS84")
SOLO = (
    "anchored",
    "approaching_port",
    "drifting",
    "gap",
    "high_speed_near_coast",
    "loitering",
    "loitering_far_offshore",
    "port_entry",
    "port_visit",
    "search_and_rescue",
    "trawling",
)
PAIRS = ("collision_risk", "encounter", "rendezvous", "tugging")


def port_metres(sea, rows, name):
    port = next(port for port in sea.ports if port.name == name)
    count = len(rows["lon"])
    return GEOD.inv(rows["lon"], rows["lat"], np.full(count, port.lon), np.full(count, port.lat))[2]


def nearest_port_metres(sea, rows):
    return np.min([port_metres(sea, rows, port.name) for port in sea.ports], axis=0)


def in_zones(zones, rows):
    return np.any([shapely.contains_xy(shapely.Polygon(z.ring), rows["lon"], rows["lat"]) for z in zones], axis=0)


def coast_metres(sea, rows):
    """Metres to the nearest shore, measured to points every few metres along it."""
    best = np.full(len(rows["lon"]), np.inf)
    for shore in sea.shores:
        line = shapely.segmentize(shapely.LineString(shore), 0.0002)
        points = shapely.get_coordinates(line)
        tree = shapely.STRtree(shapely.points(points * [0.65, 1.0]))
        _, near = tree.query_nearest(shapely.points(np.stack([rows["lon"] * 0.65, rows["lat"]], 1)), all_matches=False)
        best = np.minimum(best, GEOD.inv(rows["lon"], rows["lat"], points[near, 0], points[near, 1])[2])
    return best


def drift(rows):
    return np.abs((rows["heading_deg"] - rows["course_deg"] + 180) % 360 - 180)


def longest_run(holds) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(holds).astype(int), [0]])))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def conditions(sea, rows):
    """Which rows satisfy the condition of each pattern that repeats one, and how many in a row it takes."""
    speed = rows["speed_kn"]
    near_port = nearest_port_metres(sea, rows) < 3_000
    turns = [np.abs((np.diff(rows[name], prepend=np.nan) + 180) % 360 - 180) for name in ("heading_deg", "course_deg")]
    turn = np.where(np.isnan(turns[0]), turns[1], turns[0]) > 15
    return {
        "anchored": ((near_port | in_zones(sea.anchorages, rows)) & (speed < 0.5), 3),
        "drifting": ((drift(rows) > 30) & (speed > 0.5), 3),
        "trawling": ((rows["ship_type"] == 30) & in_zones(sea.fishing_areas, rows) & (speed > 1) & (speed < 9), 3),
        "search_and_rescue": ((rows["ship_type"] == 51) & turn & (speed > 2.7), 3),
        "loitering": (~near_port & (speed < 0.5), 3),
        "high_speed_near_coast": ((speed > 5) & (coast_metres(sea, rows) < 300), 1),
    }


@pytest.mark.parametrize("pattern", SOLO + PAIRS)
def test_every_pattern_has_an_injected_event_and_a_near_miss(vessels, pattern) -> None:
    assert vessels.of(pattern, INJECTED)
    assert vessels.of(pattern, NEAR_MISS)


@pytest.mark.parametrize(
    "pattern", ["anchored", "drifting", "trawling", "search_and_rescue", "loitering", "high_speed_near_coast"]
)
def test_all_rows_of_an_injected_event_satisfy_its_condition(vessels, pattern) -> None:
    for number, finding in vessels.of(pattern, INJECTED)[:12]:
        holds, least = conditions(vessels.scenario.sea, vessels.window(number, finding))[pattern]
        assert len(holds) == finding.rows >= least
        # the first row of a search turned from a row outside the window
        assert holds[1:].all() if pattern == "search_and_rescue" else holds.all()


@pytest.mark.parametrize(
    "pattern", ["anchored", "drifting", "trawling", "search_and_rescue", "loitering", "high_speed_near_coast"]
)
def test_no_near_miss_holds_long_enough(vessels, pattern) -> None:
    for number, finding in vessels.of(pattern, NEAR_MISS):
        holds, least = conditions(vessels.scenario.sea, vessels.window(number, finding))[pattern]
        assert len(holds) >= 3
        assert longest_run(holds) < least


@pytest.mark.parametrize("pattern", ["approaching_port", "port_entry", "port_visit"])
def test_port_events_come_in_from_outside_and_near_misses_do_not(vessels, pattern) -> None:
    sea = vessels.scenario.sea
    for number, finding in vessels.of(pattern, INJECTED)[:12]:
        metres = port_metres(sea, vessels.window(number, finding), finding.feature)
        if pattern == "approaching_port":
            assert 7_000 <= metres[0] < 10_000
            assert ((metres[1:-1] >= 5_000) & (metres[1:-1] < 7_000)).all()
            assert metres[-1] < 5_000
        elif pattern == "port_entry":
            assert (metres[:2] >= 5_000).all()
            assert metres[2] < 5_000
        else:
            assert metres[0] < 3_000
            assert (metres[:-1] <= 4_000).all() or nearest_port_metres(
                sea, vessels.window(number, finding)
            ).min() < 3_000
            assert np.nanmin(vessels.window(number, finding)["speed_kn"]) < 0.2
    for number, finding in vessels.of(pattern, NEAR_MISS):
        rows = vessels.window(number, finding)
        metres = port_metres(sea, rows, finding.feature)
        assert metres.min() > 5_000 if pattern != "port_visit" else np.nanmin(rows["speed_kn"][metres < 3_000]) >= 0.2


def test_a_gap_is_a_silence_of_twelve_hours_and_its_near_miss_is_shorter(vessels) -> None:
    for number, finding in vessels.of("gap", INJECTED):
        assert np.diff(vessels.window(number, finding)["time_s"]).max() >= 12 * 3_600
    for number, finding in vessels.of("gap", NEAR_MISS):
        assert 6 * 3_600 < np.diff(vessels.window(number, finding)["time_s"]).max() < 12 * 3_600


def test_loitering_far_offshore_is_slow_for_four_hours_far_from_every_shore(vessels) -> None:
    sea = vessels.scenario.sea
    for number, finding in vessels.of("loitering_far_offshore", INJECTED):
        rows = vessels.window(number, finding)
        assert finding.end_s - finding.start_s > 3.9 * 3_600
        assert np.nanmean(rows["speed_kn"]) < 2
        assert coast_metres(sea, {name: rows[name][::20] for name in ("lon", "lat")}).min() > 37_040
    for number, finding in vessels.of("loitering_far_offshore", NEAR_MISS):
        rows = vessels.window(number, finding)
        assert np.nanmean(rows["speed_kn"]) > 2 or finding.end_s - finding.start_s < 4 * 3_600


@pytest.mark.parametrize("pattern", PAIRS)
def test_pairs_meet_and_near_misses_stay_apart_or_end_early(vessels, pattern) -> None:
    for kind in (INJECTED, NEAR_MISS):
        for number, finding in vessels.of(pattern, kind):
            rows, other = vessels.window(number, finding), vessels.rows(finding.other)
            lon = np.interp(rows["time_s"], other["time_s"], other["lon"])
            lat = np.interp(rows["time_s"], other["time_s"], other["lat"])
            metres = GEOD.inv(rows["lon"], rows["lat"], lon, lat)[2]
            lasted = finding.end_s - finding.start_s
            kinds = {str(rows["vessel_type"][0]), str(other["vessel_type"][0])}
            if pattern == "collision_risk":
                assert metres.min() < 1_500 if kind == INJECTED else metres.min() > 1_000
            elif kind == INJECTED:
                assert metres.max() < 500
                assert lasted > {"encounter": 7_200, "rendezvous": 240, "tugging": 300}[pattern]
                assert (pattern == "tugging") == ("tug" in kinds)
            elif pattern == "rendezvous":
                assert metres.min() > 500
            elif pattern == "encounter":
                assert lasted < 7_200
            else:
                assert "tug" not in kinds


def test_nobody_moves_faster_than_a_ship(vessels) -> None:
    for number in range(vessels.scenario.settings.tracks):
        rows = vessels.rows(number)
        metres = GEOD.inv(rows["lon"][:-1], rows["lat"][:-1], rows["lon"][1:], rows["lat"][1:])[2]
        assert (metres / np.diff(rows["time_s"]) / 0.5144).max() < 30
