"""Positions of tracks as the lines that a map draws, simplified for a screen."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import shapely

from foresail.pipeline.reports.map_view import TrackLine

FINEST = 3000
"""Of the map's extent: what is finer than this part of it is not seen."""

Points = list[tuple[float, float, float]]


def track_lines(rows: Sequence[Mapping[str, Any]]) -> tuple[TrackLine, ...]:
    """A line for each track; rows have track, part, lon, lat, time and name, in that order of the first two."""
    points: dict[str, list[Points]] = defaultdict(list)
    names: dict[str, str] = {}
    for track, of_track in groupby(rows, key=lambda row: str(row["track"])):
        for _, of_part in groupby(of_track, key=lambda row: int(row["part"])):
            part = list(of_part)
            points[track] += _parts([(row["lon"], row["lat"], row["time"]) for row in part])
            names[track] = next((row["name"] for row in reversed(part) if row["name"]), names.get(track, ""))
    places = np.array([(lon, lat) for parts in points.values() for part in parts for lon, lat, _ in part])
    extent = float(np.ptp(places.reshape(-1, 2), axis=0).max()) if len(places) else 0.0
    return tuple(
        TrackLine(track, tuple(_simple(part, extent / FINEST) for part in parts), names[track] or None)
        for track, parts in points.items()
    )


def _parts(line: Points) -> list[Points]:
    """The line cut where it crosses the 180th meridian."""
    parts = [[line[0]]]
    for before, point in pairwise(line):
        if abs(point[0] - before[0]) > 180:
            parts.append([])
        parts[-1].append(point)
    return parts


def _simple(part: Points, tolerance: float) -> tuple[tuple[float, float, float], ...]:
    """The part without the points that a straight line shows as well."""
    if len(part) < 3:
        return tuple(part)
    # Time rides along as the third coordinate: simplifying looks at the plane alone and keeps whole points.
    kept = shapely.get_coordinates(shapely.simplify(shapely.LineString(part), tolerance), include_z=True)
    return tuple((float(lon), float(lat), float(time)) for lon, lat, time in kept)
