"""Which tests matter for a module: those of its own room first, then those that import it, nearest first."""

import ast
from collections import deque
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

OURS = ("foresail", "tests")
MOST_FILES = 10
FAR = 99


class TestChoice:
    """The tests of a tree, and what each of them imports, directly and through other modules."""

    __test__ = False

    def __init__(self, root: Path) -> None:
        self._root = root

    def tests_for(self, module: Path) -> list[Path]:
        """The test files that may notice a change of `module`, the likeliest first; none where only Spark would."""
        room = Path("tests", *module.parent.parts)
        mirror = room / f"test_{module.name}"
        distance = {test: self._distance(test, module) for test in self.tests}
        near = [test for test, steps in distance.items() if steps < FAR]
        near.sort(key=lambda test: (test != mirror, test.parent != room, distance[test], str(test)))
        return near[:MOST_FILES]

    def _distance(self, test: Path, module: Path) -> int:
        return self.reached(test).get(module, FAR)

    @cached_property
    def tests(self) -> list[Path]:
        """Test files that have something to run without Spark, a broker or a browser."""
        found = (path.relative_to(self._root) for path in (self._root / "tests").rglob("test_*.py"))
        return sorted(path for path in found if not _needs_services((self._root / path).read_text(encoding="utf-8")))

    @cached_property
    def _known(self) -> dict[Path, dict[Path, int]]:
        return {}

    def reached(self, start: Path) -> Mapping[Path, int]:
        """How many imports away every project file is."""
        if start not in self._known:
            steps = {start: 0}
            waiting = deque([start])
            while waiting:
                here = waiting.popleft()
                for target in self._imports(here):
                    if target not in steps:
                        steps[target] = steps[here] + 1
                        waiting.append(target)
            self._known[start] = steps
        return self._known[start]

    @cached_property
    def _imported(self) -> dict[Path, tuple[Path, ...]]:
        return {}

    def _imports(self, path: Path) -> tuple[Path, ...]:
        if path not in self._imported:
            tree = ast.parse((self._root / path).read_text(encoding="utf-8"))
            self._imported[path] = tuple(dict.fromkeys(self._files(_modules(tree))))
        return self._imported[path]

    def _files(self, modules: Iterable[str]) -> Iterable[Path]:
        for module in modules:
            base = Path(*module.removeprefix("foresail.").split("."))
            for path in (base.with_suffix(".py"), base / "__init__.py"):
                if (self._root / path).is_file():
                    yield path


def _modules(tree: ast.Module) -> Iterable[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names if name.name.startswith(OURS))
            case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] in OURS:
                yield module
                yield from (f"{module}.{name.name}" for name in names)


def _needs_services(source: str) -> bool:
    line = next((line for line in source.splitlines() if line.startswith("pytestmark")), "")
    return any(mark in line for mark in ("mark.spark", "mark.kafka", "mark.airflow", "mark.soak"))
