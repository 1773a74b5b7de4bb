"""The JSON Schema of catalog files, made from the entry model, so that editors complete and check what one types."""

from typing import Any

from foresail.patterns.catalog.entry import PatternEntry

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def catalog_schema() -> dict[str, Any]:
    """The schema of a file that holds one entry, or a list of them under `patterns:`."""
    schema = PatternEntry.model_json_schema(by_alias=True, ref_template="#/$defs/{model}")
    parts = schema.pop("$defs")
    return {
        "$schema": DIALECT,
        "title": "Foresail catalog file",
        "description": "One pattern, or a list of patterns under `patterns:`.",
        "anyOf": [
            {"$ref": "#/$defs/PatternEntry"},
            {
                "type": "object",
                "properties": {"patterns": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/PatternEntry"}}},
                "required": ["patterns"],
                "additionalProperties": False,
            },
        ],
        "$defs": {**parts, "PatternEntry": schema},
    }
