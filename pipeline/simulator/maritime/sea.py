"""The sea that vessels sail: real ports and lanes, and around them simulated shores, anchorages and areas.

Real ports and sea lanes, as the package searoute carries them, turned into smooth routes between ports.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from foresail.pipeline.errors import SettingsError
from foresail.pipeline.simulator.geometry import Floats, along_m, cartesian, distance_m, metres_per_degree, moved
from foresail.pipeline.simulator.regions import Region
from foresail.pipeline.simulator.scenario import generator

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


SHORE_BEHIND_PORT_M = 150.0
SHORE_REACH_M = 7_000.0
SHORE_SPACING_M = 500.0
FULL_SHORE = int(2 * SHORE_REACH_M / SHORE_SPACING_M) + 1
SHORE_FROM_LANE_M = 1_900.0
"""A simulated shore ends where it would come this near to a lane: ships keep off real shores."""
ANCHORAGE_FROM_PORT_M = 7_000.0
ANCHORAGE_RADIUS_M = 1_200.0
AREA_RADIUS_M = 9_500.0
FISHING_SPOT_M = 3_000.0
"""How far from its middle work in a fishing area may start, so that it stays inside."""
AREA_FROM_PORT_M = (16_000.0, 60_000.0)


@dataclass(frozen=True, slots=True)
class Zone:
    """A named polygon (closed ring of longitude, latitude) around a centre."""

    name: str
    lon: float
    lat: float
    ring: Floats


@dataclass(frozen=True, slots=True)
class Spot:
    """A place at sea on a route: where something can happen."""

    route: int
    along_m: float
    lon: float
    lat: float
    port_m: float


@dataclass(frozen=True, slots=True)
class Sea:
    """All that is fixed while vessels move."""

    ports: tuple[Port, ...]
    routes: tuple[Route, ...]
    shores: tuple[Floats, ...]
    open_shores: tuple[int, ...]
    anchorages: tuple[Zone, ...]
    anchorage_of_port: dict[int, int]
    fishing_areas: tuple[Zone, ...]
    fishing_spots: frozenset[Spot]
    protected_areas: tuple[Zone, ...]
    spots: tuple[Spot, ...]
    spots_from: dict[int, tuple[Spot, ...]]
    """The spots on the routes from each port, nearest first."""
    routes_from: dict[int, tuple[int, ...]]
    port_xyz: Floats

    @property
    def home_ports(self) -> tuple[int, ...]:
        """The ports from which routes start."""
        return tuple(self.routes_from)


def make_sea(region: Region, seed: int) -> Sea:
    """The sea of `region`; `seed` places the simulated shores, anchorages and areas."""
    random = generator(seed, "sea")
    ports = ports_of(region)
    routes = routes_between(ports)
    routes_from = {
        port: tuple(number for number, route in enumerate(routes) if route.origin == port)
        for port in sorted({route.origin for route in routes})
    }
    spots = _spots(ports, routes)
    anchorages, anchorage_of_port = _anchorages(random, ports, routes, routes_from)
    fishing = _chosen_spots(random, spots, count=max(3, len(ports) // 6))
    protected = _chosen_spots(random, spots, count=max(2, len(ports) // 10))
    lanes = cKDTree(np.concatenate([cartesian(route.lon, route.lat) for route in routes[::2]]))
    shores = tuple(_shore(random, port, _outward(routes, routes_from, n), lanes) for n, port in enumerate(ports))
    return Sea(
        ports=ports,
        routes=routes,
        shores=shores,
        open_shores=tuple(port for port in routes_from if len(shores[port]) == FULL_SHORE),
        anchorages=anchorages,
        anchorage_of_port=anchorage_of_port,
        fishing_areas=tuple(_area(random, f"simulated fishing area {n + 1}", s) for n, s in enumerate(fishing)),
        fishing_spots=_within(spots, fishing, FISHING_SPOT_M),
        protected_areas=tuple(_area(random, f"simulated protected area {n + 1}", s) for n, s in enumerate(protected)),
        spots=spots,
        spots_from=_by_port(spots, routes),
        routes_from=routes_from,
        port_xyz=cartesian(np.array([port.lon for port in ports]), np.array([port.lat for port in ports])),
    )


def port_distances_m(sea: Sea, lon: Floats, lat: Floats) -> Floats:
    """Metres from each point to each port, one column per port."""
    here = cartesian(lon, lat)
    squares = (here**2).sum(axis=1)[:, None] + (sea.port_xyz**2).sum(axis=1)[None, :] - 2 * here @ sea.port_xyz.T
    result: Floats = np.sqrt(np.maximum(squares, 0))
    return result


def _spots(ports: tuple[Port, ...], routes: tuple[Route, ...]) -> tuple[Spot, ...]:
    """Places every 10 km on every route that lie at least 12 km from every port."""
    lon, lat = np.array([port.lon for port in ports]), np.array([port.lat for port in ports])
    found: list[Spot] = []
    for number, route in enumerate(routes):
        for along in np.arange(15_000, route.length_m - 15_000, 10_000):
            here = (float(np.interp(along, route.along_m, values)) for values in (route.lon, route.lat))
            x, y = here
            port_m = float(distance_m(lon, lat, x, y).min())
            if port_m > 12_000:
                found.append(Spot(number, float(along), x, y, port_m))
    return tuple(found) or (_middle(routes[0]),)


def _by_port(spots: tuple[Spot, ...], routes: tuple[Route, ...]) -> dict[int, tuple[Spot, ...]]:
    found: dict[int, list[Spot]] = {}
    for spot in sorted(spots, key=lambda spot: (spot.along_m, spot.route)):
        found.setdefault(routes[spot.route].origin, []).append(spot)
    return {port: tuple(near) for port, near in found.items()}


def _middle(route: Route) -> Spot:
    half = len(route.lon) // 2
    return Spot(0, float(route.along_m[half]), float(route.lon[half]), float(route.lat[half]), route.length_m / 2)


def _chosen_spots(random: np.random.Generator, spots: tuple[Spot, ...], count: int) -> tuple[Spot, ...]:
    """Some spots at a fitting distance from port, apart from each other."""
    near, far = AREA_FROM_PORT_M
    fitting = [spot for spot in spots if near < spot.port_m < far] or list(spots)
    chosen: list[Spot] = []
    for index in random.permutation(len(fitting)):
        spot = fitting[int(index)]
        apart = (distance_m(np.array(spot.lon), np.array(spot.lat), other.lon, other.lat) for other in chosen)
        if all(metres > 2.2 * AREA_RADIUS_M for metres in apart):
            chosen.append(spot)
        if len(chosen) == count:
            break
    return tuple(chosen)


def _within(spots: tuple[Spot, ...], centres: tuple[Spot, ...], reach_m: float) -> frozenset[Spot]:
    """The spots that lie near one of the centres."""
    lon, lat = np.array([centre.lon for centre in centres]), np.array([centre.lat for centre in centres])
    return frozenset(spot for spot in spots if distance_m(lon, lat, spot.lon, spot.lat).min() < reach_m)


def _outward(routes: tuple[Route, ...], routes_from: dict[int, tuple[int, ...]], port: int) -> Floats:
    """The unit vector from the port out to sea."""
    if port not in routes_from:
        return np.array([0.0, 1.0])
    left = routes[routes_from[port][0]].left[4]
    return np.array([left[1], -left[0]])


def _shore(random: np.random.Generator, port: Port, outward: Floats, lanes: cKDTree) -> Floats:
    """A gently bent line behind the port, across the way out, cut where a lane comes near."""
    side = np.array([-outward[1], outward[0]])
    across = np.arange(-SHORE_REACH_M, SHORE_REACH_M + 1, SHORE_SPACING_M)
    bend = random.uniform(0.05, 0.12) * across**2 / SHORE_REACH_M
    wave = random.uniform(20, 60) * (1 - np.cos(across / random.uniform(900, 1400)))
    behind = SHORE_BEHIND_PORT_M + bend + wave
    offset = across[:, None] * side - behind[:, None] * outward
    lon, lat = moved(port.lon, port.lat, offset[:, 0], offset[:, 1])
    free = (lanes.query(cartesian(lon, lat))[0] > SHORE_FROM_LANE_M) | (np.abs(across) < SHORE_FROM_LANE_M)
    middle = len(across) // 2
    first = middle - int(np.argmin(free[middle::-1])) + 1 if not free[: middle + 1].all() else 0
    last = middle + int(np.argmin(free[middle:])) if not free[middle:].all() else len(across)
    return np.stack([lon, lat], axis=1)[first:last]


def _anchorages(
    random: np.random.Generator,
    ports: tuple[Port, ...],
    routes: tuple[Route, ...],
    routes_from: dict[int, tuple[int, ...]],
) -> tuple[tuple[Zone, ...], dict[int, int]]:
    """An anchorage beside the way into every second port, where no other port is near."""
    zones: list[Zone] = []
    of_port: dict[int, int] = {}
    lon, lat = np.array([port.lon for port in ports]), np.array([port.lat for port in ports])
    for port in list(routes_from)[::2]:
        route = routes[routes_from[port][0]]
        at = int(np.searchsorted(route.along_m, ANCHORAGE_FROM_PORT_M))
        shift = route.left[at] * random.choice([-1.0, 1.0]) * 1_500
        x, y = (float(value) for value in moved(route.lon[at], route.lat[at], shift[0], shift[1]))
        if distance_m(lon, lat, x, y).min() > 6_500:
            of_port[port] = len(zones)
            zones.append(_circle(f"simulated anchorage off {ports[port].name}", x, y, np.full(12, ANCHORAGE_RADIUS_M)))
    return tuple(zones), of_port


def _area(random: np.random.Generator, name: str, spot: Spot) -> Zone:
    return _circle(name, spot.lon, spot.lat, AREA_RADIUS_M * random.uniform(1.0, 1.35, size=14))


def _circle(name: str, lon: float, lat: float, radii_m: Floats) -> Zone:
    angle = np.linspace(0, 2 * np.pi, len(radii_m), endpoint=False)
    per_lon, per_lat = metres_per_degree(lat)
    ring = np.stack([lon + radii_m * np.cos(angle) / per_lon, lat + radii_m * np.sin(angle) / per_lat], axis=1)
    return Zone(name, lon, lat, np.concatenate([ring, ring[:1]]))
