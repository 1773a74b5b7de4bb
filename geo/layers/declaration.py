"""The layers file as plain values, read within limits: it may come from anywhere, and it is a short list."""

from pathlib import Path
from typing import Any

import yaml
from yaml.composer import ComposerError

from foresail.geo.errors import LayersFileError

MOST_BYTES = 1_000_000
MOST_DEPTH = 10


def read_declaration(file: Path) -> Any:
    """The values that a layers file holds."""
    try:
        with file.open("rb") as handle:
            content = handle.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            msg = f"{file}: larger than {MOST_BYTES:,} bytes, the limit of a layers file. Is it the layer itself?"
            raise LayersFileError(msg)
        return yaml.load(content.decode("utf-8"), _Loader)
    except OSError as error:
        msg = f"{file}: cannot be read ({error.strerror}). Name a layers file that exists."
        raise LayersFileError(msg) from None
    except (yaml.YAMLError, ValueError, KeyError, TypeError, AttributeError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        fault = getattr(error, "problem", None) or str(error)[:100]
        msg = f"{file}{place}: bad YAML, {fault}. Mend the line."
        raise LayersFileError(msg) from None


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader for a short list: flat, every key once, and nothing stands for something else.

    Catalogs and settings have a reader that allows more; it is in a folder that this one does not know.
    """

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            mark: Any = event.start_mark
            raise ComposerError(problem="an alias (*) is not read here: write out what it names", problem_mark=mark)
        if self._depth == MOST_DEPTH:
            raise ComposerError(
                problem=f"nested deeper than {MOST_DEPTH} levels, the limit", problem_mark=event.start_mark
            )
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        keys: set[str] = set()
        for key, _ in node.value:
            if str(key.value) in keys:
                raise ComposerError(problem=f"'{key.value}' is written twice", problem_mark=key.start_mark)
            keys.add(str(key.value))
        return node
