"""YAML that others wrote, read within limits: what is too large, too deep or written twice is refused before it costs.

A few lines of YAML can stand for billions of values (aliases of aliases), and a deep one ends the interpreter. So the
text is measured before it is parsed, and nodes are counted as they are composed, each alias for all that it repeats.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml

MOST_BYTES = 1_000_000
MOST_DEPTH = 20
MOST_VALUES = 50_000


class YamlError(Exception):
    """A text that is not YAML, or more of it than is read."""


def bounded_text(file: Path | Traversable, source: str, way_out: str = "Split the file.") -> str:
    """The text of a file, of which no more is read than it may hold; `source` names it in errors."""
    with file.open("rb") as handle:
        content = handle.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        msg = f"{source}: larger than {MOST_BYTES:,} bytes, which is the limit. {way_out}"
        raise YamlError(msg)
    try:
        return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8").read()
    except UnicodeDecodeError as error:
        msg = f"{source}: not UTF-8 text (byte {error.start}). Save the file as UTF-8."
        raise YamlError(msg) from None


def read_yaml_file(file: Path, way_out: str = "Split the file.") -> Any:
    """The value that a YAML file holds, None for an empty one; `way_out` is for a file that is too large."""
    return read_yaml(bounded_text(file, str(file), way_out), str(file))


def read_yaml(text: str, source: str) -> Any:
    """The value that `text` holds; None where it is empty."""
    with yaml_faults(source):
        loader = BoundedLoader(text, source)
        root = loader.get_single_node()
        return None if root is None else loader.construct_document(root)


class BoundedLoader(yaml.SafeLoader):
    """PyYAML's safe loader that counts, and knows no key written twice."""

    def __init__(self, text: str, source: str) -> None:
        if len(text.encode("utf-8", "replace")) > MOST_BYTES:
            msg = f"{source}: longer than {MOST_BYTES:,} bytes, which is the limit. Split it."
            raise YamlError(msg)
        super().__init__(text)
        self.source = source
        self._depth = self._values = 0
        self._sizes: dict[str, int] = {}
        """How many values are below each anchor that is complete."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """PyYAML's step for every node, and for every alias of one."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            self._count(self._size_of_alias(event), event.start_mark)
            return super().compose_node(parent, index)
        before = self._values
        self._count(1, event.start_mark)
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise self.fault(
                event.start_mark, f"nested deeper than {MOST_DEPTH} levels, which is the limit. Flatten it"
            )
        node = super().compose_node(parent, index)
        self._depth -= 1
        if event.anchor is not None:
            self._sizes[event.anchor] = self._values - before
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """PyYAML's step for a mapping, whose keys must differ."""
        node = super().compose_mapping_node(anchor)
        first: dict[tuple[str, str], yaml.Node] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            other = first.setdefault((key.tag, key.value), key)
            if other is not key:
                line = other.start_mark.line + 1
                problem = f"'{key.value}' is written twice, first on line {line}. Keep one of the two"
                raise self.fault(key.start_mark, problem)
        return node

    def fault(self, mark: Any, problem: str) -> YamlError:
        """The fault of what stands there."""
        return YamlError(f"{self.source}:{mark.line + 1}:{mark.column + 1}: {problem}.")

    def _count(self, values: int, mark: Any) -> None:
        self._values += values
        if self._values > MOST_VALUES:
            problem = f"more than {MOST_VALUES:,} values up to here, which is the limit. Split the file"
            raise self.fault(mark, problem)

    def _size_of_alias(self, alias: Any) -> int:
        if alias.anchor in self.anchors and alias.anchor not in self._sizes:
            raise self.fault(alias.start_mark, "the value holds itself. Write it out instead of naming it with '*'")
        return self._sizes.get(alias.anchor, 1)


@contextmanager
def yaml_faults(source: str) -> Iterator[None]:
    """What PyYAML raises, told with file, line and column and the way out."""
    try:
        yield
    except yaml.MarkedYAMLError as error:
        raise YamlError(_sentence(error, source)) from None
    except yaml.YAMLError as error:
        msg = f"{source}:1:1: not a YAML file ({str(error).splitlines()[0]}). Save it as UTF-8 text."
        raise YamlError(msg) from None
    except (ValueError, KeyError, AttributeError, TypeError, OverflowError) as error:
        # a scalar that looks like a number or a date and is none: 2024-13-45, !!int x, a number of 5,000 digits
        msg = f"{source}: a value is not what it looks like ({str(error)[:100]}). Put it between quotes."
        raise YamlError(msg) from None


def _sentence(error: yaml.MarkedYAMLError, source: str) -> str:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    problem = (error.problem or error.context or "bad YAML").replace("\n", " ")
    hint = "Check the indentation and the colons"
    if "mapping values are not allowed" in problem:
        hint = "Put a text that holds ': ' between quotes"
    elif "another document" in problem:
        hint = "Write one document; several entries go into a list, such as 'patterns:'"
    elif "cannot start any token" in problem:
        hint = "Indent with spaces, and put a text that begins with a special sign between quotes"
    return f"{source}:{line}:{column}: bad YAML, {problem}. {hint}."
