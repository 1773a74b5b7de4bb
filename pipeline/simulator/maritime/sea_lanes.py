"""Real ports and sea lanes, as the package searoute carries them, turned into smooth routes between ports."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from foresail.pipeline.errors import SettingsError
from foresail.pipeline.simulator.geometry import Floats, along_m, distance_m, metres_per_degree
from foresail.pipeline.simulator.regions import Region

LANE_REACH_M = 20_000
"""A port further than this from every lane lies inland, or is misplaced in the source."""
PORT_SPACING_M = 2_500
ROUTE_SPACING_M = 500.0
SMOOTHING_M = 6_000.0
NEIGHBOURS = (0, 2, 5, 10, 20, 35)
"""Which of the ports around a port it trades with, from the nearest on: short routes and long ones."""
SHORTEST_ROUTE_M, LONGEST_ROUTE_M = 40_000, 700_000


@dataclass(frozen=True, slots=True)
class Port:
    """A real port."""

    code: str
    name: str
    lon: float
    lat: float


@dataclass(frozen=True, slots=True)
class Route:
    """A way by sea from one port to another: points, metres to each, and the unit vector to the left of each."""

    origin: int
    destination: int
    lon: Floats
    lat: Floats
    along_m: Floats
    left: Floats

    @property
    def length_m(self) -> float:
        """Metres from port to port."""
        return float(self.along_m[-1])

    def reversed(self) -> "Route":
        """The way back."""
        return Route(
            self.destination,
            self.origin,
            self.lon[::-1],
            self.lat[::-1],
            self.length_m - self.along_m[::-1],
            -self.left[::-1],
        )


def ports_of(region: Region) -> tuple[Port, ...]:
    """The ports in `region` that lie on the sea lanes, in the order of their codes, no two in one harbour."""
    lanes, harbours = _graphs()
    nodes = np.array([node for node in lanes.nodes if _near(region, node)]).reshape(-1, 2)
    kept: list[Port] = []
    for (lon, lat), facts in sorted(harbours.nodes(data=True), key=lambda node: str(node[1]["port"])):
        if not region.holds(lon, lat) or not len(nodes):
            continue
        if distance_m(nodes[:, 0], nodes[:, 1], lon, lat).min() > LANE_REACH_M:
            continue
        if all(distance_m(np.array(port.lon), np.array(port.lat), lon, lat) > PORT_SPACING_M for port in kept):
            kept.append(Port(str(facts["port"]), str(facts["name"]), float(lon), float(lat)))
    if len(kept) < 2:
        msg = f"--region {region.name}: holds {len(kept)} ports on sea lanes, routes need two. Take a larger region."
        raise SettingsError(msg)
    return tuple(kept)


def routes_between(ports: tuple[Port, ...]) -> tuple[Route, ...]:
    """Routes from each port to some near and some far ones, each with its way back."""
    lon, lat = np.array([port.lon for port in ports]), np.array([port.lat for port in ports])
    wanted: set[tuple[int, int]] = set()
    for here in range(len(ports)):
        far = distance_m(lon, lat, lon[here], lat[here])
        fitting = [int(there) for there in np.argsort(far, kind="stable") if far[there] > SHORTEST_ROUTE_M]
        spread = [fitting[rank] for rank in NEIGHBOURS if rank < len(fitting)] or [int(far.argmax())]
        wanted |= {(min(here, there), max(here, there)) for there in spread}
    routes: list[Route] = []
    for here, there in sorted(wanted):
        route = _route(ports, here, there)
        if route.length_m <= LONGEST_ROUTE_M:
            routes += [route, route.reversed()]
    if not routes:
        routes = [_route(ports, 0, 1), _route(ports, 0, 1).reversed()]
    return tuple(routes)


def _route(ports: tuple[Port, ...], here: int, there: int) -> Route:
    import searoute  # noqa: PLC0415 - loads its lanes for a second; only the driver pays

    begin, end = ports[here], ports[there]
    found = searoute.searoute([begin.lon, begin.lat], [end.lon, end.lat], append_orig_dest=True)
    coordinates = [(begin.lon, begin.lat), *found["geometry"]["coordinates"], (end.lon, end.lat)]
    line = np.array([point[:2] for point in coordinates], dtype=float)
    distinct = np.concatenate([[True], (np.diff(line, axis=0) != 0).any(axis=1)])
    return _smooth(here, there, line[distinct])


def _smooth(here: int, there: int, line: Floats) -> Route:
    """The line with points evenly spaced and corners rounded; its ends stay in place."""
    along = along_m(line[:, 0], line[:, 1])
    count = max(8, int(along[-1] // ROUTE_SPACING_M) + 1)
    even = np.linspace(0, along[-1], count)
    lon, lat = np.interp(even, along, line[:, 0]), np.interp(even, along, line[:, 1])
    reach = np.minimum(np.minimum(even, along[-1] - even), SMOOTHING_M / 2)
    lon, lat = (_averaged(even, values, reach) for values in (lon, lat))
    per_lon, per_lat = metres_per_degree(lat)
    east, north = np.gradient(lon) * per_lon, np.gradient(lat) * per_lat
    left = np.stack([-north, east], axis=1) / np.hypot(east, north)[:, None]
    return Route(here, there, lon, lat, along_m(lon, lat), left)


def _averaged(along: Floats, values: Floats, reach: Floats) -> Floats:
    """At each point the mean of `values` from `reach` before to `reach` after it."""
    area = np.concatenate([[0.0], np.cumsum((values[1:] + values[:-1]) / 2 * np.diff(along))])
    upper, lower = np.interp(along + reach, along, area), np.interp(along - reach, along, area)
    width = 2 * reach
    return np.where(width > 1, (upper - lower) / np.maximum(width, 1), values)


def _near(region: Region, node: tuple[float, float]) -> bool:
    return region.west - 1 <= node[0] <= region.east + 1 and region.south - 1 <= node[1] <= region.north + 1


def _graphs() -> tuple[Any, Any]:
    import searoute  # noqa: PLC0415 - see above

    lanes, harbours = searoute.get_graphs(backend="networkx")
    return lanes, harbours
