"""What a simulation may be asked for, and what is said when it may not."""

from datetime import UTC, datetime

import pytest

from foresail.pipeline.errors import SettingsError
from foresail.pipeline.simulator.settings import SimulationSettings


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"domain": "maritim"}, "Did you mean 'maritime'?"),
        ({"domain": "trains"}, "Known values: maritime, fleet"),
        ({"tracks": 0}, "--tracks: 0 is out of range"),
        ({"days": -1.0}, "--days: -1 is out of range"),
        ({"days": float("nan")}, "--days: nan is out of range"),
        ({"step_s": 0.0}, "--step: 0 is out of range"),
        ({"seed": -5}, "--seed: -5 is out of range"),
        ({"region": "britany"}, "Did you mean 'brittany'?"),
        ({"region": "3,2,1,0"}, "is not a box"),
        ({"region": "1,2,three,4"}, "is not four numbers"),
        ({"mix": "baltik"}, "Did you mean 'baltic'?"),
        ({"tracks": 1_000_000, "days": 30.0}, "Take fewer --tracks"),
    ],
)
def test_an_impossible_wish_is_refused_with_a_way_out(options, says) -> None:
    with pytest.raises(SettingsError, match=r"--|simulate") as refusal:
        SimulationSettings(**options)
    assert says in str(refusal.value)


def test_a_start_without_zone_is_utc() -> None:
    assert SimulationSettings(start=datetime(2026, 1, 1)).start.tzinfo is UTC  # noqa: DTZ001


def test_files_depend_on_the_amount_of_data_alone() -> None:
    assert SimulationSettings(tracks=1).files == 1
    assert SimulationSettings(tracks=50).files == 2
    assert SimulationSettings(tracks=500, days=7).files == 11


def test_a_box_of_degrees_is_a_region() -> None:
    region = SimulationSettings(region="-6,47,2,51").place
    assert region.holds(0, 50)
    assert not region.holds(3, 50)


def test_a_region_without_ports_says_so() -> None:
    from foresail.pipeline.simulator.maritime.scenario import make_maritime

    with pytest.raises(SettingsError, match="holds 0 ports on sea lanes"):
        make_maritime(SimulationSettings(region="5,15,15,25"))
