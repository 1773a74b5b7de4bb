"""The simulated town: a street grid, gas stations on its crossings, and weather cells that freeze by the hour."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foresail.pipeline.simulator.geometry import Bools, Floats, moved
from foresail.pipeline.simulator.regions import point, polygon, write_index, write_layer
from foresail.pipeline.simulator.scenario import generator
from foresail.pipeline.simulator.settings import SimulationSettings

REACH_M = 8_000.0
BLOCK_M = 400.0
STATIONS = 14
CELLS = 4
CELL_M = 2 * REACH_M / CELLS
PERIOD_S = 6 * 3_600.0
ICY = 0.25
"""Share of cells with ice on the road in a period; at least two cells have it in each."""

INDEX = (
    {
        "name": "gas_stations",
        "kind": "gas_station",
        "file": "gas_stations.geojson",
        "name_column": "name",
        "radius_m": 100,
    },
    {"name": "weather", "kind": "weather", "file": "weather.geojson", "name_column": "name"},
)


@dataclass(frozen=True, slots=True)
class Town:
    """All that is fixed while vehicles drive; places are metres east and north of the centre."""

    lon: float
    lat: float
    stations: Floats
    ice: NDArray[np.bool_]
    """Period, column, row of cells: is there ice?"""

    def degrees(self, place: Floats) -> tuple[Floats, Floats]:
        """Longitude and latitude of places (n, 2)."""
        return moved(self.lon, self.lat, place[:, 0], place[:, 1])


def make_town(settings: SimulationSettings) -> Town:
    """The town of the region; the seed places stations and ice."""
    random = generator(settings.seed, "town")
    blocks = int(REACH_M // BLOCK_M) - 2
    stations = random.integers(-blocks, blocks + 1, (STATIONS, 2)) * BLOCK_M
    periods = int(settings.duration_s // PERIOD_S) + 1
    ice = random.random((periods, CELLS, CELLS)) < ICY
    for period in range(periods):
        for cell in random.choice(CELLS * CELLS, 2, replace=False):
            ice[period, cell // CELLS, cell % CELLS] = True
    lon, lat = settings.place.town
    return Town(lon, lat, stations.astype(float), ice)


def crossing(random: np.random.Generator) -> Floats:
    """Some crossing of the grid."""
    blocks = int(REACH_M // BLOCK_M) - 1
    return BLOCK_M * random.integers(-blocks, blocks + 1, 2).astype(np.float64)


def cell_of(place: Floats) -> NDArray[np.int64]:
    """Column and row of the weather cell of each place."""
    return np.clip((place + REACH_M) // CELL_M, 0, CELLS - 1).astype(np.int64)


def icy(town: Town, time_s: Floats, place: Floats) -> Bools:
    """Whether there is ice on the road, there and then."""
    period = np.clip(time_s // PERIOD_S, 0, len(town.ice) - 1).astype(np.int64)
    cell = cell_of(place)
    result: Bools = town.ice[period, cell[:, 0], cell[:, 1]]
    return result


def icy_cell(town: Town, random: np.random.Generator, time_s: float) -> Floats:
    """The middle of some cell with ice at that time."""
    period = min(int(time_s // PERIOD_S), len(town.ice) - 1)
    cells = np.argwhere(town.ice[period])
    middle: Floats = (cells[int(random.integers(len(cells)))] + 0.5) * CELL_M - REACH_M
    return middle


def write_town(town: Town, settings: SimulationSettings, folder: Path) -> None:
    """Write gas stations and weather cells (each with the time it is valid for), and their index."""
    lon, lat = town.degrees(town.stations)
    stations = zip(lon.tolist(), lat.tolist(), strict=True)
    write_layer(
        folder / "gas_stations.geojson",
        (point(x, y, name=f"simulated station {n + 1}") for n, (x, y) in enumerate(stations)),
    )
    write_layer(folder / "weather.geojson", _weather(town, settings))
    write_index(folder, INDEX)


def _weather(town: Town, settings: SimulationSettings) -> list[dict[str, object]]:
    first = settings.start.timestamp()
    features = []
    for period, column, row in np.ndindex(town.ice.shape):
        west, south = column * CELL_M - REACH_M, row * CELL_M - REACH_M
        corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]) * CELL_M + [west, south]
        lon, lat = town.degrees(corners)
        valid = (_iso(first + period * PERIOD_S), _iso(first + (period + 1) * PERIOD_S))
        features.append(
            polygon(
                np.stack([lon, lat], axis=1),
                name=f"cell {column}-{row}",
                ice=bool(town.ice[period, column, row]),
                valid_from=valid[0],
                valid_to=valid[1],
            )
        )
    return features


def _iso(seconds: float) -> str:
    return str(np.datetime64(round(seconds), "s")) + "Z"
