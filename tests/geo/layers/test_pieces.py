"""Edges are cut where the earth bends, and nowhere else."""

import numpy as np

from foresail.geo.layers.antimeridian import SAG_M, shortened
from foresail.geo.measures.spheroid import EQUATOR_RADIUS_M


def test_a_short_edge_stays_whole_and_a_long_one_is_cut_from_end_to_end() -> None:
    edges = np.array([[5.0, 50.0, 5.001, 50.001], [-10.0, 40.0, 30.0, 40.0]])
    cut, owner = shortened(edges, np.array([7, 8]))
    assert (owner == 7).sum() == 1
    assert cut[owner == 7].tolist() == [edges[0].tolist()]
    long = cut[owner == 8]
    assert 10 < len(long) < 1_000
    assert long[0, :2].tolist() == [-10.0, 40.0]
    assert long[-1, 2:].tolist() == [30.0, 40.0]
    level, _ = shortened(np.array([[0.0, 0.0, 40.0, 0.0]]), np.array([0]))
    length = np.radians(level[:, 2] - level[:, 0]) * EQUATOR_RADIUS_M
    assert 0.9 * SAG_M < (length**2 / (8 * EQUATOR_RADIUS_M)).max() <= SAG_M
    assert (long[1:, :2] == long[:-1, 2:]).all()
