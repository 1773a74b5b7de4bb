"""Catalog entries in other languages than that of patterns: which languages there are, and what an entry offers.

A language is one line of `LANGUAGES`: the module that has its entry as `ENTRY`. It is imported when an entry of it is
read. Running it is the business of `foresail.pipeline.languages`.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, PrivateAttr, field_validator

from foresail.patterns.catalog.entry import Alert, Part, check_name, did_you_mean
from foresail.patterns.catalog.nodes import CatalogError, PlacedText
from foresail.patterns.errors import Place

LANGUAGES: dict[str, str] = {
    "spaseq": "foresail.patterns.spaseq.entry",
    "tesla": "foresail.patterns.tesla.entry",
}
"""By the name of a language (also the ending of its files) the module of its entry."""
Section: TypeAlias = tuple[str, Sequence[tuple[str, str]]]
"""A heading and rows below it, each with a name."""


class LanguageEntry(Part):
    """An entry of the catalog whose text is in a language of its own."""

    TEXT: ClassVar[str]
    """The key that holds the text; a file by itself is this text."""

    language: str = Field(description="The language of the entry.")
    name: str = Field(description="The entry's name, unique in the catalog.")
    version: int = Field(1, ge=1, description="Counted up whenever the meaning of the entry changes.")
    domain: Literal["maritime", "fleet"] | None = Field(None, description="Vessels or vehicles; null: either.")
    says: str = Field(min_length=1, description="What the entry finds, in one sentence.")
    source: str | None = Field(None, description="Where the definition comes from.")
    notes: str | None = Field(None, description="What a reader should know beyond the sentence.")
    alert: Alert | None = Field(None, description="How a result becomes an alert.")

    _texts: dict[tuple[str, ...], PlacedText] = PrivateAttr(default_factory=dict)

    @field_validator("name")
    @classmethod
    def _usable_name(cls, name: str) -> str:
        return check_name(name, "an entry")

    def placed(self, *path: str) -> PlacedText:
        """The text at `path` as written in its file, or as held when the entry was not read from one."""
        if path in self._texts:
            return self._texts[path]
        held: Any = self
        for step in path:
            held = held[step] if isinstance(held, Mapping) else getattr(held, step)
        return PlacedText(str(held), Place(f"{self.name}.{'.'.join(path)}"))

    def written_as(self, texts: Mapping[tuple[str, ...], PlacedText]) -> Self:
        """The same entry that also knows where its texts stand."""
        entry = self.model_copy()
        entry._texts = dict(texts)
        return entry

    def check(self) -> Sequence[str]:
        """What a reader should know of an entry that can be used; raises `PatternError` for one that cannot."""
        raise NotImplementedError

    def reads_patterns(self) -> Sequence[str]:
        """The names of patterns whose matches are events of this entry."""
        return ()

    def sections(self) -> Iterable[Section]:
        """What `foresail catalog show` tells beyond name and sentence."""
        raise NotImplementedError

    def drawn(self, form: str) -> str:
        """The entry as a picture: `svg` or `dot`."""
        raise NotImplementedError

    def draw(self) -> "LanguageDrawing":
        """The entry as a picture, which shows itself in a notebook."""
        return LanguageDrawing(self.drawn("svg"))


class LanguageDrawing:
    """A picture in a notebook."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg


def entry_model(language: str, place: Place | str) -> type[LanguageEntry]:
    """The model of the entries of a language."""
    if language not in LANGUAGES:
        known = did_you_mean(language, LANGUAGES)
        msg = f"{place}: unknown language '{language}'. {known} Leave the key out for a pattern."
        raise CatalogError(msg)
    model: type[LanguageEntry] = import_module(LANGUAGES[language]).ENTRY
    return model


def language_of_file(name: str) -> str | None:
    """The language whose text is all that a file of this name holds."""
    suffix = name.rpartition(".")[2] if "." in name else ""
    return suffix if suffix in LANGUAGES else None


def entry_of_text(text: str, name: str, source: str) -> tuple[LanguageEntry, Place]:
    """The entry that a file by itself is, with the defaults of its language."""
    language = language_of_file(source)
    assert language is not None, "the name tells the language"
    model = entry_model(language, source)
    start = Place(source)
    own = name if name.isidentifier() and name.isascii() else "_" + "".join(c if c.isalnum() else "_" for c in name)
    try:
        check_name(own, "an entry")
    except ValueError:
        own = f"{own}_1" if own.isascii() else language
    held = {"language": language, "name": own, "says": f"{name}.{language}", model.TEXT: text}
    return model.model_validate(held).written_as({(model.TEXT,): PlacedText(text, start)}), start
