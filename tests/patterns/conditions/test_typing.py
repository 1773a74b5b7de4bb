"""Checking conditions against a schema: every fault is named with its place and what to write instead."""

import pytest

from foresail.patterns.conditions import AttributeType, check_types, parse_condition
from foresail.patterns.errors import ConditionTypeError, Place, UnknownAttributeError
from tests.condition_cases import TYPES, conditions, drawn

SCHEMA = {key: kind for key, kind in TYPES.items() if "." not in key}
FEATURES = {"port": {"distance_m": AttributeType.NUMBER, "name": AttributeType.STRING}}
WHERE = Place("trawling", 7, 3)


def check(text: str) -> None:
    check_types(parse_condition(text, WHERE), SCHEMA, WHERE, features=FEATURES)


@pytest.mark.parametrize(
    "text",
    [
        "speed_kn > 5 and status in (1, 2.5) and mmsi == speed_kn",
        'vessel_type == "tug" or flag != vessel_type or ice == true or not moored',
        'time > "2024-05-01T12:00:00Z" and seconds_since(last) < 60 and time > last.time',
        'hour(time) > 20 and is_night(time, speed_kn, course_deg) and starts_with(lower(flag), "a") or sqrt(mmsi) < 3',
        "last.speed_kn * 2 < port.distance_m and port.name is known",
    ],
)
def test_a_sound_condition_passes(text: str) -> None:
    check(text)


FAULTS = """
ice and sped_kn > 5 | trawling:7:11: unknown attribute 'sped_kn'. Did you mean 'speed_kn'? Known attributes: course_deg,
port.distance > 5 | trawling:7:3: unknown attribute 'port.distance'. Did you mean 'port.distance_m'?
last.sped_kn > 5 | trawling:7:3: unknown attribute 'last.sped_kn'. Did you mean 'last.speed_kn'?
vessel_type > 5 | trawling:7:3: vessel_type is a text and 5 is an integer: they cannot be compared. Compare it
ice and "a" == mmsi | trawling:7:18: "a" is a text and mmsi is an integer: they cannot be compared. Compare it
mmsi == vessel_type | trawling:7:3: mmsi is an integer and vessel_type is a text: they cannot be compared. Compare
flag in ("a", 5) | trawling:7:3: flag is a text and 5 is an integer
ice == 1 | trawling:7:3: ice is true or false and 1 is an integer: they cannot be compared. Compare it with true
flag < "b" | trawling:7:3: flag is a text, which has no order for <. Use ==, != or in
ice > moored | trawling:7:3: ice is true or false, which has no order for >.
time > "noon" | trawling:7:3: "noon" is not a time. Compare it with a time in quotes, such as "2024-
time > 5 | trawling:7:3: time is a time and 5 is an integer
time > flag | trawling:7:3: time is a time and flag is a text
time - last.time > 5 | trawling:7:3: `time - last.time` needs numbers, and time is a time. Use seconds_since(register)
abs(flag) > 5 | trawling:7:7: `abs(flag)` needs numbers, and flag is a text.
hour(speed_kn) > 3 | trawling:7:8: `hour(speed_kn)` needs a time, and speed_kn is a number. Name an
lower(mmsi) == "a" | trawling:7:9: `lower(mmsi)` needs a text, and mmsi is an integer. Name an
is_night(time, flag, 1) | trawling:7:12: `is_night(time, flag, 1)` needs numbers, and flag is a text.
lower(flag) > "a" | trawling:7:9: lower(flag) is a text, which has no order for >.
starts_with(flag, "a") == 1 | trawling:7:15: starts_with(flag, "a") is true or false and 1 is an integer
ice or speed_kn | trawling:7:10: 'speed_kn' is a number, not a condition. Compare it with something
"""


@pytest.mark.parametrize("fault", FAULTS.strip().splitlines())
def test_a_fault_is_named_with_its_place_and_the_way_out(fault: str) -> None:
    text, message = (part.strip() for part in fault.split("|"))
    with pytest.raises(UnknownAttributeError if "unknown" in message else ConditionTypeError) as caught:
        check(text)
    assert str(caught.value).startswith(message)


def test_every_condition_that_both_back_ends_agree_on_passes_the_check() -> None:
    for condition in drawn(conditions, 200):
        check_types(condition, TYPES, WHERE)
