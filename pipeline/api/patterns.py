"""Patterns from code, from files and from the built-in catalog, and whatever a caller calls patterns as one catalog."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.catalog.faults import say_fault
from foresail.patterns.catalog.languages import LanguageEntry
from foresail.patterns.catalog.loader import (
    DOMAINS,
    Catalog,
    built_in_catalog,
    catalog_of,
    is_catalog_file,
    read_catalog,
)
from foresail.patterns.catalog.nodes import CatalogError, Document
from foresail.patterns.catalog.nodes import Path as NodePath
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.errors import Place, nearest
from foresail.patterns.spec import without_features
from foresail.pipeline.catalogs import patterns_alone

Entry: TypeAlias = PatternEntry | LanguageEntry
Patterns: TypeAlias = Entry | Catalog | str | Path | Iterable["Entry | Catalog | str | Path"]
"""What may be looked for: a pattern, a catalog, a file of patterns, the name of a built-in one; or several of these."""


def pattern(
    name: str,
    pattern: str,
    where: Mapping[str, str] | None = None,
    *,
    window: str | None = None,
    max_gap: str | None = None,
    says: str | None = None,
    **rules: Any,
) -> PatternEntry:
    """A pattern, as an entry of a catalog file would have it; `rules` are the further keys of an entry.

    It is compiled at once, so that a fault in it is told here: `CatalogError` or another `PatternError`.
    """
    held = {"name": name, "says": says or f"{name}: {pattern}", "where": dict(where or {}), "pattern": pattern}
    held |= {key: value for key, value in {"window": window, "max_gap": max_gap, **rules}.items() if value is not None}
    try:
        entry = PatternEntry.model_validate(held)
    except ValidationError as error:
        raise CatalogError(say_fault(error, _document(held, str(name)), ())) from None
    compile_pattern(without_features(entry.spec()))
    return entry


def _document(held: Mapping[str, Any], source: str) -> Document:
    """The entry as if it had been read from a file: every value is where its key says."""
    document = Document(held, source, values={(): Place(source)})

    def note(value: Any, path: NodePath) -> None:
        place = Place(".".join((source, *map(str, path))))
        document.keys[path] = document.values[path] = place
        inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
        for key, below in inner:
            note(below, (*path, key))

    for key, value in held.items():
        note(value, (key,))
    return document


def catalog(domain: str | None = None, **parameters: Any) -> Catalog:
    """The built-in patterns, of the domain `maritime` or `fleet` or of both; `gap__min_gap_h=6` sets a parameter.

    Built-in rules and queries in other languages are named one by one: their results have other columns.
    """
    overrides = {key.replace("__", "."): value for key, value in parameters.items()}
    return Catalog(built_in_catalog(domain, overrides).entries)


def read_patterns(*paths: str | Path) -> Catalog:
    """The patterns of catalog files and folders."""
    return read_catalog([Path(path) for path in paths])


def as_catalog(patterns: Patterns, languages: bool = False) -> Catalog:
    """The patterns that a caller has named, each once; with `languages` also entries in other languages."""
    entries: dict[str, Entry] = {}
    for entry in _entries(patterns):
        if entries.setdefault(entry.name, entry) is not entry:
            msg = f"patterns: there are two called '{entry.name}'. Give one of them another name."
            raise CatalogError(msg)
    if not entries:
        msg = "patterns: there are none. Give fs.pattern(...), fs.catalog('maritime') or fs.read_patterns(FILE)."
        raise CatalogError(msg)
    found = catalog_of(entries.values())
    return found if languages else patterns_alone(found)


def _entries(patterns: Any) -> Iterable[Entry]:
    match patterns:
        case PatternEntry() | LanguageEntry():
            yield patterns
        case Catalog():
            yield from patterns.every
        case Path():
            yield from _entries(read_patterns(patterns))
        case str():
            yield from _named(patterns)
        case Mapping():
            msg = "patterns: a mapping is no pattern. Make one with fs.pattern(NAME, TEXT, where={...})."
            raise CatalogError(msg)
        case Iterable():
            for inner in patterns:
                yield from _entries(inner)
        case _:
            msg = f"patterns: a {type(patterns).__name__} is no pattern. Make one with fs.pattern(NAME, TEXT)."
            raise CatalogError(msg)


def _named(name: str) -> Iterable[Entry]:
    """A domain, a built-in pattern, or a file of that name."""
    if name in DOMAINS:
        return built_in_catalog(name)
    built_in = built_in_catalog()
    if name in built_in.names:
        return [built_in.other(name) or built_in[name]]
    if Path(name).exists() or "/" in name or is_catalog_file(name):
        return _entries(read_patterns(name))
    hint = nearest(name, [*built_in.names, *DOMAINS])
    msg = f"patterns '{name}': no built-in pattern and no file. {hint}Or make one with fs.pattern(...)."
    raise CatalogError(msg)
