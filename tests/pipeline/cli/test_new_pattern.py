from pathlib import Path

import pytest
from click.testing import CliRunner

from foresail.patterns.catalog.loader import read_catalog
from foresail.pipeline.cli import foresail

FILES = {
    "speeds.csv": "track,time,speed_kn,kind\na,2024-01-01T00:00:00Z,5,ferry\na,2024-01-01T00:10:00Z,0.5,ferry\n",
    "texts.csv": "track,time,kind\na,2024-01-01T00:00:00Z,ferry\n",
    "bare.csv": "track,time\na,2024-01-01T00:00:00Z\n",
}


@pytest.mark.parametrize("name", FILES)
def test_the_entry_runs_as_it_is(tmp_path: Path, name: str) -> None:
    events, out = tmp_path / name, tmp_path / "mine.yaml"
    events.write_text(FILES[name], encoding="utf-8")
    done = CliRunner().invoke(foresail, ["new-pattern", "mine", "--events", str(events), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert f"foresail try --patterns {out} --events {events}" in done.stdout
    assert read_catalog([out]).names == ("mine",)
    tried = CliRunner().invoke(foresail, ["try", "--patterns", str(out), "--events", str(events)])
    assert tried.exit_code == 0, tried.output
    again = CliRunner().invoke(foresail, ["new-pattern", "mine", "--events", str(events), "--out", str(out)])
    assert "is there already" in str(again.exception)


def test_the_columns_are_told_with_what_they_hold(tmp_path: Path) -> None:
    events = tmp_path / "speeds.csv"
    events.write_text(FILES["speeds.csv"], encoding="utf-8")
    CliRunner().invoke(foresail, ["new-pattern", "mine", "--events", str(events), "--out", str(tmp_path / "m.yaml")])
    text = (tmp_path / "m.yaml").read_text(encoding="utf-8")
    assert "#   speed_kn: number from 0.5 to 5" in text
    assert '#   kind: text, such as "ferry"' in text
