"""The page of settings is current and complete."""

from pathlib import Path

import pytest

from foresail.pipeline.settings import known_keys
from foresail.pipeline.settings_page import settings_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == settings_page(), "run `make docs`"


def test_the_page_has_every_key() -> None:
    page = settings_page()
    assert [key for key in known_keys() if f"`{key}`" not in page] == []


def test_the_page_does_not_depend_on_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = settings_page()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert settings_page() == before
