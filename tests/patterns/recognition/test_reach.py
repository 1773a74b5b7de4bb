"""How far a family looks: as far as its conditions ask, whatever else they ask."""

import pytest

from foresail.patterns.conditions import parse_condition
from foresail.patterns.errors import PatternRuleError
from foresail.patterns.recognition.reach import reach_m


def reach(*texts: str, declared_m: float | None = None) -> float:
    return reach_m([parse_condition(text) for text in texts], "port", declared_m, "entry")


def test_the_farthest_constant_is_how_far_a_family_looks() -> None:
    assert reach("port.distance_m < 5000 and speed_kn > 9000", "not 7000 > port.distance_m") == 7000.0


def test_conditions_on_the_event_alone_do_not_matter() -> None:
    assert reach('port.distance_m < 5 and is_night(time, lon, lat) and not starts_with(name, "a")', "ice") == 5.0


def test_a_distance_that_is_computed_with_must_be_declared() -> None:
    with pytest.raises(PatternRuleError, match="cannot tell how far"):
        reach("is_night(time, lon, port.distance_m)")
    assert reach("floor(port.distance_m) < 3", declared_m=100.0) == 100.0
