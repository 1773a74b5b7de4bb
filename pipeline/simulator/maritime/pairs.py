"""The patterns of two vessels by their definition, checked on the rows of a pair that was planned to meet."""

from dataclasses import dataclass

import numpy as np

from foresail.pipeline.simulator.geometry import KNOT_MS, Bools, Floats, distance_m, metres_per_degree
from foresail.pipeline.simulator.maritime.definitions import MAX_GAP_S, surroundings
from foresail.pipeline.simulator.maritime.sea import Sea
from foresail.pipeline.simulator.maritime.sensors import VesselRows
from foresail.pipeline.simulator.truth import Finding, Interval, findings, runs

PAIR_PATTERNS = ("collision_risk", "encounter", "rendezvous", "tugging")
PROXIMITY_M = 500.0
SLOW_KN = 5.0
ENCOUNTER_S, ENCOUNTER_KN, ENCOUNTER_FROM_PORT_M = 7_200.0, 2.0, 10_000.0
RENDEZVOUS_S, TUGGING_S = 240.0, 300.0
TUGGING_KN = (1.2, 15.0)
CPA_M, TCPA_S, COLLISION_KN = 500.0, 1_200.0, 3.0
NO_RENDEZVOUS = frozenset({"tug", "pilot"})


@dataclass(frozen=True, slots=True)
class PairRows:
    """The second vessel brought to the times of the first."""

    time_s: Floats
    distance_m: Floats
    slower_kn: Floats
    faster_kn: Floats
    cpa_m: Floats
    tcpa_s: Floats
    free: Bools
    """Neither vessel is near a port or the coast."""
    port_m: Floats


def pair_findings(sea: Sea, first: VesselRows, second: VesselRows) -> list[Finding]:
    """The truth of this pair."""
    pair = pair_rows(sea, first, second)
    marks = [mark for mark in first.marks if mark.pattern in PAIR_PATTERNS]
    found = findings(marks, _intervals(pair, (first.plan.vessel_type, second.plan.vessel_type)), pair.time_s)
    other = second.plan.number
    return [
        Finding(f.pattern, f.kind, f.start_s, f.end_s, f.rows, f.feature, f.detail, other=other) for f in found
    ]  # fmt: skip


def pair_rows(sea: Sea, first: VesselRows, second: VesselRows) -> PairRows:
    """Both vessels at the times of the first; times at which the second has been silent are left out."""
    heard = _heard(first.time_s, second.time_s)
    time_s, lon, lat = first.time_s[heard], first.lon[heard], first.lat[heard]
    lon2, lat2 = np.interp(time_s, second.time_s, second.lon), np.interp(time_s, second.time_s, second.lat)
    speed, speed2 = first.speed_kn[heard], np.interp(time_s, second.time_s, _filled(second.speed_kn))
    where, where2 = surroundings(sea, lon, lat, speed), surroundings(sea, lon2, lat2, speed2)
    cpa, tcpa = _closest(time_s, lon, lat, lon2, lat2)
    return PairRows(
        time_s,
        distance_m(lon, lat, lon2, lat2),
        np.minimum(speed, speed2),
        np.maximum(speed, speed2),
        cpa,
        tcpa,
        ~(where.near_port | where.near_coast | where2.near_port | where2.near_coast),
        np.minimum(where.port_m.min(axis=1), where2.port_m.min(axis=1)),
    )


def _intervals(pair: PairRows, kinds: tuple[str, str]) -> list[Interval]:
    near = pair.distance_m < PROXIMITY_M
    low, high = TUGGING_KN
    found: list[Interval] = []
    if not NO_RENDEZVOUS & set(kinds):
        found += _lasting(pair, "rendezvous", near & pair.free & (pair.faster_kn < SLOW_KN), RENDEZVOUS_S)
    if (kinds[0] == "tug") != (kinds[1] == "tug"):
        found += _lasting(pair, "tugging", near & (pair.slower_kn > low) & (pair.faster_kn < high), TUGGING_S)
    far = near & (pair.port_m > ENCOUNTER_FROM_PORT_M)
    found += [
        interval
        for interval in _lasting(pair, "encounter", far, ENCOUNTER_S)
        if np.nanmedian(pair.faster_kn[interval.first : interval.last + 1]) < ENCOUNTER_KN
    ]
    risk = (pair.cpa_m < CPA_M) & (pair.tcpa_s > 0) & (pair.tcpa_s < TCPA_S) & (pair.slower_kn > COLLISION_KN)
    return found + _lasting(pair, "collision_risk", risk & (pair.distance_m > PROXIMITY_M), 0)


def _lasting(pair: PairRows, pattern: str, holds: Bools, least_s: float) -> list[Interval]:
    stretches = runs(holds, pair.time_s, 2, MAX_GAP_S)
    return [
        Interval(pattern, first, last) for first, last in stretches if pair.time_s[last] - pair.time_s[first] >= least_s
    ]


def _closest(time_s: Floats, lon: Floats, lat: Floats, lon2: Floats, lat2: Floats) -> tuple[Floats, Floats]:
    """Distance at the closest point of approach and seconds until it, if both keep their present velocity."""
    per_lon, per_lat = metres_per_degree(lat)
    x, y = (lon2 - lon) * per_lon, (lat2 - lat) * per_lat
    vx, vy = (np.gradient(axis, time_s) if len(time_s) > 1 else np.zeros(len(axis)) for axis in (x, y))
    square = np.maximum(vx * vx + vy * vy, (0.2 * KNOT_MS) ** 2)
    tcpa = -(x * vx + y * vy) / square
    return np.hypot(x + tcpa * vx, y + tcpa * vy), tcpa


def _heard(times_s: Floats, other_s: Floats) -> Bools:
    """Times that lie between two positions of the other track with no long silence between them."""
    after = np.searchsorted(other_s, times_s)
    inside = (after > 0) & (after < len(other_s))
    after = np.clip(after, 1, max(len(other_s) - 1, 1))
    heard: Bools = inside & (other_s[after] - other_s[after - 1] <= MAX_GAP_S) if len(other_s) > 1 else inside & False
    return heard


def _filled(values: Floats) -> Floats:
    known = np.isfinite(values)
    return np.interp(np.arange(len(values)), np.flatnonzero(known), values[known]) if known.any() else values
