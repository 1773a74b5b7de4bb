"""The reason of a match names the conditions that hold and the values that make them hold."""

from typing import Any

import pytest

from foresail.patterns.compiler import compile_pattern
from foresail.pipeline.stream.alerts import attributes_in_reasons
from foresail.pipeline.stream.alerts.reasons import match_reasons, worded
from tests.pipeline.stream.alerts.alert_rows import entry_of, match, table


def reason(where: dict[str, str], pattern: str, **values: Any) -> str:
    compiled = compile_pattern(entry_of(where=where, pattern=pattern).spec())
    rows = table([match(0, **values)])
    assert rows is not None
    (text,) = match_reasons(rows, {"slow": compiled}, {"slow": "A vessel is slow."})
    return text


@pytest.mark.parametrize(
    ("condition", "values", "said"),
    [
        ("speed_kn < 5 and depth_m > 1000", {}, "speed_kn 3.25 (< 5), depth_m 4,100 (> 1,000)"),
        ("1 < speed_kn < 5", {}, "speed_kn 3.25 (> 1 and < 5)"),
        ("speed_kn < 5 or depth_m < 10", {}, "speed_kn 3.25 (< 5)"),
        ("not speed_kn >= 5", {}, "speed_kn 3.25 (< 5)"),
        ("drift_deg is known and drift_deg > 30", {"drift_deg": 41.0}, "drift_deg 41 (> 30)"),
        ('vessel_type in ("tug", "pilot")', {"vessel_type": "tug"}, "vessel_type tug"),
        ("in_port and speed_kn > 2", {"in_port": True}, "in_port, speed_kn 3.25 (> 2)"),
        (
            "angle(heading_deg, course_deg) > 30",
            {"heading_deg": 10.0, "course_deg": 70.0},
            "heading_deg 10, course_deg 70 (angle(heading_deg, course_deg) > 30)",
        ),
    ],
)
def test_the_reason_says_which_values_hold(condition: str, values: dict[str, Any], said: str) -> None:
    assert reason({"crawling": condition}, "crawling", **values) == said


def test_only_conditions_that_hold_at_the_event_are_named() -> None:
    where = {"fast": "speed_kn > 10", "crawling": "speed_kn < 5"}
    assert reason(where, "fast ; crawling") == "speed_kn 3.25 (< 5)"


def test_without_values_the_reason_is_what_the_pattern_says() -> None:
    assert reason({"far": "port_distance_m > 5000"}, "far") == "A vessel is slow."


def test_a_family_tells_the_distance_of_its_feature() -> None:
    entry = entry_of(
        where={"near": "port.distance_m < 5000"}, pattern="near", for_each={"layer": "ports", "as": "port"}
    )
    compiled = compile_pattern(entry.spec())
    assert attributes_in_reasons(compiled) == ("port.distance_m",)
    rows = table([match(0, **{"port.distance_m": 4100.0})])
    assert rows is not None
    assert match_reasons(rows, {"slow": compiled}, {}) == ["port.distance_m 4,100 (< 5,000)"]


def test_attributes_of_forecasting_are_not_asked_for() -> None:
    entry = entry_of(features={"deep": "depth_m > 500", "turning": "turn_deg > 5"})
    assert attributes_in_reasons(compile_pattern(entry.spec())) == ("speed_kn", "depth_m")


def test_values_read_as_people_write_them() -> None:
    values = (3.14159, 41234.5, 7, 12345, None, True, "Brest")
    assert [worded(value) for value in values] == ["3.142", "41,234", "7", "12,345", "unknown", "true", "Brest"]


def test_thousands_are_set_apart_from_one_thousand_on() -> None:
    assert [worded(value) for value in (1000.0, -1000.4, 999.94, 0.00012345)] == [
        "1,000",
        "-1,000",
        "999.9",
        "0.0001234",
    ]
