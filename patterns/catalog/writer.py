"""An entry as the text of a catalog file: what was given, in the order a person would write it."""

from typing import Any

import yaml

from patterns.catalog.entry import PatternEntry
from patterns.catalog.nodes import Loader


class _Dumper(yaml.SafeDumper):
    """Quotes what our loader would otherwise not read as a text."""


_Dumper.yaml_implicit_resolvers = Loader.yaml_implicit_resolvers


def write_entry(entry: PatternEntry) -> str:
    """YAML that `read_catalog` reads as the same entry."""
    held = entry.model_dump(mode="json", by_alias=True, exclude_unset=True)
    text: str = yaml.dump(_ordered(held), Dumper=_Dumper, sort_keys=False, width=110, allow_unicode=True)
    return text


def _ordered(held: dict[str, Any]) -> dict[str, Any]:
    """In the order of the model, without what says nothing: empty parts and unset values."""
    keys = (field.alias or name for name, field in PatternEntry.model_fields.items())
    return {key: held[key] for key in keys if held.get(key) not in (None, {}, [])}
