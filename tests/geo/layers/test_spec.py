"""The layers file: what it may say, and what it is told when it says something else."""

from pathlib import Path

import pytest

from foresail.geo.errors import LayersFileError
from foresail.geo.layers.spec import read_layer_specs
from tests import hostile_yaml


def written(folder: Path, text: str) -> Path:
    file = folder / "layers.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "layers: [{name: ports, kind: port, file: maps/ports.geojson, radius_m: 5000}]")
    (spec,) = read_layer_specs(file)
    assert spec.file == (tmp_path / "maps" / "ports.geojson").resolve()
    assert spec.radius_m == 5000
    assert not spec.has_land
    file = written(tmp_path, "layers: [{name: c, kind: coast, file: c.geojson, land_file: land.geojson}]")
    (spec,) = read_layer_specs(file)
    assert spec.land_file == (tmp_path / "land.geojson").resolve()
    assert spec.has_land


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("layers: [{name: a, kind: port, file: a.csv, radus_m: 3}]", "unknown key 'radus_m'. Did you mean 'radius_m'?"),
        ("layers: [{kind: port, file: a.csv}]", "layer 1: 'name' is missing"),
        ("layers: [{name: a, kind: my port, file: a.csv}]", "layer 'a': kind:"),
        ("layers: [{name: a, kind: port, file: a.csv, radius_m: -1}]", "layer 'a': radius_m:"),
        ("layers: [{name: a, kind: b, file: a.csv}, {name: c, kind: b, file: c.csv}]", "two layers have the kind 'b'"),
        ("layers: [{name: a, kind: b, file: a.csv}, {name: a, kind: d, file: c.csv}]", "two layers have the name 'a'"),
        ("layers: []", "no list of layers"),
        ("ports: 3", "no list of layers"),
        ("- a", "no list of layers"),
        ("layers: [", "bad YAML"),
        ("layers: [{name: a, kind: b, file: a.csv, valid_from: t}]", "valid_from and valid_to go together"),
        ("layers: [{name: a, kind: b, file: a.csv, radius_m: 1, radius_column: r}]", "radius_m and radius_column"),
        ("layers: [{name: a, kind: b, file: a.csv, lon_column: x}]", "lon_column and lat_column go together"),
        ("layers: [{name: a, kind: b, file: a.csv, land_file: l.csv}]", "land_file is given for a layer without"),
        ("layers: [{name: a, kind: coast, file: a.csv}, {name: c, kind: d, file: c.csv, land: true}]", "'a' and 'c'"),
        ("layers: [{name: a, kind: b, file: a.csv, land: true, valid_from: s, valid_to: e}]", "land: true does not go"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_place_and_remedy(tmp_path: Path, text: str, said: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(LayersFileError) as fault:
        read_layer_specs(file)
    assert str(file) in str(fault.value)
    assert said in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(LayersFileError, match="cannot be read"):
        read_layer_specs(tmp_path / "none.yaml")


@hostile_yaml.every_bomb
def test_a_hostile_layers_file_is_refused_at_once(tmp_path: Path, bomb: str) -> None:
    hostile_yaml.refuses(read_layer_specs, LayersFileError, tmp_path, bomb)


def test_a_key_of_a_layer_written_twice_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, "layers:\n- name: a\n  kind: b\n  file: a.csv\n  kind: c\n")
    with pytest.raises(LayersFileError, match=r"layers\.yaml:5:3: 'kind' is written twice, first on line 3\."):
        read_layer_specs(file)
