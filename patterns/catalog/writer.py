"""An entry as the text of a catalog file: what was given, in the order a person would write it."""

from collections.abc import Sequence
from typing import Any

import yaml

from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.catalog.nodes import Loader


class _Dumper(yaml.SafeDumper):
    """Quotes what our loader would otherwise not read as a text."""


_Dumper.yaml_implicit_resolvers = Loader.yaml_implicit_resolvers


def write_entry(entry: PatternEntry) -> str:
    """YAML that `read_catalog` reads as the same entry."""
    return _dumped(_held(entry))


def write_entries(entries: Sequence[PatternEntry]) -> str:
    """YAML of one file that holds all these entries."""
    return write_entry(entries[0]) if len(entries) == 1 else _dumped({"patterns": [_held(entry) for entry in entries]})


def _dumped(held: dict[str, Any]) -> str:
    text: str = yaml.dump(held, Dumper=_Dumper, sort_keys=False, width=110, allow_unicode=True)
    return text


def _held(entry: PatternEntry) -> dict[str, Any]:
    """What was given, in the order of the model, without what says nothing: empty parts and unset values."""
    held = entry.model_dump(mode="json", by_alias=True, exclude_unset=True)
    keys = (field.alias or name for name, field in PatternEntry.model_fields.items())
    return {key: held[key] for key in keys if held.get(key) not in (None, {}, [])}
