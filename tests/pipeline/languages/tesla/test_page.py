"""docs/tesla.md: its rules and events give the line that it shows, and its entry can be used."""

import re
from pathlib import Path

from click.testing import CliRunner

from foresail.patterns.catalog.loader import read_text
from foresail.pipeline.cli.try_patterns import command as try_patterns

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "tesla.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_page_shows(tmp_path: Path) -> None:
    rules, readings, printed = re.findall(r"^```\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "fires.tesla").write_text(rules)
    (tmp_path / "readings.jsonl").write_text(readings)
    given = ["--patterns", str(tmp_path / "fires.tesla"), "--events", str(tmp_path / "readings.jsonl"), "--json"]
    assert CliRunner().invoke(try_patterns, given).stdout == printed


def test_the_entry_of_the_page_has_no_fault() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (entry,) = read_text(text, "page")
    assert entry.name == "dark_ships"
    assert list(entry.check()) == []
