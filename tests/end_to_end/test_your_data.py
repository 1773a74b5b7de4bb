"""The commands of docs/your_data.md are run as a reader would run them, and find what the page says they find."""

import shlex
import subprocess
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from tests.end_to_end.test_readme import ROOT, shell_commands

PAGE = (ROOT / "docs" / "your_data.md").read_text(encoding="utf-8")


@pytest.mark.spark
@pytest.mark.timeout(1500)  # Spark is started three times
def test_every_command_of_the_page_works_and_finds_what_it_says(tmp_path: Path) -> None:
    for shared in ("docs", ".venv"):
        (tmp_path / shared).symlink_to(ROOT / shared)
    for command in shell_commands(PAGE):
        done = subprocess.run(
            shlex.split(command), capture_output=True, text=True, check=False, cwd=tmp_path, timeout=500
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    mapping = yaml.safe_load((tmp_path / "out/ferries/ferries.yaml").read_text(encoding="utf-8"))
    assert mapping == yaml.safe_load(PAGE.partition("```yaml\n")[2].partition("```")[0])
    found = pq.read_table(tmp_path / "out/ferries/found/matches").to_pylist()
    seen = {(row["pattern"], row["track"]) for row in found}
    assert {track for pattern, track in seen if pattern == "stopped_at_sea"} == {"Ravn"}
    assert {track for pattern, track in seen if pattern == "fast_over_shallows"} == {"Alk", "Ravn", "Tern"}
    assert Counter(row["track"] for row in found if row["pattern"].startswith("port_entry")).keys() == {
        "Alk",
        "Ravn",
        "Tern",
    }
    assert (tmp_path / "out/ferries/found/report.html").stat().st_size > 10_000


def test_the_page_shows_the_file_of_patterns_as_it_is() -> None:
    shown = PAGE.split("```yaml\n")[2].partition("```")[0]
    assert shown in (ROOT / "docs" / "your_data" / "patterns.yaml").read_text(encoding="utf-8")


def test_the_readme_leads_to_the_page() -> None:
    assert "(docs/your_data.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
