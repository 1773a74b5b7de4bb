"""Every Python block of the README and of docs/api.md runs, and prints what stands below it."""

import contextlib
import io
import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```\n)?", re.DOTALL)


def blocks(page: str) -> list[tuple[str, str | None]]:
    return [(found["code"], found["printed"]) for found in BLOCK.finditer((ROOT / page).read_text())]


@pytest.mark.parametrize("page", ["README.md", "docs/api.md"])
def test_what_a_page_shows_is_what_python_prints(page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = blocks(page)
    assert found, "a page without a block shows nothing"
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    with pd.option_context("display.width", 120, "display.max_columns", 20):
        for code, printed in found:
            told = io.StringIO()
            with contextlib.redirect_stdout(told):
                exec(compile(code, page, "exec"), names)
            if printed is not None:
                assert told.getvalue() == printed
