"""The recent past against a plain reading of each track's own rows, and however the events are cut."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from foresail.models.inputs.columns import InputColumn, input_columns, usable_names
from foresail.models.inputs.plan import InputPlan, fresh_past
from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.patterns.conditions.typing import AttributeType

MINUTE = 60_000_000
PLAN = InputPlan(
    (InputColumn("speed_kn", "number"), InputColumn("course_deg", "angle"), InputColumn("kind", "step", ("a", "b")))
)
ACCEPTING = np.array([False, False, True])


def random_tracks(
    seed: int, sizes: list[int]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    rng = np.random.default_rng(seed)
    events = sum(sizes)
    values = np.column_stack([rng.normal(8, 3, events), rng.uniform(0, 360, events), rng.integers(0, 2, events)])
    values[rng.random(values.shape) < 0.1] = np.nan
    steps = rng.choice([1, 2, 90], events, p=[0.6, 0.35, 0.05]) * MINUTE
    first_of = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return values, np.cumsum(steps), first_of, rng.integers(0, 3, events).astype(np.int32)


def expected_row(
    values: NDArray[np.float64], minutes: NDArray[np.float64], states: NDArray[np.int32]
) -> dict[str, float]:
    """What the definitions say of the last of these rows, which are the history of one track since its last gap."""
    last = len(values) - 1

    def change(column: int, back: int) -> float:
        return float(values[last, column] - values[last - back, column]) if last >= back else math.nan

    def turn(back: int) -> float:
        return (change(1, back) + 180.0) % 360.0 - 180.0

    slope_over = minutes[last] - minutes[last - 5] if last >= 5 else math.nan
    held = [n for n in range(1, last + 1) if not np.array_equal(values[n, 2:], values[n - 1, 2:], equal_nan=True)]
    state_since = max((n for n in range(1, last + 1) if states[n] != states[n - 1]), default=0)
    matches = [n for n in range(last + 1) if ACCEPTING[states[n]]]
    recent = values[max(0, last - 14) : last + 1, 0]
    return {
        "speed_kn": values[last, 0],
        "speed_kn, change over 1": change(0, 1),
        "speed_kn, change over 5": change(0, 5),
        "speed_kn, change over 15": change(0, 15),
        "speed_kn, slope over 5": change(0, 5) / slope_over,
        "speed_kn, mean over 15": float(np.nanmean(recent)) if not np.isnan(recent).all() else math.nan,
        "course_deg, change over 5": turn(5),
        "kind, before": values[held[-1] - 1, 2] if held else math.nan,
        "kind, since": minutes[last] - minutes[held[-1] if held else 0],
        "step_s": 60.0 * (minutes[last] - minutes[last - 1]) if last else math.nan,
        "hour": (minutes[last] / 60.0) % 24.0,
        "state": float(states[last]),
        "state_events": last - state_since + 1,
        "state_min": minutes[last] - minutes[state_since],
        "match_events": last - matches[-1] if matches else math.nan,
        "match_min": minutes[last] - minutes[matches[-1]] if matches else math.nan,
    }


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([None, 60]))
def test_inputs_are_what_the_definitions_say(seed: int, gap_min: int | None) -> None:
    values, times, first_of, states = random_tracks(seed, [40, 1, 23])
    gap = None if gap_min is None else gap_min * MINUTE
    found = PLAN.advance(values, times, first_of, states, ACCEPTING, gap, fresh_past(3, 3))
    place = {one.label: n for n, one in enumerate(PLAN.inputs)}
    for track in range(3):
        begin = int(first_of[track])
        for event in range(begin, int(first_of[track + 1])):
            if gap is not None and event > begin and times[event] - times[event - 1] > gap:
                begin = event
            rows = slice(begin, event + 1)
            for label, value in expected_row(values[rows], times[rows] / MINUTE, states[rows]).items():
                got = found[event, place[label]]
                assert np.isclose(got, value, rtol=1e-4, atol=1e-3, equal_nan=True), (label, event)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 39))
def test_inputs_do_not_depend_on_how_events_are_cut(seed: int, cut: int) -> None:
    values, times, first_of, states = random_tracks(seed, [40])
    whole = PLAN.advance(values, times, first_of, states, ACCEPTING, None, fresh_past(1, 3))
    past = fresh_past(1, 3)
    parts = [
        PLAN.advance(values[some], times[some], np.array([0, len(times[some])]), states[some], ACCEPTING, None, past)
        for some in (slice(0, cut), slice(cut, None))
    ]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_sailed_distance_is_along_the_way_and_net_as_the_crow_flies() -> None:
    plan = InputPlan((InputColumn("lat", "number"), InputColumn("lon", "number")))
    lat = np.array([0.0, 0.01, 0.0, 0.01])
    values = np.column_stack([lat, np.zeros(4)])
    times = np.arange(4) * MINUTE
    found = plan.advance(
        values, times, np.array([0, 4]), np.zeros(4, dtype=np.int32), ACCEPTING, None, fresh_past(1, 2)
    )
    place = {one.label: n for n, one in enumerate(plan.inputs)}
    assert np.isclose(found[3, place["sailed_long_m"]], 3 * found[1, place["net_m"]])
    assert found[3, place["net_m"]] == found[1, place["net_m"]]
    assert abs(found[1, place["net_m"]] - 1112) < 1


def test_identifiers_constants_and_names_are_no_inputs() -> None:
    types = {
        "mmsi": AttributeType.INTEGER,
        "trip_id": AttributeType.STRING,
        "time": AttributeType.TIMESTAMP,
        "speed_kn": AttributeType.NUMBER,
        "flag": AttributeType.STRING,
    }
    assert usable_names(types) == ("speed_kn", "flag")
    many = tuple(f"name {n}" for n in range(40))
    columns = {
        "speed_kn": ArrayColumn(np.arange(40.0), None, AttributeType.NUMBER),
        "always": ArrayColumn(np.ones(40), None, AttributeType.NUMBER),
        "never": ArrayColumn(np.ones(40), np.zeros(40, dtype=np.bool_), AttributeType.NUMBER),
        "flag": ArrayColumn(np.arange(40, dtype=np.int32) % 2, None, AttributeType.STRING, ("b", "a")),
        "called": ArrayColumn(np.arange(40, dtype=np.int32), None, AttributeType.STRING, many),
        "count": ArrayColumn(np.arange(40), None, AttributeType.INTEGER),
        "status": ArrayColumn(np.arange(40) % 3, None, AttributeType.INTEGER),
    }
    found = {column.name: column for column in input_columns(columns, columns)}
    assert {name: column.kind for name, column in found.items()} == {
        "speed_kn": "number",
        "flag": "step",
        "count": "number",
        "status": "step",
    }
    assert found["flag"].words == ("a", "b")
    other = ArrayColumn(np.array([0, 1, 2], dtype=np.int32), None, AttributeType.STRING, ("a", "z", "b"))
    np.testing.assert_array_equal(found["flag"].numbers(other), [0.0, np.nan, 1.0])
