"""Every pattern of the built-in catalog on small tracks written by hand: those it must find, and those it must not."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from foresail.patterns.catalog import PatternEntry, built_in_catalog
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions.evaluate import ArrayColumn, evaluate
from foresail.patterns.conditions.relations import value_columns
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.matches import STATUS, Matches
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.recognition.register_recogniser import RegisterRecogniser, kept_columns

TRACKS = Path(__file__).parent / "tracks"
NUMBER, INTEGER, STRING, BOOLEAN = (
    AttributeType.NUMBER,
    AttributeType.INTEGER,
    AttributeType.STRING,
    AttributeType.BOOLEAN,
)
COLUMNS = {
    **dict.fromkeys(("speed_kn", "heading_deg", "drift_deg", "implied_speed_kn", "gap_s", "distance_m"), NUMBER),
    **dict.fromkeys(("coast_distance_m", "port_distance_m", "gas_station_distance_m", "port.distance_m"), NUMBER),
    **dict.fromkeys(("speed_kmh", "fuel_level", "status_duration_min"), NUMBER),
    **dict.fromkeys(("anchorage_distance_m", "relative_speed_kn", "cpa_m", "time_to_cpa_s"), NUMBER),
    **dict.fromkeys(("speed_kn_a", "speed_kn_b"), NUMBER),
    **dict.fromkeys(("vessel_type_a", "vessel_type_b"), STRING),
    **dict.fromkeys(("lon", "lat", "course_deg"), NUMBER),
    "satellites": INTEGER,
    **dict.fromkeys(("vessel_type", "engine"), STRING),
    **dict.fromkeys(("change_in_heading", "in_anchorage", "in_fishing", "accelerating", "ice"), BOOLEAN),
}
"""The columns of the canonical events that the catalog may name; patterns that name another one do not compile here."""
EMPTY = {NUMBER: float("nan"), INTEGER: 0, STRING: "", BOOLEAN: False}
PARSE = {NUMBER: float, INTEGER: int, STRING: str, BOOLEAN: lambda text: {"true": True, "false": False}[text]}
KINDS = {NUMBER: np.float64, INTEGER: np.int64, STRING: object, BOOLEAN: np.bool_}


def cases(kind: str) -> list[Any]:
    return [
        pytest.param(file.stem, case, id=f"{file.stem}: {case['says']}")
        for file in sorted(TRACKS.glob("*.yaml"))
        for case in yaml.safe_load(file.read_text(encoding="utf-8"))[kind]
    ]


def columns_of(rows: list[dict[str, str]]) -> dict[str, ArrayColumn]:
    columns = {}
    for name, kind in COLUMNS.items():
        texts = [row.get(name, "-") for row in rows]
        values = [EMPTY[kind] if text == "-" else PARSE[kind](text) for text in texts]
        valid = np.array([text != "-" for text in texts])
        columns[name] = ArrayColumn(np.array(values, dtype=KINDS[kind]), valid, kind)
    return columns


def microseconds(text: str) -> int:
    hours, minutes = text.split(":")
    return (int(hours) * 60 + int(minutes)) * 60_000_000


def advanced(recogniser: PatternRecogniser | RegisterRecogniser, batch: EventBatch) -> Matches:
    if isinstance(recogniser, RegisterRecogniser):
        return recogniser.advance(batch, recogniser.fresh(1))[0]
    return recogniser.advance(batch, recogniser.fresh(1))[0]


def found_in(track: str, entry: PatternEntry) -> list[Any]:
    """The positions of the detections, or of the first report and the last detection of each episode."""
    head, *lines = (re.split(r"\s+", line.strip()) for line in track.strip().splitlines())
    rows = [dict(zip(head, line, strict=True)) for line in lines]
    assert set(head) - {"time"} <= set(COLUMNS), "the track has a column that no event has"
    pattern = compile_pattern(entry.spec(), COLUMNS)
    recogniser = (PatternRecogniser if pattern.memory is None else RegisterRecogniser)([pattern])
    columns = columns_of(rows)
    bits = [evaluate(condition, columns) for condition in recogniser.conditions]
    words = np.array([[sum(int(holds[n]) << bit for bit, holds in enumerate(bits))] for n in range(len(rows))])
    times = np.array([microseconds(row["time"]) for row in rows], dtype=np.int64)
    columns["time"] = ArrayColumn(times, None, AttributeType.TIMESTAMP)
    batch = EventBatch(
        words.astype(np.int64),
        times,
        np.array([0, len(rows)], dtype=np.int64),
        None,
        value_columns(kept_columns([pattern]), columns, len(rows)),
    )
    matches = advanced(recogniser, batch)
    episodes: dict[tuple[int, int], list[int]] = {}
    for n in range(len(matches)):
        if STATUS[matches.status[n]] == "detected":
            episodes[n, -1] = [int(matches.index[n])]
        elif STATUS[matches.status[n]] in ("opened", "updated"):
            key = (int(matches.id_time[n]), int(matches.id_tie[n]))
            episodes.setdefault(key, []).append(int(matches.index[n]))
    if entry.report == "each":
        return [positions[0] for positions in episodes.values()]
    return [[positions[0], positions[-1]] for positions in episodes.values()]


@pytest.mark.parametrize(("name", "case"), cases("must_match"))
def test_a_pattern_finds_what_it_must(name: str, case: dict[str, Any]) -> None:
    assert found_in(case["track"], built_in_catalog()[name]) == case["found"]


@pytest.mark.parametrize(("name", "case"), cases("near_misses"))
def test_a_pattern_does_not_find_a_near_miss(name: str, case: dict[str, Any]) -> None:
    assert found_in(case["track"], built_in_catalog()[name]) == []


def test_every_pattern_has_tracks_that_match_and_tracks_that_do_not() -> None:
    assert {file.stem for file in TRACKS.glob("*.yaml")} == {entry.name for entry in built_in_catalog()}
    for file in TRACKS.glob("*.yaml"):
        held = yaml.safe_load(file.read_text(encoding="utf-8"))
        assert held["must_match"], file
        assert held["near_misses"], file


def test_an_override_moves_the_threshold_of_a_pattern() -> None:
    case = yaml.safe_load((TRACKS / "trawling.yaml").read_text(encoding="utf-8"))["must_match"][0]
    slower = built_in_catalog(overrides={"trawling.max_speed_kn": "8"})["trawling"]
    assert found_in(case["track"], slower) == []
    assert found_in(case["track"], built_in_catalog(overrides={"trawling.max_speed_kn": "9.5"})["trawling"]) == [[3, 4]]


def test_the_letter_of_a_definition_is_reached_by_its_parameters() -> None:
    case = yaml.safe_load((TRACKS / "anchored.yaml").read_text(encoding="utf-8"))["must_match"][0]
    letter = built_in_catalog(overrides={"anchored.leave_speed_kn": 0.5, "anchored.leave_port_m": 3000})["anchored"]
    assert found_in(case["track"], letter) == [[3, 3]]


def test_every_entry_says_where_it_comes_from_and_when_a_silence_ends_it() -> None:
    for entry in built_in_catalog():
        assert entry.source
        assert entry.says.endswith(".")
        assert "max_gap" in entry.model_fields_set, f"{entry.name} does not state max_gap"
