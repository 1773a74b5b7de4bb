import pytest

from foresail.patterns.catalog import PatternEntry, built_in_catalog
from foresail.patterns.catalog.loader import read_text
from foresail.patterns.catalog.writer import write_entry


@pytest.mark.parametrize("name", built_in_catalog().names)
def test_an_entry_written_and_read_again_is_the_same(name: str) -> None:
    entry = built_in_catalog()[name]
    (again,) = read_text(write_entry(entry), "again.yaml")
    assert again.model_dump() == entry.model_dump()


def test_texts_that_look_like_numbers_stay_texts() -> None:
    entry = PatternEntry(name="a", domain="fleet", says="1e3", where={"off": "true"}, pattern="off", notes="12")
    (again,) = read_text(write_entry(entry), "again.yaml")
    assert again.model_dump() == entry.model_dump()
