import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from foresail.patterns.catalog import PatternEntry, built_in_catalog
from foresail.patterns.catalog.loader import built_in_files, read_text
from foresail.patterns.catalog.writer import catalog_schema, write_entry


@pytest.mark.parametrize("name", [entry.name for entry in built_in_catalog()])
def test_an_entry_written_and_read_again_is_the_same(name: str) -> None:
    entry = built_in_catalog()[name]
    (again,) = read_text(write_entry(entry), "again.yaml")
    assert again.model_dump() == entry.model_dump()


def test_texts_that_look_like_numbers_stay_texts() -> None:
    entry = PatternEntry(name="a", domain="fleet", says="1e3", where={"off": "true"}, pattern="off", notes="12")
    (again,) = read_text(write_entry(entry), "again.yaml")
    assert again.model_dump() == entry.model_dump()


WRITTEN = Path(__file__).parents[3] / "docs" / "catalog.schema.json"
FILES = [pytest.param(file, id=file.name) for file in built_in_files()]


def test_the_schema_in_docs_is_current() -> None:
    assert json.loads(WRITTEN.read_text(encoding="utf-8")) == catalog_schema(), "run make docs"


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(catalog_schema())


@pytest.mark.parametrize("file", FILES)
def test_every_built_in_file_is_valid(file: Any) -> None:
    jsonschema.validate(yaml.safe_load(file.read_text(encoding="utf-8")), catalog_schema())


@pytest.mark.parametrize(
    "fault",
    [{"wher": {}}, {"window": "2hours"}, {"report": "episode"}, {"version": 0}, {"for_each": {"layer": "ports"}}],
)
def test_the_schema_refuses_what_the_loader_refuses(fault: dict[str, Any]) -> None:
    entry = {"name": "a", "domain": "fleet", "says": "b", "pattern": "c"}
    jsonschema.validate(entry, catalog_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**entry, **fault}, catalog_schema())
