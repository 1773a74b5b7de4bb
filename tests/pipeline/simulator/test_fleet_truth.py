"""Every line of the fleet truth table is checked against the generated rows."""

import numpy as np
import pytest
from pyproj import Geod

from foresail.pipeline.simulator.fleet.scenario import routes
from foresail.pipeline.simulator.fleet.tasks import IDLE, MOVING, OFF, PARKED
from foresail.pipeline.simulator.truth import INCIDENTAL, INJECTED, NEAR_MISS

GEOD = Geod(ellps="WGS84")
REPEATED = {
    "moving_with_zero_speed": 3,
    "moving_with_bad_signal": 3,
    "possible_theft": 3,
    "dangerous_driving": 2,
    "refuel_opportunity": 2,
}
SWINGS = ("parked_moving_swing", "idle_parked_swing", "speed_swing")


def conditions(town, rows):
    metres = GEOD.inv(rows["lon"][:-1], rows["lat"][:-1], rows["lon"][1:], rows["lat"][1:])[2]
    moved = np.concatenate([[False], metres > 30])
    lon, lat = town.degrees(town.stations)
    count = len(rows["lon"])
    stations = [
        GEOD.inv(rows["lon"], rows["lat"], np.full(count, x), np.full(count, y))[2]
        for x, y in zip(lon, lat, strict=True)
    ]
    engine, speed = rows["engine"], rows["speed_kmh"]
    return {
        "moving_with_zero_speed": (engine == "moving") & (speed == 0) & moved,
        "moving_with_bad_signal": rows["accelerating"].astype(bool) & (rows["satellites"] == 0) & moved,
        "possible_theft": (engine == "parked") & (speed == 0) & moved,
        "dangerous_driving": rows["ice"].astype(bool) & (speed > 80),
        "refuel_opportunity": (np.min(stations, axis=0) < 100) & (rows["fuel_level"] < 0.5),
    }


def swings(pattern, rows) -> bool:
    """Whether the window holds the four-position swing."""
    match pattern:
        case "speed_swing":
            text = "".join("f" if kmh > 50 else "0" if kmh == 0 else "-" for kmh in rows["speed_kmh"])
            return "f0f0" in text
        case "parked_moving_swing":
            return "pmpm" in "".join(state[0] for state in rows["engine"])
        case _:
            return "ipip" in "".join(state[0] for state in rows["engine"])


@pytest.mark.parametrize("pattern", [*REPEATED, *SWINGS, "route"])
def test_every_pattern_has_an_injected_event_and_a_near_miss(vehicles, pattern) -> None:
    assert vehicles.of(pattern, INJECTED)
    assert vehicles.of(pattern, NEAR_MISS)


@pytest.mark.parametrize("pattern", REPEATED)
def test_events_hold_for_all_their_rows_and_near_misses_never_long_enough(vehicles, pattern) -> None:
    for kind in (INJECTED, NEAR_MISS):
        for number, finding in vehicles.of(pattern, kind):
            rows = vehicles.rows(number)
            inside = (rows["time_s"] >= finding.start_s) & (rows["time_s"] <= finding.end_s)
            holds = conditions(vehicles.scenario.town, rows)[pattern][inside]
            if kind == INJECTED:
                assert len(holds) >= REPEATED[pattern]
                assert holds.all()
            else:
                text = "".join("x" if hit else " " for hit in holds)
                assert "x" * REPEATED[pattern] not in text


@pytest.mark.parametrize("pattern", SWINGS)
def test_a_swing_swings_and_its_near_miss_does_not(vehicles, pattern) -> None:
    for number, finding in vehicles.of(pattern, INJECTED):
        assert swings(pattern, vehicles.window(number, finding))
    for number, finding in vehicles.of(pattern, NEAR_MISS):
        assert not swings(pattern, vehicles.window(number, finding))


def test_a_route_goes_from_one_long_stop_to_the_next(vehicles) -> None:
    for number, finding in vehicles.of("route", INJECTED)[:10]:
        rows = vehicles.rows(number)
        before = (rows["time_s"] <= finding.start_s) & (rows["time_s"] > finding.start_s - 1_800)
        after = (rows["time_s"] <= finding.end_s) & (rows["time_s"] > finding.end_s - 1_800)
        assert set(rows["engine"][before]) == {"off"} == set(rows["engine"][after])
        assert "moving" in set(vehicles.window(number, finding)["engine"])


def test_short_stops_and_long_pauses_make_no_route() -> None:
    def found(*parts):
        engine = np.concatenate([np.full(rows, state) for state, rows in parts])
        return routes(engine, np.arange(len(engine)) * 60.0)

    assert found((OFF, 40), (MOVING, 10), (OFF, 40)) == [(39, 81)]
    assert found((OFF, 40), (MOVING, 10), (PARKED, 20), (MOVING, 5), (OFF, 40))
    assert not found((OFF, 20), (MOVING, 10), (OFF, 40))
    assert not found((OFF, 40), (IDLE, 2), (MOVING, 10), (OFF, 40))
    assert not found((OFF, 40), (MOVING, 10), (PARKED, 45), (MOVING, 5), (OFF, 40))


def test_other_drives_are_ordinary(vehicles) -> None:
    assert not [f for _, f in vehicles.findings if f.kind == INCIDENTAL and f.pattern in ("possible_theft", *SWINGS)]


def test_the_tank_stays_within_its_bounds(vehicles) -> None:
    for number in range(vehicles.scenario.settings.tracks):
        levels = vehicles.rows(number)["fuel_level"]
        assert np.nanmin(levels) >= 0
        assert np.nanmax(levels) <= 1
