"""Mapping files: what they may say, and what a wrong one is answered."""

from pathlib import Path

import pytest

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources import mapped
from foresail.pipeline.sources.mapped import read_mapping
from tests import hostile_yaml

SHIPPED = Path(mapped.__file__).parent / "mappings"


@pytest.mark.parametrize("name", ["solent", "mobilitydb_dk", "capmetro", "liverpool", "carobd"])
def test_the_shipped_mappings_are_sound(name: str) -> None:
    feed = read_mapping(SHIPPED / f"{name}.yaml")
    assert feed.name == name
    assert feed.required


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("columns: {track: id, tmie: t}", "Did you mean 'time'?"),
        ("columns: {track: id, time: t, speed_kn: {column: s, unit: furlong}}", "unknown unit 'furlong'"),
        ("columns: {time: t}", "a track or an mmsi"),
        ("columns: {track: id, time: {col: t}}", "columns.time.column"),
        ("columns: [", "bad YAML"),
    ],
)
def test_a_wrong_mapping_is_answered_with_what_is_wrong(tmp_path: Path, text: str, answer: str) -> None:
    file = tmp_path / "mapping.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_mapping(file)
    assert answer in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_missing_mapping_is_one_readable_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_mapping(tmp_path / "absent.yaml")


@hostile_yaml.every_bomb
def test_a_hostile_mapping_is_refused_at_once(tmp_path: Path, bomb: str) -> None:
    hostile_yaml.refuses(read_mapping, InputError, tmp_path, bomb)


def test_a_column_mapped_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mapping.yaml"
    file.write_text("columns:\n  track: id\n  time: t\n  track: ship\n")
    with pytest.raises(InputError, match=r"mapping\.yaml:4:3: 'track' is written twice, first on line 2\."):
        read_mapping(file)
