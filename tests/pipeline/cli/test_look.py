"""`foresail look`: what it prints, writes and answers to programs, without Java and in about a second."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from foresail.pipeline.cli import foresail
from foresail.pipeline.sources.feeds import choose_feed
from tests.pipeline.look.samples import positions, written


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(foresail, ["look", *map(str, arguments)])
    return done.exit_code, done.output


def test_it_shows_columns_rows_doubts_the_mapping_and_what_comes_next(tmp_path: Path) -> None:
    code, said = run(written(tmp_path, "trips.csv", positions(sign=";", comma=True)))
    assert code == 0
    for part in (
        "CSV cut by ';'",
        "decimal commas",
        "vehicle_id",
        "first rows as parsed",
        "unsure: speed",
        "decimal: ','",
    ):
        assert part in said
    assert said.rstrip().splitlines()[-1].startswith("next: foresail ingest --from trips.yaml --input ")


def test_the_mapping_is_written_and_named_by_from(tmp_path: Path) -> None:
    file, mapping = written(tmp_path, "trips.csv", positions()), tmp_path / "maps" / "trips.yaml"
    assert run(file, "--mapping", mapping)[0] == 0
    feed = choose_feed(str(mapping), None)
    assert (feed.name, feed.domain) == ("trips", "fleet")
    assert run(file, "--mapping", mapping)[0] == 0
    mapping.write_text("mine\n")
    done = CliRunner().invoke(foresail, ["look", str(file), "--mapping", str(mapping)])
    assert "--force" in str(done.exception)
    assert mapping.read_text() == "mine\n"
    assert run(file, "--mapping", mapping, "--force")[0] == 0


def test_the_answer_to_programs_is_one_object(tmp_path: Path) -> None:
    code, said = run(written(tmp_path, "trips.csv", positions()), "--json")
    found = json.loads(said.splitlines()[-1])
    assert code == 0
    assert (found["kind"], found["from"], found["delimiter"], found["readable"]) == ("csv", "mapped", ",", True)
    assert found["mapping"]["columns"]["lon"] == "lon"
    assert len(found["rows"]) == 10
    assert found["doubts"]
    assert found["bytes_looked_at"] <= found["size_bytes"]


def test_what_cannot_be_read_ends_with_code_1(tmp_path: Path) -> None:
    code, said = run(written(tmp_path, "empty.csv", ""), "--json")
    assert code == 1
    assert json.loads(said.splitlines()[-1])["next"] is None


def test_it_needs_no_java_and_answers_at_once(tmp_path: Path) -> None:
    file = written(tmp_path, "trips.csv", positions())
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    script = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from foresail.pipeline.cli import foresail\n"
        f"done = CliRunner().invoke(foresail, ['look', {str(file)!r}])\n"
        "from pyspark import SparkContext\n"
        "print(done.exit_code, SparkContext._gateway)\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PATH": ""})
    assert said.stdout.strip() == "0 None"
    # time of the processor, which other work on the machine does not lengthen
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 2.0


@pytest.mark.shared_data
def test_every_real_file_is_answered(shared_data: Path) -> None:
    expected = {
        "noaa_us_20220103_100k.csv.gz": "noaa",
        "solent_20160112.csv.gz": "mapped",
        "mobilitydb_dk_20210108.csv.gz": "mapped",
        "capmetro_austin_bus.csv.gz": "mapped",
        "liverpool_bus_route14.csv.gz": "mapped",
        "gpsd_ais-nmea.log": "nmea",
        "pyais_nmea_data_sample.txt": "nmea",
        "carobd_129trips.tar.xz": None,
        "ne_50m_land.geojson.gz": None,
        "wpi_UpdatedPub150.csv.gz": None,
    }
    for file in sorted(path for path in shared_data.rglob("*") if path.is_file()):
        code, said = run(file, "--json")
        found = json.loads(said.splitlines()[-1])
        assert found["from"] == expected.get(file.name, found["from"]), file
        assert code == (0 if found["readable"] else 1)
        assert found["readable"] or found["faults"]
