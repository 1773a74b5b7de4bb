from pathlib import Path

import pytest

from foresail.patterns.catalog import built_in_catalog
from foresail.patterns.catalog.pages import catalog_pages

WRITTEN = Path(__file__).parents[3] / "docs" / "catalog"


def test_the_pages_in_docs_are_current() -> None:
    pages = catalog_pages(built_in_catalog())
    assert {file.name for file in WRITTEN.iterdir()} == set(pages), "run make docs"
    for name, text in pages.items():
        assert (WRITTEN / name).read_text(encoding="utf-8") == text, f"{name} is not current: run make docs"


@pytest.mark.parametrize("name", [entry.name for entry in built_in_catalog()])
def test_a_page_tells_all_that_the_entry_says(name: str) -> None:
    entry = built_in_catalog()[name]
    page = (WRITTEN / f"{name}.md").read_text(encoding="utf-8")
    assert entry.says in page
    assert f"({name}.svg)" in page
    for word in (*entry.parameters, *entry.where, *entry.named_features):
        assert f"| `{word}` |" in page
