import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from foresail.patterns.catalog.loader import built_in_files
from foresail.patterns.catalog.schema import catalog_schema

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
