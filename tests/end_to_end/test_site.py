"""The pages of docs/ build as a site: no dead link, no dead anchor, no page left out."""

import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def build(site: Path, settings: Path = ROOT / "mkdocs.yml") -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--config-file",
        str(settings),
        "--site-dir",
        str(site),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)


def test_the_site_is_built_without_a_warning_and_has_every_page(tmp_path: Path) -> None:
    done = build(tmp_path)
    assert done.returncode == 0, done.stderr
    pages = [page.relative_to(DOCS).with_suffix(".html") for page in DOCS.rglob("*.md")]
    assert len(pages) > 20
    missing = [str(page) for page in pages if not (tmp_path / str(page).replace("README", "index")).exists()]
    assert missing == []


def test_every_page_can_be_reached() -> None:
    listed = set(re.findall(r"[\w/]+\.md", (ROOT / "mkdocs.yml").read_text().partition("nav:\n  -")[2]))
    catalog = (DOCS / "catalog" / "README.md").read_text()
    listed |= {f"catalog/{page}" for page in re.findall(r"\]\((\w+\.md)\)", catalog)}
    assert {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} == listed


def test_a_dead_link_is_a_fault(tmp_path: Path) -> None:
    held = yaml.safe_load((ROOT / "mkdocs.yml").read_text()) | {"docs_dir": "docs", "nav": ["index.md"]}
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[gone](gone.md)\n")
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(held))
    done = build(tmp_path / "site", tmp_path / "mkdocs.yml")
    assert done.returncode != 0
    assert "gone.md" in done.stderr
