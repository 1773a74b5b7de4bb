import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias
from xml.etree import ElementTree

import pytest

from foresail.pipeline.cli import main

SLOW = """\
name: slow_down
domain: maritime
says: A fast vessel becomes slow.
where:
  fast: speed_kn > 5
  slow: speed_kn <= 5
pattern: fast ; slow
"""


class Said(NamedTuple):
    stdout: str
    stderr: str


Foresail: TypeAlias = Callable[..., Said]


@pytest.fixture
def foresail(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Foresail:
    """The command as the shell runs it, in this process; its exit code must be `code`."""

    def run(*arguments: object, code: int = 0) -> Said:
        monkeypatch.setattr(sys, "argv", ["foresail", "catalog", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = Said(*capsys.readouterr())
        assert (ended.value.code or 0) == code, said.stderr
        return said

    return run


def test_list_names_every_pattern_and_what_it_finds(foresail: Foresail) -> None:
    held = json.loads(foresail("list", "--domain", "fleet", "--json").stdout)
    assert {row["domain"] for row in held["patterns"]} == {"fleet"}
    assert "route" in [row["name"] for row in held["patterns"]]
    lines = foresail("list").stdout.splitlines()
    assert any(line.startswith("trawling ") and "fishing vessel" in line for line in lines)


def test_show_tells_all_about_a_pattern(foresail: Foresail) -> None:
    said = foresail("show", "trawling", "--set", "trawling.max_speed_kn=8").stdout
    for words in ("max_speed_kn  8", "trawls{3,}", "4 states", "30min", "Ntoulias"):
        assert words in said
    held = json.loads(foresail("show", "port_entry", "--json").stdout)
    assert held["for_each"] == {"layer": "ports", "as": "port", "radius_m": 10000.0}
    assert held["states"] == 4


def test_show_as_yaml_is_a_catalog_file_to_begin_with(foresail: Foresail, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(foresail("show", "trawling", "--yaml").stdout, encoding="utf-8")
    assert foresail("check", tmp_path / "own.yaml").stdout == "1 pattern, no fault.\n"
    listed = foresail("list", "--patterns", tmp_path / "own.yaml").stdout
    assert listed.startswith("trawling  maritime")


def test_an_unknown_pattern_is_one_line_with_the_nearest_name(foresail: Foresail) -> None:
    said = foresail("show", "trawlin", code=1)
    assert said.stderr.startswith("foresail: unknown pattern 'trawlin'. Did you mean 'trawling'?")
    assert said.stderr.count("\n") == 1


def test_check_tells_every_fault_of_every_file(foresail: Foresail, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(SLOW, encoding="utf-8")
    assert foresail("check", tmp_path).stdout == "1 pattern, no fault.\n"
    (tmp_path / "b.yaml").write_text(SLOW.replace("says:", "sais:"), encoding="utf-8")
    wrong = SLOW.replace("slow_down", "c").replace("fast ; slow", "fast ; slw")
    (tmp_path / "c.yaml").write_text(wrong, encoding="utf-8")
    said = foresail("check", tmp_path, "--json", code=1)
    held = json.loads(said.stdout)
    assert held["patterns"] == ["slow_down"]
    assert len(held["faults"]) == 2
    assert f"foresail: {tmp_path / 'b.yaml'}:3:1: unknown key 'sais'" in said.stderr
    assert f"foresail: {tmp_path / 'c.yaml'}:7:17: unknown condition 'slw'" in said.stderr


def test_check_tells_of_two_patterns_with_one_name(foresail: Foresail, tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(SLOW, encoding="utf-8")
    assert "there is a pattern 'slow_down' already" in foresail("check", tmp_path, code=1).stderr


@pytest.mark.parametrize("suffix", ["svg", "dot"])
def test_draw_writes_the_automaton(foresail: Foresail, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / "new" / f"a.{suffix}"
    assert "4 states" in foresail("draw", "approaching_port", "-o", file).stdout
    text = file.read_text(encoding="utf-8")
    if suffix == "svg":
        ElementTree.fromstring(text)
    else:
        assert text.startswith('digraph "approaching_port" {')


def test_draw_refuses_a_picture_it_cannot_make(foresail: Foresail, tmp_path: Path) -> None:
    said = foresail("draw", "route", "-o", tmp_path / "a.png", code=2)
    assert "Name a file that ends in .svg or .dot." in said.stderr


def test_import_writes_entries_that_check_reads(foresail: Foresail, tmp_path: Path) -> None:
    source = tmp_path / "My Pattern.sre"
    source.write_text(";(EQ(a,1),*(EQ(a,2),EQ(b,3)))&+(EQ(a,1),EQ(a,2))", encoding="utf-8")
    said = foresail("import", source, "-o", tmp_path / "out")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["my_pattern_1.yaml", "my_pattern_2.yaml"]
    assert "read as one of their sequence" in said.stderr
    assert foresail("check", tmp_path / "out").stdout == "2 patterns, no fault.\n"
    (tmp_path / "both.yaml").write_text(foresail("import", source).stdout, encoding="utf-8")
    assert foresail("check", tmp_path / "both.yaml").stdout == "2 patterns, no fault.\n"


def test_import_of_a_missing_or_wrong_file_is_a_readable_fault(foresail: Foresail, tmp_path: Path) -> None:
    assert "cannot be read" in foresail("import", tmp_path / "no.sre", code=1).stderr
    wrong = tmp_path / "wrong.sre"
    wrong.write_text(";(EQ(a,1)", encoding="utf-8")
    said = foresail("import", wrong, code=1).stderr
    assert said.startswith(f"foresail: {wrong}:1:10: the text ends too early.")
    assert said.endswith("^\n")


def test_a_command_without_its_argument_is_a_fault_of_usage(foresail: Foresail) -> None:
    foresail("show", code=2)
    foresail("chek", code=2)
