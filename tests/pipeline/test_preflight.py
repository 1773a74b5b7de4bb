"""Faults that need no Spark are told before it starts."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foresail.patterns.catalog.loader import Catalog, built_in_catalog, read_text
from foresail.patterns.errors import UnknownAttributeError
from foresail.pipeline.errors import InputError
from foresail.pipeline.preflight import check_inputs, check_layers, check_models, check_request, columns_of, is_little

FORESAIL = str(Path(sys.executable).parent / "foresail")
HEADER = "track,time,lon,lat,speed_kn,sog\n"


def catalog(condition: str = "sog > 3") -> Catalog:
    return Catalog(read_text(f"{{name: p, says: s, where: {{a: {condition}}}, pattern: a}}", "p.yaml"))


def built_in(name: str) -> Catalog:
    return Catalog((built_in_catalog()[name],))


@pytest.fixture
def events(tmp_path: Path) -> str:
    (tmp_path / "events.csv").write_text(HEADER)
    return str(tmp_path / "events.csv")


def test_what_fits_is_not_refused(events: str) -> None:
    check_request([events], catalog(), None, must_fit=True)
    check_request(["some_table"], catalog("what > 3"), None, must_fit=True)
    check_request(["kafka://h:1/topic"], catalog("what > 3"), None, must_fit=True)
    check_request([events], built_in("anchored"), None, must_fit=False)


def test_a_missing_file_is_told_with_the_nearest(events: str) -> None:
    with pytest.raises(InputError, match=r"event\.csv: no such file or folder\. Did you mean 'events\.csv'\?"):
        check_request([events.replace("events.csv", "event.csv")], catalog(), None, must_fit=True)


def test_a_form_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "events.docx").write_text("")
    with pytest.raises(InputError, match="neither CSV, JSON lines nor Parquet"):
        check_request([str(tmp_path / "events.docx")], catalog(), None, must_fit=True)


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet"])
def test_an_unknown_attribute_is_told_with_its_place(tmp_path: Path, form: str) -> None:
    file = tmp_path / f"events.{form}"
    if form == "parquet":
        pq.write_table(pa.table({name: ["1"] for name in HEADER.strip().split(",")}), file)
    else:
        file.write_bytes(gzip.compress(HEADER.encode()) if form == "csv.gz" else HEADER.encode())
    assert columns_of([str(file)]) == tuple(HEADER.strip().split(","))
    with pytest.raises(UnknownAttributeError, match=r"p\.yaml:1:31: unknown attribute 'sogg'\. Did you mean 'sog'\?"):
        check_request([str(file)], catalog("sogg > 3"), None, must_fit=True)


def test_a_layer_attribute_names_enrich(events: str) -> None:
    with pytest.raises(InputError, match=r"'port_distance_m': it comes from a layer.*Run `foresail enrich`"):
        check_request([events], built_in("anchored"), None, must_fit=True)


def test_a_family_without_its_layer_and_a_pattern_of_pairs_are_told(events: str) -> None:
    with pytest.raises(InputError, match=r"over the layer 'ports', which is not at hand\. Name a layers file"):
        check_request([events], built_in("port_entry"), None, must_fit=True)
    with pytest.raises(InputError, match="foresail enrich --pairs-within"):
        check_request([events], built_in("encounter"), None, must_fit=True)


def test_a_header_that_is_not_one_of_events_is_left_to_the_reader(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("track;time;speed\n")
    check_request([str(tmp_path / "odd.csv")], catalog(), None, must_fit=True)


def test_layers_inputs_and_models_that_are_not_there_are_told(tmp_path: Path) -> None:
    file = tmp_path / "layers.yaml"
    file.write_text("layers: [{name: ports, kind: port, file: ports.geojson}]\n")
    with pytest.raises(InputError, match=r"the file of layer 'ports', .*ports\.geojson, does not exist"):
        check_layers(file)
    with pytest.raises(InputError, match="cannot be read"):
        check_layers(tmp_path / "no.yaml")
    with pytest.raises(InputError, match="no such file or folder, or nothing in it"):
        check_inputs([str(tmp_path / "*.nmea")], None)
    with pytest.raises(InputError, match="no such file of static data"):
        check_inputs([str(file)], tmp_path / "static.csv")
    with pytest.raises(InputError, match="has no model of any of these patterns"):
        check_models(str(tmp_path), catalog())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["recognise", "--events", "no.csv", "--patterns", "drifting", "--out", "out"], "no.csv: no such file"),
        (["train", "--events", "e.csv", "--patterns", "port_entry", "--models", "m"], "port_entry: is a family"),
        (["evaluate", "--events", "e.csv", "--patterns", "anchored", "--out", "out"], "anchored.yaml:16:13: unknown"),
        (
            ["forecast", "--events", "e.csv", "--patterns", "drifting", "--models", "m", "--out", "out"],
            "m: has no model",
        ),
        (["enrich", "--events", "e.csv", "--layers", "no.yaml", "--out", "out"], "no.yaml: cannot be read"),
        (["ingest", "--from", "noaa", "--input", "no.csv", "--out", "out"], "no.csv: no such file or folder"),
    ],
)
def test_no_java_is_started_for_a_fault_that_needs_none(tmp_path: Path, arguments: list[str], says: str) -> None:
    (tmp_path / "e.csv").write_text(HEADER)
    done = subprocess.run(
        [FORESAIL, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "JAVA_HOME": "/nowhere"},
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"foresail: {says}")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["e.csv"], "nothing is made"


def test_what_is_little_is_told_by_the_size_of_all_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foresail.pipeline.preflight.LITTLE_BYTES", 10)
    (tmp_path / "a").write_bytes(b"12345")
    assert is_little([str(tmp_path)])
    assert not is_little([str(tmp_path), str(tmp_path / "a")])
    assert not is_little([str(tmp_path / "*"), str(tmp_path / "*")])
    assert not is_little(["kafka://there/topic"])
