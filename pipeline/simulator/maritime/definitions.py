"""The patterns by their definition, checked directly on the rows of one vessel: what is true, planned or not.

The thresholds are the defaults of the pattern catalog. This is a second, independent reading of the definitions,
so that recognition can be scored against it.

The layers of a simulated sea: real ports; shores, anchorages, fishing and protected areas that are simulated.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from foresail.pipeline.simulator.geometry import Bools, Floats, distance_to_line_m, inside_polygon, wrapped_deg
from foresail.pipeline.simulator.maritime.sailing import turned_deg
from foresail.pipeline.simulator.maritime.sea import SHORE_REACH_M, Sea, Zone, port_distances_m
from foresail.pipeline.simulator.maritime.sensors import VesselRows
from foresail.pipeline.simulator.regions import line, point, polygon, write_index, write_layer
from foresail.pipeline.simulator.truth import Interval, runs

MAX_GAP_S = 1_800.0
NEAR_PORT_M = 3_000.0
PORT_M = 5_000.0
NEAR_COAST_M = 300.0
TURN_DEG = 15.0
GAP_S = 12 * 3_600.0
OFFSHORE_M = 20 * 1_852.0
VISIT_IN_M, VISIT_OUT_M = 3_000.0, 4_000.0
VISIT_GAP_S = 4 * 3_600.0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where each row of a track lies."""

    port_m: Floats
    near_port: Bools
    near_coast: Bools
    in_anchorage: Bools
    in_fishing_area: Bools


def surroundings(sea: Sea, lon: Floats, lat: Floats, speed_kn: Floats) -> Surroundings:
    """The layers' attributes of each position; the coast is looked up only where it can matter to a pattern."""
    port_m = port_distances_m(sea, lon, lat)
    near_port = port_m.min(axis=1) < NEAR_PORT_M
    return Surroundings(
        port_m,
        near_port,
        _near_coast(sea, lon, lat, port_m, ~near_port | (speed_kn > 5)),
        _in_any(sea.anchorages, lon, lat),
        _in_any(sea.fishing_areas, lon, lat),
    )


def intervals(sea: Sea, rows: VesselRows) -> list[Interval]:
    """Every stretch of the track where the definition of a pattern holds."""
    if not len(rows.time_s):
        return []
    where = surroundings(sea, rows.lon, rows.lat, rows.speed_kn)
    found = [
        Interval(pattern, first, last)
        for pattern, (holds, least) in _conditions(rows, where).items()
        for first, last in runs(holds, rows.time_s, least, MAX_GAP_S)
    ]
    found += [Interval("gap", int(i), int(i) + 1) for i in np.flatnonzero(np.diff(rows.time_s) >= GAP_S)]
    return found + _far_offshore(sea, rows, where) + _port_intervals(sea, rows, where)


def _conditions(rows: VesselRows, where: Surroundings) -> dict[str, tuple[Bools, int]]:
    """Per pattern: which rows satisfy its condition, and how many in a row it takes. A NaN satisfies nothing."""
    speed, kind = rows.speed_kn, rows.plan.vessel_type
    drift = np.abs(wrapped_deg(rows.heading_deg - rows.course_deg))
    turn = turned_deg(rows.heading_deg)
    turning = np.abs(np.where(np.isnan(turn), turned_deg(rows.course_deg), turn)) > TURN_DEG
    return {
        "high_speed_near_coast": (where.near_coast & (speed > 5), 1),
        "anchored": ((where.near_port | where.in_anchorage) & (speed < 0.5), 3),
        "drifting": ((drift > 30) & (speed > 0.5), 3),
        "trawling": ((kind == "fishing") & where.in_fishing_area & (speed > 1) & (speed < 9), 3),
        "search_and_rescue": ((kind == "search_and_rescue") & turning & (speed > 2.7), 3),
        "loitering": (~where.near_port & ~where.near_coast & (speed < 0.5), 3),
    }


