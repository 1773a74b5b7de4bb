"""YAML with the place of every value, so that an error in a catalog file can point at its line and column.

Booleans and numbers are read as YAML 1.2 does: `off` and `no` are words here, for `off` is what an engine is.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import yaml

from foresail.bounded_yaml import BoundedLoader, YamlError, yaml_faults
from foresail.patterns.errors import PatternError, Place

Path: TypeAlias = tuple[str | int, ...]
"""The way to a value: `("patterns", 0, "where", "outside")`."""


class CatalogError(PatternError):
    """A catalog file, or an override of one, that cannot be used as it stands."""


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A text just as it stands in its file, and where it begins there."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Document:
    """The value of a YAML file; where each key and each value stands; and the texts as they were written."""

    value: Any
    source: str
    keys: dict[Path, Place] = field(default_factory=dict)
    values: dict[Path, Place] = field(default_factory=dict)
    texts: dict[Path, PlacedText] = field(default_factory=dict)

    def place(self, path: Path) -> Place:
        """Where the value at `path` stands; where its nearest parent does when it is missing."""
        while path not in self.values and path:
            path = path[:-1]
        return self.values.get(path, Place(self.source, 1, 1))

    def key_place(self, path: Path) -> Place:
        """Where the key at `path` stands."""
        return self.keys.get(path) or self.place(path)


class Loader(BoundedLoader):
    """The bounded loader with the scalars of YAML 1.2."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.rpartition(":")[2] in ("null", "merge")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789"))
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$"),
    list("-+0123456789."),
)


def read_document(text: str, source: str) -> Document:
    """The document that `text` holds; `source` names the file in errors."""
    try:
        with yaml_faults(source):
            loader = Loader(text, source)
            root = loader.get_single_node()
            if root is None:
                msg = f"{source}:1:1: the file is empty. Write a pattern into it: name, says, where, pattern."
                raise CatalogError(msg)
            document = Document({}, source)
            _walk(root, (), document, text)
            return replace(document, value=loader.construct_document(root))
    except YamlError as error:
        raise CatalogError(str(error)) from None


def _walk(node: yaml.Node, path: Path, document: Document, text: str) -> None:
    """Note the places of the node and of all below it."""
    document.values[path] = _place(node, document)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            _walk(value, _noted_key(key, path, document), document, text)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            _walk(value, (*path, number), document, text)
    elif isinstance(node, yaml.ScalarNode) and node.tag.endswith(":str"):
        document.texts[path] = _as_written(node, document.source, text)


def _noted_key(key: yaml.Node, path: Path, document: Document) -> Path:
    place = _place(key, document)
    if not isinstance(key, yaml.ScalarNode) or not key.tag.endswith((":str", ":merge")):
        shown = f"'{key.value}'" if isinstance(key, yaml.ScalarNode) else "a list"
        msg = f"{place}: {shown} is not a name. Begin names with a letter."
        raise CatalogError(msg)
    step = (*path, str(key.value))
    document.keys[step] = place
    return step


def _place(node: yaml.Node, document: Document) -> Place:
    return Place(document.source, node.start_mark.line + 1, node.start_mark.column + 1)


def _as_written(node: yaml.ScalarNode, source: str, text: str) -> PlacedText:
    """The characters of the file between the ends of the scalar: line breaks and indentation as they stand.

    Patterns and conditions do not care about white space, so the text as written means the same as YAML's folded
    one, and its lines and columns are those of the file. Escapes in quotes are the one thing that only YAML can undo.
    """
    begin, end = node.start_mark.index, node.end_mark.index
    line, column = node.start_mark.line + 1, node.start_mark.column + 1
    written = text[begin:end]
    if node.style in ("'", '"'):
        written, column = written[1:-1], column + 1
        if "\\" in written or "''" in written:
            return PlacedText(node.value, Place(source, line, column))
    elif node.style in ("|", ">"):
        written = written.partition("\n")[2]
        line, column = line + 1, 1
    return PlacedText(written, Place(source, line, column))
