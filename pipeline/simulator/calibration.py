"""How near a simulation comes to real feeds: the published percentiles beside the measured ones."""

from dataclasses import dataclass

import numpy as np

from foresail.pipeline.simulator.geometry import Floats
from foresail.pipeline.simulator.maritime.scenario import MaritimeScenario
from foresail.pipeline.simulator.maritime.sensors import VesselRows, receive

PUBLISHED = {
    "fishing, towing, sail, pleasure": (1.0, 5.3, 9.7),
    "passenger": (3.2, 11.2, 19.2),
    "cargo": (0.9, 10.1, 15.9),
    "tanker": (1.0, 9.4, 14.1),
}
"""Percentiles 10, 50 and 90 of the speed of moving vessels in knots, measured on real feeds."""
GROUPS = {
    "fishing": "fishing, towing, sail, pleasure",
    "tug": "fishing, towing, sail, pleasure",
    "sailing": "fishing, towing, sail, pleasure",
    "pleasure": "fishing, towing, sail, pleasure",
    "passenger": "passenger",
    "cargo": "cargo",
    "tanker": "tanker",
}
MOVING_KN = 0.5


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a simulation measures."""

    speed_kn: dict[str, tuple[float, float, float]]
    interval_s: tuple[float, float]
    """Median and 95th percentile of the time between positions."""
    unknown: dict[str, float]
    """Share of positions without this value."""


def measured(scenario: MaritimeScenario) -> Calibration:
    """The same figures of a simulated fleet."""
    tracks = [receive(scenario.sea, plan, scenario.settings) for plan in scenario.plans]
    gaps = np.concatenate([np.diff(track.time_s) for track in tracks])
    median, tail = np.percentile(gaps, [50, 95])
    columns = ("heading_deg", "course_deg", "speed_kn", "nav_status")
    return Calibration(
        {group: _percentiles(tracks, group) for group in PUBLISHED if _speeds(tracks, group).size},
        (float(median), float(tail)),
        {name: float(np.isnan(np.concatenate([getattr(track, name) for track in tracks])).mean()) for name in columns},
    )


def _percentiles(tracks: list[VesselRows], group: str) -> tuple[float, float, float]:
    low, middle, high = np.percentile(_speeds(tracks, group), [10, 50, 90])
    return float(low), float(middle), float(high)


def _speeds(tracks: list[VesselRows], group: str) -> Floats:
    speeds = [track.speed_kn for track in tracks if GROUPS.get(track.plan.vessel_type) == group]
    together = np.concatenate(speeds) if speeds else np.zeros(0)
    return together[together > MOVING_KN]
