"""Catalog files to entries: every fault is told with its file, line and column, and the nearest right word."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from foresail.patterns.bounded_yaml import YamlError, bounded_text
from foresail.patterns.catalog.entry import PatternEntry, did_you_mean
from foresail.patterns.catalog.faults import say_fault
from foresail.patterns.catalog.nodes import CatalogError, Document, read_document
from foresail.patterns.catalog.nodes import Path as NodePath
from foresail.patterns.catalog.overrides import apply_overrides
from foresail.patterns.errors import Place

DOMAINS = ("maritime", "fleet")
SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Catalog:
    """Patterns by name, in the order they were read."""

    entries: tuple[PatternEntry, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the patterns."""
        return tuple(entry.name for entry in self.entries)

    def __iter__(self) -> Iterator[PatternEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, name: str) -> PatternEntry:
        for entry in self.entries:
            if entry.name == name:
                return entry
        msg = f"unknown pattern '{name}'. {did_you_mean(name, self.names)}"
        raise CatalogError(msg)


def read_catalog(paths: Sequence[Path], overrides: Mapping[str, Any] | None = None) -> Catalog:
    """The patterns of these files and folders, with the values of `overrides` in place of the files' own."""
    found = [(entry, place) for path in catalog_files(paths) for entry, place in _read_file(path, str(path))]
    entries = _without_twins(found)
    return Catalog(apply_overrides(entries, overrides or {}))


def built_in_catalog(domain: str | None = None, overrides: Mapping[str, Any] | None = None) -> Catalog:
    """The patterns that come with the software, of one domain or of all."""
    if domain is not None and domain not in DOMAINS:
        msg = f"unknown domain '{domain}'. {did_you_mean(domain, DOMAINS)}"
        raise CatalogError(msg)
    entries = tuple(entry for entry in _built_in() if domain in (None, entry.domain))
    return Catalog(apply_overrides(entries, overrides or {}))


def read_text(text: str, source: str) -> tuple[PatternEntry, ...]:
    """The entries of a catalog file whose text is at hand; `source` names it in errors."""
    return tuple(entry for entry, _ in _entries_of(read_document(text, source)))


def built_in_files() -> tuple[Traversable, ...]:
    """The catalog files that come with the software."""
    root = files("foresail.patterns.catalog")
    return tuple(
        file
        for domain in DOMAINS
        for file in sorted(root.joinpath(domain).iterdir(), key=lambda file: file.name)
        if file.name.endswith(SUFFIXES)
    )


def catalog_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The catalog files among these paths and in the folders among them."""
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
            if not inside:
                msg = f"{path}: the folder holds no catalog file. Name a folder with .yaml files in it."
                raise CatalogError(msg)
            yield from inside
        elif path.is_file():
            yield path
        else:
            siblings = [file.name for file in path.parent.glob("*")] if path.parent.is_dir() else []
            hint = f" {did_you_mean(path.name, siblings)}" if siblings else ""
            msg = f"{path}: no such file or folder.{hint}"
            raise CatalogError(msg)


@cache
def _built_in() -> tuple[PatternEntry, ...]:
    return _without_twins(found for file in built_in_files() for found in _read_file(file, file.name))


def _read_file(file: Path | Traversable, source: str) -> list[tuple[PatternEntry, Place]]:
    try:
        text = bounded_text(file, source)
    except YamlError as error:
        raise CatalogError(str(error)) from None
    except OSError as error:
        msg = f"{source}: cannot be read ({error.strerror}). Check its permissions."
        raise CatalogError(msg) from None
    return _entries_of(read_document(text, source))


def _entries_of(document: Document) -> list[tuple[PatternEntry, Place]]:
    held = document.value
    if not isinstance(held, dict):
        msg = f"{document.place(())}: a catalog file holds one pattern, or a list under 'patterns:'. Write name: first."
        raise CatalogError(msg)
    if "patterns" not in held:
        return [(_entry(document, ()), document.key_place(("name",)))]
    beside = [key for key in held if key != "patterns"]
    if beside:
        msg = f"{document.key_place((beside[0],))}: '{beside[0]}' stands beside 'patterns:'. Move it into an entry."
        raise CatalogError(msg)
    if not isinstance(held["patterns"], list) or not held["patterns"]:
        msg = f"{document.place(('patterns',))}: 'patterns:' holds no list. Write '- name: ...' below it."
        raise CatalogError(msg)
    return [
        (_entry(document, ("patterns", n)), document.key_place(("patterns", n, "name")))
        for n in range(len(held["patterns"]))
    ]


def _entry(document: Document, path: NodePath) -> PatternEntry:
    held = document.value
    for step in path:
        held = held[step]
    if not isinstance(held, dict):
        msg = f"{document.place(path)}: not a pattern. Write name:, says:, where: and pattern: here."
        raise CatalogError(msg)
    try:
        entry = PatternEntry.model_validate(held)
    except ValidationError as error:
        raise CatalogError(say_fault(error, document, path)) from None
    size = len(path)
    texts = {
        tuple(map(str, at[size:])): text for at, text in document.texts.items() if at[:size] == path and len(at) > size
    }
    return entry.written_as(texts)


def _without_twins(found: Iterable[tuple[PatternEntry, Place]]) -> tuple[PatternEntry, ...]:
    first: dict[str, Place] = {}
    entries = []
    for entry, place in found:
        if entry.name in first:
            msg = (
                f"{place}: there is a pattern '{entry.name}' already, at {first[entry.name]}. "
                "Give one of the two another name, or leave one file out."
            )
            raise CatalogError(msg)
        first[entry.name] = place
        entries.append(entry)
    return tuple(entries)
