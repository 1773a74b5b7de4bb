"""Mapping files: what they may say, and what a wrong one is answered."""

from pathlib import Path

import pytest

from pipeline.errors import InputError
from pipeline.sources import mapped
from pipeline.sources.mapped import read_mapping

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
        ("columns: [", "not YAML"),
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
