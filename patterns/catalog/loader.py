"""Catalog files to entries: every fault is told with its file, line and column, and the nearest right word.

Values that a user sets from outside: `trawling.max_speed_kn=8` in place of the catalog's own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from math import isfinite
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from foresail.bounded_yaml import YamlError, bounded_text
from foresail.patterns.catalog.entry import Parameter, PatternEntry, did_you_mean
from foresail.patterns.catalog.faults import say_fault
from foresail.patterns.catalog.languages import LANGUAGES, LanguageEntry, entry_model, entry_of_text, language_of_file
from foresail.patterns.catalog.nodes import CatalogError, Document, read_document
from foresail.patterns.catalog.nodes import Path as NodePath
from foresail.patterns.errors import Place

SETTABLE = ("window", "max_gap", "min_dwell")
"""Fields of an entry, beside its parameters, that may be set; `none` takes them away."""


def parse_override(text: str) -> tuple[str, str]:
    """`pattern.parameter=value` as the name and the value."""
    name, sign, value = text.partition("=")
    if not sign or "." not in name or not value.strip():
        msg = f"--set {text}: not an override. Write pattern.parameter=value, such as trawling.max_speed_kn=8."
        raise CatalogError(msg)
    return name.strip(), value.strip()


def apply_overrides(entries: Sequence[PatternEntry], overrides: Mapping[str, Any]) -> tuple[PatternEntry, ...]:
    """The entries with these values in place; each value is read as the type of the one it replaces."""
    by_name = {entry.name: entry for entry in entries}
    for key, value in overrides.items():
        name, _, parameter = key.partition(".")
        if name not in by_name:
            msg = f"{key}={value}: unknown pattern '{name}'. {did_you_mean(name, by_name)}"
            raise CatalogError(msg)
        by_name[name] = _override(by_name[name], parameter, value, said=f"{key}={value}")
    return tuple(by_name.values())


def _override(entry: PatternEntry, parameter: str, value: Any, said: str) -> PatternEntry:
    if parameter in entry.parameters:
        typed = _like(entry.parameters[parameter], value, said)
        return entry.with_values(parameters={**entry.parameters, parameter: typed})
    if parameter not in SETTABLE:
        known = [*entry.parameters, *SETTABLE]
        msg = f"{said}: pattern '{entry.name}' has no parameter '{parameter}'. {did_you_mean(parameter, known)}"
        raise CatalogError(msg)
    try:
        return entry.with_values(**{parameter: None if str(value).lower() in ("none", "null", "never") else str(value)})
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        msg = f"{said}: {fault}"
        raise CatalogError(msg) from None


def _like(default: Parameter, value: Any, said: str) -> Parameter:
    """The value as the type of the default: a threshold stays a number, a switch stays a switch."""
    text = str(value).strip()
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            msg = f"{said}: '{text}' is neither true nor false. Write one of the two."
            raise CatalogError(msg)
        return text.lower() == "true"
    if isinstance(default, str):
        return text
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        msg = f"{said}: '{text}' is not a number. Write one such as {default}."
        raise CatalogError(msg)
    return int(number) if number.is_integer() and "." not in text else number


DOMAINS = ("maritime", "fleet")
SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Catalog:
    """Patterns by name, in the order they were read, and apart from them the entries in other languages."""

    entries: tuple[PatternEntry, ...]
    others: tuple[LanguageEntry, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all entries."""
        return tuple(entry.name for entry in self.every)

    @property
    def every(self) -> tuple[PatternEntry | LanguageEntry, ...]:
        """Patterns, then the entries in other languages."""
        return self.entries + self.others

    def __iter__(self) -> Iterator[PatternEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def _repr_html_(self) -> str:
        """The patterns as a notebook shows them."""
        rows = "".join(f"<tr><td><code>{escape(e.name)}</code></td><td>{escape(e.says)}</td></tr>" for e in self.every)
        return f"<table><thead><tr><th>pattern</th><th>what it finds</th></tr></thead><tbody>{rows}</tbody></table>"

    def __getitem__(self, name: str) -> PatternEntry:
        for entry in self.entries:
            if entry.name == name:
                return entry
        other = self.other(name)
        if other is not None:
            msg = f"'{name}' is written in {other.language}: it is no pattern. Name a pattern."
            raise CatalogError(msg)
        msg = f"unknown pattern '{name}'. {did_you_mean(name, self.names)}"
        raise CatalogError(msg)

    def other(self, name: str) -> LanguageEntry | None:
        """The entry of that name in another language."""
        return next((entry for entry in self.others if entry.name == name), None)


def catalog_of(entries: Iterable[PatternEntry | LanguageEntry], overrides: Mapping[str, Any] | None = None) -> Catalog:
    """The entries as a catalog, with values in place of the patterns' own."""
    held = list(entries)
    patterns = [entry for entry in held if isinstance(entry, PatternEntry)]
    others = tuple(entry for entry in held if not isinstance(entry, PatternEntry))
    return Catalog(apply_overrides(patterns, overrides or {}), others)


def read_catalog(paths: Sequence[Path], overrides: Mapping[str, Any] | None = None) -> Catalog:
    """The patterns of these files and folders, with the values of `overrides` in place of the files' own."""
    found = [(entry, place) for path in catalog_files(paths) for entry, place in _read_file(path, str(path))]
    return catalog_of(_without_twins(found), overrides)


def built_in_catalog(domain: str | None = None, overrides: Mapping[str, Any] | None = None) -> Catalog:
    """The patterns that come with the software, of one domain or of all."""
    if domain is not None and domain not in DOMAINS:
        msg = f"unknown domain '{domain}'. {did_you_mean(domain, DOMAINS)}"
        raise CatalogError(msg)
    return catalog_of((entry for entry in _built_in() if domain in (None, entry.domain)), overrides)


def read_text(text: str, source: str) -> tuple[PatternEntry | LanguageEntry, ...]:
    """The entries of a catalog file whose text is at hand; `source` names it in errors."""
    return tuple(entry for entry, _ in _entries_of(read_document(text, source)))


def built_in_files() -> tuple[Traversable, ...]:
    """The catalog files that come with the software."""
    root = files("foresail.patterns.catalog")
    return tuple(
        file
        for domain in DOMAINS
        for file in sorted(root.joinpath(domain).iterdir(), key=lambda file: file.name)
        if is_catalog_file(file.name)
    )


def is_catalog_file(name: str) -> bool:
    """Whether a file of this name holds patterns, or the text of another language."""
    return name.endswith((*SUFFIXES, *(f".{language}" for language in LANGUAGES)))


def catalog_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The catalog files among these paths and in the folders among them."""
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if is_catalog_file(file.name))
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
def _built_in() -> tuple[PatternEntry | LanguageEntry, ...]:
    return _without_twins(found for file in built_in_files() for found in _read_file(file, file.name))


def _read_file(file: Path | Traversable, source: str) -> list[tuple[PatternEntry | LanguageEntry, Place]]:
    try:
        text = bounded_text(file, source)
    except YamlError as error:
        raise CatalogError(str(error)) from None
    except OSError as error:
        msg = f"{source}: cannot be read ({error.strerror}). Check its permissions."
        raise CatalogError(msg) from None
    if language_of_file(file.name):
        return [entry_of_text(text, file.name.rpartition(".")[0], source)]
    return _entries_of(read_document(text, source))


def _entries_of(document: Document) -> list[tuple[PatternEntry | LanguageEntry, Place]]:
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


def _entry(document: Document, path: NodePath) -> PatternEntry | LanguageEntry:
    held = document.value
    for step in path:
        held = held[step]
    if not isinstance(held, dict):
        msg = f"{document.place(path)}: not a pattern. Write name:, says:, where: and pattern: here."
        raise CatalogError(msg)
    model: type[PatternEntry | LanguageEntry] = PatternEntry
    if "language" in held:
        model = entry_model(str(held["language"]), document.place((*path, "language")))
    try:
        entry = model.model_validate(held)
    except ValidationError as error:
        raise CatalogError(say_fault(error, document, path, model)) from None
    size = len(path)
    texts = {
        tuple(map(str, at[size:])): text for at, text in document.texts.items() if at[:size] == path and len(at) > size
    }
    return entry.written_as(texts)


def _without_twins(
    found: Iterable[tuple[PatternEntry | LanguageEntry, Place]],
) -> tuple[PatternEntry | LanguageEntry, ...]:
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
