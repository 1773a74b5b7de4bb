"""A pytest session that has collected all tests once, and runs a choice of them in forks of itself.

Importing the project and its tests takes longer than running the few tests that reach one function. So a change inside
a function is put into the functions of a fork, by their code, and no file is written. Without numba's compiler kernels
are functions like others: `NUMBA_DISABLE_JIT` in the environment makes it so, for the tests that pass that way.
"""

import ast
import gc
import hashlib
import io
import json
import os
import pickle
import select
import signal
import sys
import time
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NoReturn, TypeVar

import pytest
from hypothesis import Phase, settings

from bench.mutant_sites import Change
from bench.mutant_tests import TestChoice

T = TypeVar("T")
MARKS = "not spark and not kafka and not airflow and not soak"
OPTIONS = ["-q", "--no-header", "--hypothesis-seed=0", "-p", "no:cacheprovider", "-m", MARKS]
DIED = "(the process died)"
BY_NUMBA = ("njit", "compiled", "inlined", "step")
OURS = ("patterns", "models", "geo", "pipeline")
ELSEWHERE = ("bench", "contracts", "end_to_end")
"""Tests that look at the whole project, in processes of their own."""
LONGEST_S = 25.0
"""Of a file of tests that keeps a processor busy for longer, the rest is not recorded."""
FEW_EXAMPLES = 10
"""Enough to record where a test goes."""


@dataclass(slots=True)
class Ran:
    """One test: how long it took, and the functions of the project that it entered."""

    seconds: float
    entered: frozenset[str]


@dataclass(slots=True)
class Record:
    """Which tests enter which function, kept in a file: a file of tests is run again when it or its imports change."""

    file: Path
    keys: dict[str, str] = field(default_factory=dict)
    tests: dict[str, dict[str, Ran]] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> "Record":
        record = cls(file)
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
            path, key, tests = json.loads(line)
            record.keys[path] = key
            record.tests[path] = {test: Ran(seconds, frozenset(names)) for test, seconds, names in tests}
        return record

    def add(self, path: str, key: str, tests: dict[str, Ran]) -> None:
        """The newest line of a file of tests counts."""
        self.keys[path], self.tests[path] = key, tests
        line = [path, key, [(test, round(ran.seconds, 4), sorted(ran.entered)) for test, ran in tests.items()]]
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")

    def reaching(self, wanted: Callable[[str], bool], room: Path, budget_s: float) -> list[str]:
        """Tests that enter a wanted function: those of the room first, then the quickest, as long as time allows."""
        found = [
            (Path(path).parent != room, ran.seconds, test)
            for path, tests in self.tests.items()
            for test, ran in tests.items()
            if any(map(wanted, ran.entered))
        ]
        chosen, spent = [], 0.0
        for _, seconds, test in sorted(found, key=lambda one: (one[0] and one[1] > 0.5, one[1] > 5, one)):
            spent += seconds
            if chosen and spent > budget_s:
                break
            chosen.append(test)
        return chosen


def function_of(change: Change, source: str) -> ast.FunctionDef | None:
    """The outermost function in whose body the change is made; none where it is made while modules are imported."""
    here = change.line, change.column
    for node in ast.walk(ast.parse(source)):  # the outer ones first
        if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
            first = node.body[0]
            if (first.lineno, first.col_offset) <= here and change.line <= node.end_lineno:
                return node
    return None


def is_kernel(function: ast.FunctionDef) -> bool:
    """Whether numba compiles it."""
    return any(ast.unparse(one).startswith(BY_NUMBA) for one in function.decorator_list)


@dataclass(slots=True, eq=False)
class Session:
    """All tests, collected and not run; `work` is done while they are."""

    root: Path
    work: Callable[["Session"], None]
    items: dict[str, pytest.Item] = field(default_factory=dict)
    _functions: dict[Path, list[types.FunctionType]] = field(default_factory=dict)
    _failed: list[str] = field(default_factory=list)

    def run(self, folder: Path) -> None:
        """Collect, then work."""
        settings.register_profile("trial", database=None, phases=[Phase.explicit, Phase.generate])
        settings.load_profile("trial")  # what failed is caught: no smaller example is looked for
        tests = [str(self.root / test) for test in TestChoice(self.root).tests if test.parts[1] not in ELSEWHERE]
        pytest.main([*OPTIONS, "-s", f"--rootdir={self.root}", f"--basetemp={folder / 'tests'}", *tests], [self])

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Pytest's hook, in place of running everything."""
        self.items = {item.nodeid: item for item in session.items}
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        self._functions = functions_of(self.root)
        _load_kernels()
        gc.collect()
        gc.freeze()  # a fork copies only what it touches
        self.work(self)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Pytest's hook: what failed."""
        if report.failed:
            self._failed.append(report.nodeid)

    def first_failing(self, tests: Sequence[str], change: Change | None, limit_s: float) -> str | None:
        """The first of these tests that fails with the change, or "" where none does; None where the time is over."""

        def ask() -> Iterator[str]:
            if change is not None:
                put_in(change, self.root, self._functions.get(self.root / change.path, ()))
            self._run_until_failure(tests)
            yield self._failed[0] if self._failed else ""

        began = time.monotonic()
        told = next(forked(ask, limit_s), None)
        return DIED if told is None and time.monotonic() - began < limit_s else told

    def recorded(self, tests: Sequence[str]) -> dict[str, Ran]:
        """Each of these tests that passes, with what it enters."""

        def ask() -> Iterator[tuple[str, Ran]]:
            for test in tests:
                if (ran := self._traced(test)) is not None:
                    yield test, ran
                if time.process_time() > LONGEST_S:
                    return

        return dict(forked(ask, 20 * LONGEST_S))

    def _run_until_failure(self, tests: Sequence[str]) -> None:
        known = [self.items[test] for test in tests if test in self.items]
        for n, item in enumerate(known):
            after = known[n + 1] if n + 1 < len(known) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self._failed:
                return

    def _traced(self, test: str) -> Ran | None:
        entered: dict[int, types.CodeType] = {}

        def enter(frame: types.FrameType, _event: str, _arg: object) -> None:
            entered[id(frame.f_code)] = frame.f_code

        share = _fewer_examples(self.items[test])
        began = time.process_time()
        self._failed.clear()
        sys.settrace(enter)
        try:
            self._run_until_failure([test])
        finally:
            sys.settrace(None)
        names = (_name(code, self.root) for code in entered.values())
        seconds = (time.process_time() - began) / share
        return None if self._failed else Ran(seconds, frozenset(name for name in names if name))


