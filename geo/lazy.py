"""Names that a package loads when they are asked for: geometry takes seconds to load, and most jobs need none."""

from collections.abc import Callable, Mapping
from importlib import import_module


def lazily(homes: Mapping[str, str]) -> Callable[[str], object]:
    """A `__getattr__` for a package that finds each name in the module that `homes` gives for it."""

    def attribute(name: str) -> object:
        if name not in homes:
            msg = f"there is no {name} here"
            raise AttributeError(msg)
        found: object = getattr(import_module(homes[name]), name)
        return found

    return attribute