def _far_offshore(sea: Sea, rows: VesselRows, where: Surroundings) -> list[Interval]:
    """Four or more consecutive hours of the clock with a mean speed below 2 kn, 20 nautical miles from every coast."""
    hour = (rows.time_s // 3_600).astype(int)
    known = np.isfinite(rows.speed_kn)
    sums = np.bincount(hour, np.where(known, rows.speed_kn, 0))
    counts = np.bincount(hour, known)
    slow = (sums < 2 * counts) & (counts > 0)
    candidates = np.flatnonzero(slow[hour] & (where.port_m.min(axis=1) > OFFSHORE_M))
    far = np.zeros(len(hour), dtype=bool)
    if len(candidates):
        lon, lat = rows.lon[candidates], rows.lat[candidates]
        nearest = np.min([distance_to_line_m(lon, lat, shore) for shore in sea.shores], axis=0)
        far[candidates] = nearest > OFFSHORE_M
    whole = slow & (np.bincount(hour, far) == np.bincount(hour))
    return [
        Interval("loitering_far_offshore", int(np.searchsorted(hour, first)), int(np.searchsorted(hour, last + 1)) - 1)
        for first, last in runs(whole, np.arange(len(whole), dtype=np.float64), 4, 1.5)
    ]


def _port_intervals(sea: Sea, rows: VesselRows, where: Surroundings) -> list[Interval]:
    found: list[Interval] = []
    for port in np.flatnonzero((where.port_m < PORT_M).any(axis=0)):
        metres, name = where.port_m[:, port], sea.ports[int(port)].name
        found += [Interval("approaching_port", *ends, name) for ends in approaches(metres, rows.time_s)]
        found += [Interval("port_entry", *ends, name) for ends in entries(metres, rows.time_s)]
    nearest = where.port_m.argmin(axis=1)
    for first, last in visits(where.port_m.min(axis=1), rows.speed_kn, rows.time_s):
        found.append(Interval("port_visit", first, last, sea.ports[int(nearest[first])].name))
    return found


def approaches(metres: Floats, times_s: Floats) -> list[tuple[int, int]]:
    """One row 7 to 10 km from the port, then rows 5 to 7 km from it, then one nearer than 5 km."""
    ring = np.select([metres < PORT_M, metres < 7_000, metres < 10_000], [3, 2, 1], 0)
    middle = runs(ring == 2, times_s, 1, MAX_GAP_S)
    calm = np.diff(times_s) <= MAX_GAP_S
    return [
        (first - 1, last + 1)
        for first, last in middle
        if first > 0 and last + 1 < len(ring) and ring[first - 1] == 1 and ring[last + 1] == 3
        and calm[first - 1] and calm[last]
    ]  # fmt: skip


def entries(metres: Floats, times_s: Floats) -> list[tuple[int, int]]:
    """Two rows outside 5 km, then one inside."""
    inside = metres < PORT_M
    calm = np.diff(times_s) <= MAX_GAP_S
    hits = np.flatnonzero(~inside[:-2] & ~inside[1:-1] & inside[2:] & calm[:-1] & calm[1:])
    return [(int(row), int(row) + 2) for row in hits]


def visits(metres: Floats, speed_kn: Floats, times_s: Floats) -> list[tuple[int, int]]:
    """From coming within 3 km to going beyond 4 km, with a stop below 0.2 kn or a gap above 4 h between."""
    crossing = np.select([metres < VISIT_IN_M, metres > VISIT_OUT_M], [1, 0], -1)
    known = np.maximum.accumulate(np.where(crossing >= 0, np.arange(len(crossing)), 0))
    inside = crossing[known] == 1
    gaps = np.diff(times_s, prepend=times_s[0]) > VISIT_GAP_S
    return [
        (first, last + 1)
        for first, last in runs(inside, times_s, 1, np.inf)
        if first > 0 and last + 1 < len(inside)
        and ((speed_kn[first : last + 1] < 0.2).any() or gaps[first + 1 : last + 1].any())
    ]  # fmt: skip


def _near_coast(sea: Sea, lon: Floats, lat: Floats, port_m: Floats, asked: Bools) -> Bools:
    near = np.zeros(len(lon), dtype=bool)
    reach_m = SHORE_REACH_M * 1.1 + NEAR_COAST_M
    for port in np.flatnonzero((port_m < reach_m).any(axis=0)):
        rows = np.flatnonzero((port_m[:, port] < reach_m) & asked)
        near[rows] |= distance_to_line_m(lon[rows], lat[rows], sea.shores[int(port)]) < NEAR_COAST_M
    return near


def _in_any(zones: tuple[Zone, ...], lon: Floats, lat: Floats) -> Bools:
    within = np.zeros(len(lon), dtype=bool)
    for zone in zones:
        (west, south), (east, north) = zone.ring.min(axis=0), zone.ring.max(axis=0)
        rows = np.flatnonzero((lon >= west) & (lon <= east) & (lat >= south) & (lat <= north))
        if len(rows):
            within[rows] |= inside_polygon(lon[rows], lat[rows], zone.ring)
    return within


INDEX = (
    {"name": "ports", "kind": "port", "file": "ports.geojson", "name_column": "name", "radius_m": NEAR_PORT_M},
    {"name": "coast", "kind": "coast", "file": "coast.geojson", "name_column": "name"},
    {"name": "anchorages", "kind": "anchorage", "file": "anchorages.geojson", "name_column": "name"},
    {"name": "fishing_areas", "kind": "fishing", "file": "fishing_areas.geojson", "name_column": "name"},
    {"name": "protected_areas", "kind": "protected", "file": "protected_areas.geojson", "name_column": "name"},
)


def write_sea(sea: Sea, folder: Path) -> None:
    """Write every layer of the sea and their index."""
    write_layer(folder / "ports.geojson", (point(p.lon, p.lat, name=p.name, code=p.code) for p in sea.ports))
    shores = zip(sea.ports, sea.shores, strict=True)
    write_layer(
        folder / "coast.geojson",
        (line(shore, name=f"simulated shore at {port.name}") for port, shore in shores if len(shore) > 1),
    )
    for name, zones in (
        ("anchorages", sea.anchorages),
        ("fishing_areas", sea.fishing_areas),
        ("protected_areas", sea.protected_areas),
    ):
        write_layer(folder / f"{name}.geojson", (polygon(zone.ring, name=zone.name) for zone in zones))
    write_index(folder, INDEX)
