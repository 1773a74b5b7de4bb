"""YAML that is meant to hurt: every edge that reads YAML must refuse all of it, in one line, at once."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

AT_ONCE_S = 5.0
"""Far above what a refusal takes on a busy machine, far below what the text takes when it is taken at its word."""


def _laughs(levels: int = 30) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines)


def _merged(levels: int = 30) -> str:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, levels)]
    return "\n".join(lines)


BOMBS: dict[str, tuple[str, str]] = {
    "aliases of aliases": (_laughs(), "50,000 values|alias"),
    "merges of merges": (_merged(), "50,000 values|alias"),
    "a value that holds itself": ("a: &x [*x]", "holds itself|alias"),
    "deep lists": ("[" * 100_000, "deeper than [0-9]+ levels"),
    "deep mappings": ("{a: " * 100_000, "deeper than [0-9]+ levels"),
    "deep indentation": ("- " * 100_000 + "a", "deeper than [0-9]+ levels"),
    "deep blocks": ("\n".join(" " * n + "a:" for n in range(1000)), "deeper than [0-9]+ levels"),
    "too much": ("# " + "x" * 1_100_000, "1,000,000 bytes"),
    "a key twice": ("name: a\nwhere: {b: 1, c: 2, b: 3}\n", "'b' is written twice"),
    "a number of 5,000 digits": ("name: " + "9" * 5_000, "Put it between quotes|Mend the line"),
    "a tag that does not fit": ("name: !!int x", "Put it between quotes|Mend the line"),
    "a tag of Python": ("name: !!python/object/apply:os.system [ls]", "bad YAML"),
}
"""What it is, its text, and what its refusal names."""

every_bomb = pytest.mark.parametrize("bomb", list(BOMBS))


def refuses(read: Callable[[Path], object], error: type[Exception], folder: Path, bomb: str) -> None:
    """Assert that reading a file with the bomb is refused with one line that names file and limit, and at once."""
    text, says = BOMBS[bomb]
    file = folder / "hostile.yaml"
    file.write_text(text, encoding="utf-8")
    began = time.monotonic()
    with pytest.raises(error, match=says) as caught:
        read(file)
    assert time.monotonic() - began < AT_ONCE_S
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
