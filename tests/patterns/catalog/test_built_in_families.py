"""The families of the built-in catalog over two ports, with rows only for the ports within their radius."""

import numpy as np
import pytest

from foresail.patterns.catalog import built_in_catalog
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions.evaluate import ArrayColumn, evaluate
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.recognition.events import EventBatch, Near
from foresail.patterns.recognition.families import FamilyRecogniser
from tests.patterns.layered import LAYER, beside

FROM_A_TO_B_M = [
    (60_000.0, 3_000.0),
    (52_000.0, 5_200.0),
    (30_000.0, 12_000.0),
    (9_500.0, 40_000.0),
    (6_000.0, 50_000.0),
    (5_100.0, 51_000.0),
    (4_000.0, 52_000.0),
]
"""The distances to two ports of a vessel that leaves the second for the first."""
STEP_US = 300_000_000


def words(conditions: tuple[Condition, ...], distances_m: list[float]) -> np.ndarray:
    values = np.array(distances_m, dtype=np.float64)
    columns = {
        "port.distance_m": ArrayColumn(values, None, AttributeType.NUMBER),
        "speed_kn": ArrayColumn(np.full(len(values), 9.0), None, AttributeType.NUMBER),
    }
    held = [evaluate(condition, columns, len(values)) for condition in conditions]
    return np.array([[sum(int(h[n]) << bit for bit, h in enumerate(held))] for n in range(len(values))], dtype=np.int64)


@pytest.mark.parametrize("name", ["port_entry", "approaching_port"])
def test_a_family_finds_the_port_that_is_reached_and_not_the_one_that_is_left(name: str) -> None:
    entry = built_in_catalog()[name]
    assert entry.for_each is not None
    recogniser = FamilyRecogniser([compile_pattern(entry.spec())], LAYER)
    close = [[port for port in (0, 1) if row[port] < entry.for_each.radius_m] for row in FROM_A_TO_B_M]
    near = [row[port] for row, ports in zip(FROM_A_TO_B_M, close, strict=True) for port in ports]
    count = len(FROM_A_TO_B_M)
    batch = EventBatch(
        words(recogniser.conditions, [np.inf] * count),
        np.arange(count, dtype=np.int64) * STEP_US,
        np.array([0, count], dtype=np.int64),
    )
    rows = Near(
        np.cumsum([0, *map(len, close)]).astype(np.int64),
        np.array([port for ports in close for port in ports], dtype=np.int32),
        words(recogniser.conditions, near),
    )
    matches, _ = recogniser.advance(beside(batch, rows), recogniser.fresh(1))
    assert list(zip(matches.index.tolist(), matches.feature.tolist(), strict=True)) == [(7, 0)]
