"""The unit of a speed, told from how far the positions really are apart; silent where that does not decide."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import asin, cos, log, radians, sin, sqrt
from statistics import quantiles

METRES_PER_SECOND = {"m/s": 1.0, "km/h": 1 / 3.6, "kn": 1852 / 3600, "mph": 1609.344 / 3600}
EARTH_M = 6_371_008.8
LEAST_STEPS = 12
SHORTEST_S, LONGEST_S = 1.0, 120.0
LEAST_STEP_M = 25.0
WITHIN = 0.07
"""Knots and miles an hour are 15% apart: half of that decides."""
MOST_SPREAD = 1.35
"""Of the upper quartile to the lower: stop and go between two positions says nothing of the unit."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A position with the speed that the feed reports, in whatever unit."""

    track: str
    time: datetime
    lon: float
    lat: float
    speed: float


def unit_by_motion(fixes: Iterable[Fix]) -> str | None:
    """The unit in which the reported speeds are those of the steps between positions; None where none clearly is."""
    ratios = _ratios(sorted(fixes, key=lambda fix: (fix.track, fix.time)))
    if len(ratios) < LEAST_STEPS:
        return None
    low, middle, high = quantiles(ratios, n=4)
    if high > MOST_SPREAD * low:
        return None
    unit, factor = min(METRES_PER_SECOND.items(), key=lambda entry: abs(log(middle / entry[1])))
    return unit if abs(log(middle / factor)) <= WITHIN else None


def _ratios(fixes: Sequence[Fix]) -> list[float]:
    """Metres a second for each unit of the reported speed, of every step that is long and steady enough to tell."""
    ratios: list[float] = []
    for one, other in pairwise(fixes):
        seconds = (other.time - one.time).total_seconds()
        if one.track != other.track or not SHORTEST_S <= seconds <= LONGEST_S or min(one.speed, other.speed) <= 0:
            continue
        metres = distance_m(one, other)
        steady = max(one.speed, other.speed) <= 1.25 * min(one.speed, other.speed)
        if metres >= LEAST_STEP_M and steady:
            ratios.append(metres / seconds / ((one.speed + other.speed) / 2))
    return ratios


def distance_m(one: Fix, other: Fix) -> float:
    """The distance on a sphere."""
    half_lat, half_lon = radians(other.lat - one.lat) / 2, radians(other.lon - one.lon) / 2
    chord = sin(half_lat) ** 2 + cos(radians(one.lat)) * cos(radians(other.lat)) * sin(half_lon) ** 2
    return 2 * EARTH_M * asin(sqrt(min(1.0, chord)))
