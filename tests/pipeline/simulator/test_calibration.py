"""Speeds, mixes and unknown values lie near what was measured on real feeds (docs/simulator.md has the table)."""

import numpy as np
import pytest

from foresail.pipeline.simulator.calibration import PUBLISHED, measured
from foresail.pipeline.simulator.maritime.plan import make_plans
from foresail.pipeline.simulator.maritime.scenario import make_maritime
from foresail.pipeline.simulator.settings import SimulationSettings


@pytest.fixture(scope="module")
def figures():
    return measured(make_maritime(SimulationSettings(tracks=160, days=2.5, seed=11)))


def test_moving_speeds_have_the_published_percentiles(figures) -> None:
    assert figures.speed_kn.keys() == PUBLISHED.keys()
    for group, (slow, middle, fast) in figures.speed_kn.items():
        low, median, high = PUBLISHED[group]
        assert abs(slow - low) < 1.5, group
        assert abs(middle - median) < 3, group
        assert abs(fast - high) < 3.5, group


def test_unknown_values_have_the_published_shares(figures) -> None:
    unknown = figures.unknown
    assert 0.10 < unknown["heading_deg"] < 0.52
    assert 0.005 < unknown["course_deg"] < 0.14
    assert 0.0003 < unknown["speed_kn"] < 0.0018
    assert 0.05 < unknown["nav_status"] < 0.40


@pytest.mark.parametrize(("mix", "most"), [("us", "pleasure"), ("baltic", "cargo"), ("mixed", "cargo")])
def test_a_mix_makes_its_kind_the_most_common(vessels, mix, most) -> None:
    plans = make_plans(vessels.scenario.sea, SimulationSettings(tracks=400, days=1, mix=mix))
    kinds, counts = np.unique([plan.vessel_type for plan in plans], return_counts=True)
    assert kinds[counts.argmax()] == most
