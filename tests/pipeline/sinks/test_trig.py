"""Matches and positions as linked data are read by rdflib and by queries over graphs."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rdflib import Dataset

from foresail.pipeline.cli.recognise import command as recognise
from foresail.pipeline.cli.try_patterns import command as try_patterns

SOSA, GEO = "http://www.w3.org/ns/sosa/", "http://www.opengis.net/ont/geosparql#"
PATTERN = """name: stops
version: 1
says: A vessel stops.
where:
  fast: speed_kn > 5
  slow: speed_kn < 1
pattern: fast ; slow
window: 1h
"""
EVENTS = """track,time,lon,lat,speed_kn
a b"c,2024-05-01T12:00:00Z,23.5,37.5,9
a b"c,2024-05-01T12:10:00Z,23.6,37.6,0.5
d,2024-05-01T12:10:00Z,23.7,37.7,9
d,2024-05-01T12:20:00Z,23.8,37.8,0
"""
QUERY = f"""PREFIX sosa: <{SOSA}>
SELECT ?vessel ?when WITHIN 1 HOUR FROM STREAM found <urn:foresail:matches>
WHERE {{ SEQ(M) DEFINE GPM M ON found {{ ?m sosa:hasFeatureOfInterest ?vessel ; sosa:resultTime ?when }} }}
"""


def run(command: Any, *arguments: object) -> Any:
    done = CliRunner().invoke(command, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return done


@pytest.fixture
def found(tmp_path: Path) -> Path:
    (tmp_path / "stops.yaml").write_text(PATTERN)
    (tmp_path / "events.csv").write_text(EVENTS)
    given = ("--engine", "local", "--patterns", tmp_path / "stops.yaml", "--events", tmp_path / "events.csv")
    done = run(recognise, *given, "--out", tmp_path / "out", "--format", "trig", "--positions", "--json")
    assert json.loads(done.stdout.splitlines()[-1])["trig"] == str(tmp_path / "out/matches.trig")
    return tmp_path


def test_matches_are_observations_of_their_tracks(found: Path) -> None:
    (found / "q.spaseq").write_text(QUERY)
    done = run(try_patterns, "--patterns", found / "q.spaseq", "--events", found / "out/matches.trig", "--json")
    rows = [json.loads(row) for row in done.stdout.splitlines()]
    assert [(row["time"][11:16], row["bindings"]["vessel"]) for row in rows] == [
        ("12:10", "<urn:foresail:track:a%20b%22c>"),
        ("12:20", "<urn:foresail:track:d>"),
    ]


def test_positions_are_points_of_geosparql(found: Path) -> None:
    held = Dataset()
    held.parse(found / "out/positions.trig", format="trig")
    points = {str(point) for _, _, point, _ in held.quads((None, None, None, None)) if str(point).startswith("POINT")}
    assert points == {"POINT(23.5 37.5)", "POINT(23.6 37.6)", "POINT(23.7 37.7)", "POINT(23.8 37.8)"}
    speeds = [o.toPython() for _, p, o, _ in held.quads((None, None, None, None)) if str(p).endswith(":speed_kn")]
    assert sorted(speeds) == [0.0, 0.5, 9.0, 9.0]


def test_a_run_in_another_form_takes_the_linked_data_away(found: Path) -> None:
    given = ("--engine", "local", "--patterns", found / "stops.yaml", "--events", found / "events.csv")
    run(recognise, *given, "--out", found / "out")
    assert not list((found / "out").glob("*.trig"))
