"""YAML of others: what is refused before it costs anything, and what must go on working."""

from pathlib import Path

import pytest

from foresail.bounded_yaml import MOST_DEPTH, MOST_VALUES, YamlError, read_yaml, read_yaml_file
from tests import hostile_yaml


@hostile_yaml.every_bomb
def test_hostile_yaml_is_refused_at_once(tmp_path: Path, bomb: str) -> None:
    hostile_yaml.refuses(read_yaml_file, YamlError, tmp_path, bomb)


def test_honest_aliases_and_merges_mean_what_they_do_in_yaml() -> None:
    text = "base: &b {x: 1, y: 2}\nmore: {<<: *b, y: 3}\nlist: [*b, *b]\n"
    held = read_yaml(text, "a.yaml")
    assert held["more"] == {"x": 1, "y": 3}
    assert held["list"] == [held["base"]] * 2


def test_an_alias_counts_for_all_that_it_repeats() -> None:
    size = MOST_VALUES // 10
    text = f"a: &a [{', '.join(['1'] * size)}]\nb: [{', '.join(['*a'] * 8)}]\n"
    assert len(read_yaml(text, "a.yaml")["b"]) == 8
    with pytest.raises(YamlError, match=rf"^a\.yaml:2:\d+: more than {MOST_VALUES:,} values"):
        read_yaml(text.replace("b: [", "b: [*a, *a, "), "a.yaml")


def test_the_deepest_that_is_read() -> None:
    def nested(depth: int) -> str:
        return "[" * depth + "]" * depth

    assert read_yaml(nested(MOST_DEPTH), "a.yaml") is not None
    with pytest.raises(YamlError, match=f"a.yaml:1:{MOST_DEPTH + 1}: nested deeper than {MOST_DEPTH} levels"):
        read_yaml(nested(MOST_DEPTH + 1), "a.yaml")


def test_one_key_in_two_mappings_is_no_key_written_twice() -> None:
    assert read_yaml("a: {x: 1}\nb: {x: 2}\n", "a.yaml") == {"a": {"x": 1}, "b": {"x": 2}}


def test_a_text_that_is_not_utf8_is_refused_with_its_byte(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"a: \xff\n")
    with pytest.raises(YamlError, match=r"a\.yaml: not UTF-8 text \(byte 3\)"):
        read_yaml_file(file)


def test_line_ends_of_other_systems_are_read_as_ours(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"a: |\r\n  x\r\n  y\r\n")
    assert read_yaml_file(file) == {"a": "x\ny\n"}
