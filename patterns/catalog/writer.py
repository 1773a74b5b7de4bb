"""An entry as the text of a catalog file: what was given, in the order a person would write it.

The JSON Schema of catalog files, made from the entry model, so that editors complete and check what one types.
"""

from collections.abc import Sequence
from typing import Any

import yaml

from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.catalog.languages import LANGUAGES, LanguageEntry, entry_model
from foresail.patterns.catalog.nodes import Loader


class _Dumper(yaml.SafeDumper):
    """Quotes what our loader would otherwise not read as a text."""


_Dumper.yaml_implicit_resolvers = Loader.yaml_implicit_resolvers


def write_entry(entry: PatternEntry | LanguageEntry) -> str:
    """YAML that `read_catalog` reads as the same entry."""
    return _dumped(_held(entry))


def write_entries(entries: Sequence[PatternEntry]) -> str:
    """YAML of one file that holds all these entries."""
    return write_entry(entries[0]) if len(entries) == 1 else _dumped({"patterns": [_held(entry) for entry in entries]})


def _dumped(held: dict[str, Any]) -> str:
    text: str = yaml.dump(held, Dumper=_Dumper, sort_keys=False, width=110, allow_unicode=True)
    return text


def _held(entry: PatternEntry | LanguageEntry) -> dict[str, Any]:
    """What was given, in the order of the model, without what says nothing: empty parts and unset values."""
    held = entry.model_dump(mode="json", by_alias=True, exclude_unset=True)
    keys = (field.alias or name for name, field in type(entry).model_fields.items())
    return {key: held[key] for key in keys if held.get(key) not in (None, {}, [])}


REFERENCE = "#/$defs/{model}"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def catalog_schema() -> dict[str, Any]:
    """The schema of a file that holds one entry, or a list of them under `patterns:`."""
    models: dict[str, type[PatternEntry] | type[LanguageEntry]] = {"PatternEntry": PatternEntry}
    models |= {entry_model(name, name).__name__: entry_model(name, name) for name in LANGUAGES}
    schemas = {name: model.model_json_schema(by_alias=True, ref_template=REFERENCE) for name, model in models.items()}
    parts = {key: part for schema in schemas.values() for key, part in schema.pop("$defs", {}).items()}
    each = [{"$ref": f"#/$defs/{name}"} for name in models]
    entry = each[0] if len(each) == 1 else {"anyOf": each}
    return {
        "$schema": DIALECT,
        "title": "Foresail catalog file",
        "description": "One pattern, or a list of patterns under `patterns:`.",
        "anyOf": [
            *each,
            {
                "type": "object",
                "properties": {"patterns": {"type": "array", "minItems": 1, "items": entry}},
                "required": ["patterns"],
                "additionalProperties": False,
            },
        ],
        "$defs": {**parts, **schemas},
    }
