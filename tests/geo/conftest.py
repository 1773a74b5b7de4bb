"""Layers that every test of enrichment uses: zones over the 180th meridian and the poles, ports, a coast, weather."""

from collections.abc import Callable

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

from foresail.geo import Layer, LayerSpec, read_layer

ZONES = [
    shapely.Polygon([(170, -20), (-170, -20), (-170, -10), (170, -10)]),
    shapely.box(-180, -90, 180, -80),
    shapely.box(0, 80, 30, 90),
    shapely.box(10, 10, 20, 20).difference(shapely.box(12, 12, 15, 15)),
    shapely.box(18, 18, 25, 25),
    shapely.Point(100, 10).buffer(3),
]


@pytest.fixture(scope="session")
def make_layer(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Layer]:
    folder = tmp_path_factory.mktemp("layers")

    def make(kind: str, shapes: list, columns: dict | None = None, **more: object) -> Layer:
        names = {"name": [f"{kind} {chr(97 + row % 26)}{row}" for row in range(len(shapes))]}
        file = folder / f"{kind}.parquet"
        gpd.GeoDataFrame({**names, **(columns or {})}, geometry=shapes, crs=4326).to_parquet(file)
        return read_layer(LayerSpec(name=f"{kind}s", kind=kind, file=file, **more), folder / "cache")

    return make


@pytest.fixture(scope="session")
def layers(make_layer: Callable[..., Layer]) -> list[Layer]:
    dice = np.random.default_rng(7)
    ports = [shapely.Point(x, y) for x, y in dice.uniform((-180, -85), (180, 85), (60, 2))]
    ports += [
        shapely.Point(179.99, 0),
        shapely.Point(-179.99, 1),
        shapely.Point(40, 90),
        shapely.Point(10, 0),
        shapely.Point(-10, 0),
    ]
    reach = list(np.where(np.arange(len(ports)) % 2, 400_000.0, 20_000.0))
    coast = [shapely.LineString([(170, 10), (-170, 30), (-150, 60)]), shapely.LineString([(0, 0), (90, 0), (90, 89)])]
    return [
        make_layer("zone", ZONES),
        make_layer("port", ports, radius_m=50_000),
        make_layer("light", ports, {"reach": reach}, radius_column="reach"),
        make_layer("coast", coast, radius_m=300),
        make_layer(
            "area", ZONES, {"rule": [f"rule {row}" for row in range(len(ZONES))]}, distance=False, attributes=("rule",)
        ),
    ]


@pytest.fixture(scope="session")
def weather(make_layer: Callable[..., Layer]) -> Layer:
    cells = [shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1)]
    hours = pd.date_range("2026-01-01", periods=4, freq="h", tz="UTC")
    rows = [(cell, hour, hour + pd.Timedelta("1h")) for cell in cells for hour in hours]
    columns = {
        "starts": [row[1].isoformat() for row in rows],
        "ends": [row[2].isoformat() for row in rows],
        "ice": [row % 2 == 0 for row in range(len(rows))],
        "wind_kn": [float(row) for row in range(len(rows))],
    }
    return make_layer(
        "weather",
        [row[0] for row in rows],
        columns,
        valid_from="starts",
        valid_to="ends",
        attributes=("ice", "wind_kn"),
    )


@pytest.fixture(scope="session")
def hard_positions() -> pd.DataFrame:
    """Random positions over the earth, and those where coordinates play tricks."""
    dice = np.random.default_rng(1)
    lon, lat = dice.uniform(-180, 180, 1500), np.degrees(np.arcsin(dice.uniform(-1, 1, 1500)))
    corners = np.vstack(
        [shapely.get_coordinates(shape) for shape in ZONES] + [[(12.0, 13.0), (20, 18), (18, 20), (15, 10)]]
    )
    rim = [(side, y) for side in (-180.0, 180.0) for y in (-90.0, -85.0, -20.0, -15.0, -10.0, 0.0, 45.0, 90.0)]
    poles = [(x, pole) for x in (-180.0, -77.0, 0.0, 15.0, 180.0) for pole in (-90.0, 90.0)]
    off = [(np.nan, 0.0), (0.0, np.nan), (181.0, 0.0), (0.0, 91.0), (1e9, 1e9)]
    extra = np.array([*corners, *rim, *poles, *off, (0.0, 0.0), (-0.0, -0.0)])
    table = pd.DataFrame({"lon": np.concatenate((lon, extra[:, 0])), "lat": np.concatenate((lat, extra[:, 1]))})
    return table.assign(id=np.arange(len(table)))