def put_in(change: Change, root: Path, functions: Iterable[types.FunctionType]) -> None:
    """Every function of the changed file gets the code that it would have."""
    file = root / change.path
    compiled = compile(change.applied(file.read_text(encoding="utf-8")), str(file), "exec", dont_inherit=True)
    codes = {(code.co_qualname, code.co_firstlineno): code for code in _codes_in(compiled)}
    for function in functions:
        old = function.__code__
        if (new := codes.get((old.co_qualname, old.co_firstlineno))) is not None:
            function.__code__ = new


def bring_up_to_date(
    record: Record, session: Session, choice: TestChoice, only: set[str] | None, told: Callable[[str], None]
) -> None:
    """Run what is not in the record: all files of tests, or only some."""
    by_file = defaultdict(list)
    for test in session.items:
        by_file[test.split("::")[0]].append(test)
    for path, tests in by_file.items():
        if only is not None and path not in only:
            continue
        digest = hashlib.blake2b(digest_size=8)
        for reached in sorted(choice.reached(Path(path))):
            digest.update((session.root / reached).read_bytes())
        if record.keys.get(path) == digest.hexdigest():
            continue
        began = time.monotonic()
        ran = session.recorded(tests)
        seconds = time.monotonic() - began
        told(f"{len(record.keys):3} recorded {path}: {len(ran)} of {len(tests)} tests in {seconds:.1f} s")
        record.add(path, digest.hexdigest(), ran)


def forked(ask: Callable[[], Iterator[T]], limit_s: float) -> Iterator[T]:
    """The answers of a fork of this process, up to the limit or its death."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(ask, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        answers = io.BytesIO(b"".join(_until(told, time.monotonic() + limit_s)))
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with suppress(EOFError, pickle.UnpicklingError):
        while True:
            yield pickle.load(answers)


def _answer(ask: Callable[[], Iterator[T]], writing: int) -> NoReturn:
    try:
        os.setpgid(0, 0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        with os.fdopen(writing, "wb", buffering=0) as out:
            for answer in ask():
                out.write(pickle.dumps(answer))
    finally:
        os._exit(0)


def _until(told: BinaryIO, end: float) -> Iterator[bytes]:
    while (left := end - time.monotonic()) > 0 and select.select([told], [], [], left)[0]:
        part = os.read(told.fileno(), 1 << 20)
        if not part:
            return
        yield part


def _fewer_examples(item: pytest.Item) -> float:
    """Let a property be asked of a few examples, and say what share of them that is."""
    test = getattr(item, "obj", None)
    asked = getattr(test, "_hypothesis_internal_use_settings", None)
    if asked is None or asked.max_examples <= FEW_EXAMPLES:
        return 1.0
    test._hypothesis_internal_use_settings = settings(asked, max_examples=FEW_EXAMPLES)  # type: ignore[union-attr]
    return FEW_EXAMPLES / asked.max_examples


def _load_kernels() -> None:
    """Once, and not in every fork."""
    from foresail.pipeline.cli.kernels import command  # noqa: PLC0415 - the project is imported when tests are collected

    if "NUMBA_DISABLE_JIT" not in os.environ:
        command.main(["--quiet"], standalone_mode=False)


def functions_of(root: Path) -> dict[Path, list[types.FunctionType]]:
    """All functions there are, by the file of the project that defines them."""
    found = defaultdict(list)
    places: dict[str, Path] = {}
    for one in gc.get_objects():
        if type(one) is types.FunctionType:
            name = one.__code__.co_filename
            if name not in places:
                places[name] = Path(name).resolve()
            found[places[name]].append(one)
    return {file: functions for file, functions in found.items() if file.is_relative_to(root)}


def _codes_in(code: types.CodeType) -> Iterable[types.CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _codes_in(part)


_PLACES: dict[str, str] = {}


def _name(code: types.CodeType, root: Path) -> str:
    """`models/kinds.py:within`, or nothing for what is not ours."""
    name = code.co_filename
    if name not in _PLACES:
        place = Path(name).resolve()
        ours = place.is_relative_to(root) and place.relative_to(root).parts[0] in OURS
        _PLACES[name] = str(place.relative_to(root)) if ours else ""
    path = _PLACES[name]
    return f"{path}:{code.co_qualname}" if path else ""
