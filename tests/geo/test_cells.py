"""Cells answer for every position in them: the nearest piece is among theirs, a settled zone holds all of them."""

from collections.abc import Callable

import geopandas as gpd
import numpy as np
import pyarrow.compute as pc
import pytest
import shapely

from foresail.geo import Layer
from foresail.geo.cells import CELL_DEG, PIECES_WANTED, Cells, cell_size, cell_table
from foresail.geo.measures.spheroid import points_in_space

SPOTS = [(0.0, 0.0), (179.99, 10.0), (-180.0, -45.0), (30.0, 89.99), (100.0, -90.0), (12.0, 12.0)]


def cells_at(spots: list[tuple[float, float]]) -> Cells:
    places = np.array(spots)
    column = np.minimum(np.floor((places[:, 0] + 180) / CELL_DEG), round(360 / CELL_DEG) - 1)
    row = np.minimum(np.floor((places[:, 1] + 90) / CELL_DEG), round(180 / CELL_DEG) - 1)
    return Cells(column.astype(np.int64), row.astype(np.int64))


def inside(cells: Cells, number: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions all over the cell, its corners among them."""
    share = np.vstack((np.random.default_rng(number).uniform(0, 1, (count, 2)), [(0, 0), (1, 0), (0, 1), (1, 1)]))
    return cells.west[number] + share[:, 0] * CELL_DEG, np.minimum(cells.south[number] + share[:, 1] * CELL_DEG, 90.0)


@pytest.mark.parametrize("radius_column", [None, "reach"])
def test_the_nearest_feature_of_every_position_is_among_its_cells_pieces(
    make_layer: Callable[..., Layer], radius_column: str | None
) -> None:
    places = np.random.default_rng(2).uniform((-180, -90), (180, 90), (400, 2))
    close = [(x + 0.01 * k, min(y + 0.004 * k, 90.0)) for x, y in SPOTS for k in range(5)]
    shapes = [shapely.Point(x, y) for x, y in (*places, *close)]
    reach = {"reach": [float(10 ** (row % 6)) for row in range(len(shapes))]}
    layer = make_layer("mark" if radius_column else "spot", shapes, reach, radius_column=radius_column)
    cells = cells_at(SPOTS)
    table = cell_table(cells, layer.index, np.array(shapes), True)
    for number in range(len(SPOTS)):
        known = {piece["feature"] for piece in table["pieces"][number].as_py()}
        answer = layer.index.answer(*inside(cells, number, 200))
        assert set(answer.feature.tolist()) <= known


def test_a_settled_cell_gives_the_answer_of_every_position_in_it(layers: list[Layer]) -> None:
    zone = layers[0]
    shapes = gpd.read_parquet(zone.folder / "features.parquet").geometry.to_numpy()
    dice = np.random.default_rng(3)
    spots = [tuple(spot) for spot in dice.uniform((8, 8), (27, 27), (300, 2))] + SPOTS
    cells = cells_at(spots)
    table = cell_table(cells, zone.index, shapes, False)
    crossed, holder = table["crossed"].to_pylist(), table["holder"].to_pylist()
    assert sum(crossed) < 40
    assert sum(number is not None for number in holder) > 50
    for number in range(len(spots)):
        if not crossed[number]:
            answer = zone.index.answer(*inside(cells, number, 20), distance=False)
            assert set(answer.feature.tolist()) == {-1 if holder[number] is None else holder[number]}


def test_a_cell_inside_a_zone_needs_no_pieces(layers: list[Layer]) -> None:
    shapes = gpd.read_parquet(layers[0].folder / "features.parquet").geometry.to_numpy()
    table = cell_table(cells_at([(11.0, 17.0), (40.0, 40.0)]), layers[0].index, shapes, True)
    assert pc.list_value_length(table["pieces"]).to_pylist()[0] == 0
    assert pc.list_value_length(table["pieces"]).to_pylist()[1] > 0


def test_no_place_of_a_cell_is_farther_from_its_middle_than_the_radius_and_hardly_any_radius_is_wasted() -> None:
    cells = cells_at([(0.0, 0.0), (0.0, -0.001), (12.0, 45.0), (-60.0, -75.0), (179.99, 10.0)])
    middle, radius = cells.middle(), cells.radius_m()
    for number in range(len(radius)):
        away = np.linalg.norm(points_in_space(*inside(cells, number, 50)) - middle[number], axis=1)
        assert away.max() <= radius[number]
        assert away.max() > 0.97 * radius[number]
        west, east, _, _ = (away[corner] for corner in (-4, -3, -2, -1))
        assert west == pytest.approx(east, rel=1e-6)


@pytest.mark.parametrize(
    ("pieces", "halvings"), [(0, 0), (PIECES_WANTED, 0), (PIECES_WANTED + 1, 1), (4 * PIECES_WANTED + 1, 2), (9000, 4)]
)
def test_cells_are_halved_until_one_knows_few_pieces(
    make_layer: Callable[..., Layer], pieces: int, halvings: int
) -> None:
    """All marks lie at one place, so that every one of them can be the nearest."""
    cells = cells_at([(12.0, 12.0)])
    far = shapely.Point(-100.0, -40.0)
    layer = make_layer("mark", [far, *[shapely.Point(12.005, 12.005)] * pieces])
    assert cell_size(cells, layer.index) == CELL_DEG / 2**halvings


def test_a_wide_cell_is_measured_at_its_corners_towards_the_equator() -> None:
    for south in (50.0, -60.0):
        cell = Cells(np.array([3]), np.array([(south + 90.0) / 10.0]), 10.0)
        corner = points_in_space(cell.west, np.array([min(south, south + 10.0, key=abs)]))
        away = np.linalg.norm(corner - cell.middle())
        assert away <= cell.radius_m()[0] < 1.03 * away
