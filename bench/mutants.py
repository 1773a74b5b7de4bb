"""Would the tests notice? A sample of single-token changes, each tried against the tests that reach it.

    make mutants                                  or: .venv/bin/python -m bench.mutants --seed 1 --changes 200

Tests that need Spark, a broker or Airflow are left out, and so are modules that need them. All other tests are run once
to record which functions each enters. A change inside a function is then tried in forks of a process that has imported
everything (`mutant_session.py`); what no test notices there, and what is decided while modules are imported, is tried
in a copy of the project by a fresh process, kernels compiled. A change that no test notices has survived: write the
test, or, where the changed program does the same, add the change to `bench/mutants_equivalent.txt` with the reason.

What became of each change is kept in `out/mutants/`: a trial that was stopped goes on, and after new tests were written
only what had not been caught is tried again (`--anew` forgets it).
"""

import argparse
import json
import multiprocessing
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path

from bench.mutant_session import OPTIONS, Record, Session, bring_up_to_date, function_of, is_kernel
from bench.mutant_sites import Change, changes_of, is_python
from bench.mutant_tests import TestChoice

ROOT = Path(__file__).resolve().parents[1]
FORKS = multiprocessing.get_context("forkserver")
LIBRARIES = ["numpy", "numba", "pandas", "pyarrow", "scipy.sparse", "sklearn.metrics", "lark", "pydantic", "hypothesis"]
"""Imported once: each change that needs a fresh process then costs its tests, not seconds of imports."""
EQUIVALENT = ROOT / "bench" / "mutants_equivalent.txt"
OUT = ROOT / "out" / "mutants"
RESULTS = OUT / "results.jsonl"
PIPELINE = ("stages", "stream", "sources", "sinks", "quality", "batch", "results", "conditions", "training")
"""Not the simulator, where another number is another world, and not the pages, where it is another pixel."""
SERVICES = ("pyspark", "sedona", "kafka", "py4j")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
FINE = (0, 5)
"""How pytest ends when nothing failed, or there was nothing to run."""
COMPILED, INTERPRETED, FRESH = "compiled", "interpreted", "fresh"
"""The ways of trying: in forks, in forks without numba's compiler, in a fresh process."""
BUDGET_S = {COMPILED: 6.0, INTERPRETED: 10.0, FRESH: 20.0}
"""As long as its tests took together when they were recorded."""
NEAREST = 4
CAUGHT, SURVIVED, TIMED_OUT, EQUAL, DOUBTFUL = "caught", "survived", "timed out", "equivalent", "doubtful"
UNREACHED, UNTRIED = "unreached", "untried"
"""Survived in a function that no recorded test enters: only tests with services may."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One change and what became of it."""

    change: Change
    verdict: str
    seconds: float
    by: str = ""
    """The test that failed."""


def modules(root: Path) -> Iterator[Path]:
    """The modules that need no service: patterns and models, and what is pure of geo and pipeline."""
    places = [root / "patterns", root / "models", root / "geo", *(root / "pipeline" / room for room in PIPELINE)]
    for file in sorted(file for place in places for file in place.rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        if not any(f"import {name}" in source or f"from {name}" in source for name in SERVICES):
            yield file.relative_to(root)


def sampled(root: Path, seed: int, number: int, kernels: bool, under: Path = Path()) -> list[Change]:
    """So many changes drawn by the seed, of modules that some test without services reaches."""
    choice = TestChoice(root)
    paths = (path for path in modules(root) if path.is_relative_to(under) and choice.tests_for(path))
    every = [change for path in paths for change in changes_of(root, path)]
    random.Random(seed).shuffle(every)
    wanted = (change for change in every if is_python(change, root))
    return list(islice((one for one in wanted if kernels or way_of(one, root) != INTERPRETED), number))


def way_of(change: Change, root: Path) -> str:
    """How the change is tried first."""
    function = function_of(change, (root / change.path).read_text(encoding="utf-8"))
    if function is None:
        return FRESH
    return INTERPRETED if is_kernel(function) else COMPILED


def equivalents(file: Path = EQUIVALENT) -> set[tuple[str, str, str, str]]:
    """Changes that were found to change nothing: path, old and its place, new and the line, before the reason."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {tuple(part.strip() for part in line.split("\t")[:4]) for line in lines if line and not line.startswith("#")}


def named(change: Change) -> tuple[str, str, str, str]:
    """How the list of equivalents names a change: by its line and the place in it, as numbers of lines move."""
    place = change.column - len(change.text) + len(change.text.lstrip()) + 1
    return str(change.path), f"{change.old} at {place}", change.new or "nothing", change.text.strip()


class Results:
    """What became of each change, in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        self._known = {key: (verdict, seconds, by) for key, verdict, seconds, by in map(json.loads, lines)}

    def caught(self, change: Change) -> Outcome | None:
        """A change that a test noticed, also if in another trial."""
        verdict, seconds, by = self._known.get(str(change), (None, 0.0, ""))
        return Outcome(change, CAUGHT, seconds, by) if verdict == CAUGHT else None

    def of(self, change: Change) -> Outcome | None:
        """The newest verdict."""
        known = self._known.get(str(change))
        return None if known is None else Outcome(change, *known)

    def add(self, outcome: Outcome) -> None:
        """Keep it, and tell it."""
        line = str(outcome.change), outcome.verdict, round(outcome.seconds, 1), outcome.by
        self._known[line[0]] = line[1:]
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")
        print(f"{outcome.verdict:10} {outcome.seconds:6.1f} s  {outcome.change}    {outcome.by}", flush=True)


def try_in_forks(way: str, changes: Sequence[Change], limit_s: float) -> None:
    """Runs in a process of its own: one where numba compiles, one where it does not."""
    if way == INTERPRETED:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
    record, told = Record.read(OUT / f"{way}.jsonl"), Results(RESULTS)

    def work(session: Session) -> None:
        choice, only = TestChoice(ROOT), None
        if way == INTERPRETED:  # without the compiler few tests are quick: those nearest to the changed files
            paths = {change.path for change in changes}
            only = {str(test) for path in paths for test in choice.tests_for(path)[:NEAREST]}
        bring_up_to_date(record, session, choice, only, partial(print, flush=True))
        for change in changes:
            began = time.monotonic()
            tests = reaching(record, change, way)
            by = session.first_failing(tests, change, limit_s)
            verdict = TIMED_OUT if by is None else CAUGHT if by else SURVIVED if tests else UNREACHED
            told.add(Outcome(change, verdict, time.monotonic() - began, by or ""))

    with tempfile.TemporaryDirectory(prefix="foresail-mutants-") as folder:
        Session(ROOT, work).run(Path(folder))


def reaching(record: Record, change: Change, way: str) -> list[str]:
    """The recorded tests that enter the changed function, or any function of its file where there is none."""
    function = function_of(change, (ROOT / change.path).read_text(encoding="utf-8"))
    room = Path("tests", *change.path.parent.parts)
    name = rf"(\w+\.)?{function.name}(\.|$)" if function is not None and way != FRESH else ""
    wanted = re.compile(re.escape(f"{change.path}:") + name)
    return record.reaching(lambda entered: bool(wanted.match(entered)), room, BUDGET_S[way])


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of the project, with its compiled kernels: times are kept, by which numba knows its files."""
    with tempfile.TemporaryDirectory(prefix="foresail-mutants-") as folder:
        copy = Path(folder, "foresail")
        ignored = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "*.pyc", "out", "results")
        shutil.copytree(ROOT, copy, ignore=ignored, symlinks=True)
        yield copy


def tried(change: Change, tests: Sequence[str], copy: Path, limit_s: float) -> Outcome:
    """Make the change in a copy, run the tests in a fresh process, restore the file."""
    began = time.monotonic()
    file = copy / change.path
    source, times = file.read_text(encoding="utf-8"), file.stat()
    try:
        file.write_text(change.applied(source), encoding="utf-8")
        verdict, by = _verdict(copy, tests, limit_s)
    finally:
        file.write_text(source, encoding="utf-8")
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    return Outcome(change, verdict, time.monotonic() - began, by)


def _verdict(copy: Path, tests: Sequence[str], limit_s: float) -> tuple[str, str]:
    done = _run(copy, ["-x", *tests], limit_s)
    if done is None:
        return TIMED_OUT, ""
    code, printed = done
    failed = FAILED.search(printed)
    return (SURVIVED, "") if code in FINE else (CAUGHT, failed[1] if failed else "")


def _run(copy: Path, arguments: Sequence[str], limit_s: float) -> tuple[int, str] | None:
    """How pytest ends and what it prints, run in the copy; None where the time is over."""
    with tempfile.TemporaryDirectory(prefix="foresail-mutants-") as folder:
        printed = Path(folder, "printed")
        child = FORKS.Process(target=_pytest, args=(str(copy), list(arguments), str(printed)))
        child.start()
        child.join(limit_s)
        if child.is_alive():
            child.kill()
            child.join()
            return None
        code = child.exitcode
        return (1 if code is None else code), printed.read_text(encoding="utf-8", errors="replace")


def _pytest(copy: str, arguments: list[str], printed: str) -> None:
    """Runs in a process of its own, which knows the libraries and nothing of the project yet."""
    with Path(printed).open("w", encoding="utf-8") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    os.chdir(copy)
    sys.path[:] = [copy, *(place for place in sys.path if Path(place or ".").resolve() != ROOT)]
    sys.dont_write_bytecode = True  # bytecode is known by second and size, and a change may alter neither
    import pytest  # noqa: PLC0415 - only here is it run

    os._exit(int(pytest.main([*OPTIONS, *arguments])))


def try_afresh(changes: Sequence[Change], results: Results, limit_s: float) -> None:
    """What forks cannot try, or did not notice."""
    if not changes:
        return
    record, choice = Record.read(OUT / f"{COMPILED}.jsonl"), TestChoice(ROOT)
    with copied() as copy:
        for change in changes:
            kernel = way_of(change, ROOT) == INTERPRETED
            recorded = [] if kernel else reaching(record, change, FRESH)
            tests = recorded or [str(test) for test in choice.tests_for(change.path)]
            outcome = tried(change, tests, copy, limit_s)
            known = results.of(change)
            if outcome.verdict == SURVIVED and known is not None and known.verdict == UNREACHED:
                outcome = replace(outcome, verdict=UNREACHED)
            if outcome.by and outcome.by in failing_anyway([outcome.by], limit_s, copy):
                outcome = replace(outcome, verdict=DOUBTFUL)
            results.add(outcome)


def failing_anyway(tests: Sequence[str], limit_s: float, copy: Path) -> set[str]:
    """Which of these tests fail on the project as it is."""
    done = _run(copy, sorted(set(tests)), limit_s)
    if done is None:
        return set(tests)
    code, printed = done
    return set(FAILED.findall(printed)) if code not in FINE else set()


def try_all(changes: Sequence[Change], limit_s: float) -> None:
    """Find out what becomes of each change that is not known to be caught or equivalent."""
    equal, results = equivalents(), Results(RESULTS)
    asked = [one for one in dict.fromkeys(changes) if named(one) not in equal and results.caught(one) is None]
    asked.sort(key=lambda one: results.of(one) is not None)
    for way in (COMPILED, INTERPRETED):
        some = [one for one in asked if way_of(one, ROOT) == way]
        if some:
            child = multiprocessing.get_context("spawn").Process(target=try_in_forks, args=(way, some, limit_s))
            child.start()
            child.join()
    results = Results(RESULTS)
    try_afresh([one for one in asked if results.caught(one) is None], results, limit_s)


def outcomes(changes: Sequence[Change]) -> Iterator[Outcome]:
    """What is known of each change."""
    equal, results = equivalents(), Results(RESULTS)
    for change in changes:
        known = Outcome(change, EQUAL, 0.0) if named(change) in equal else results.of(change)
        yield known or Outcome(change, UNTRIED, 0.0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the trial and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--under", type=Path, default=Path(), help="draw from this folder or file alone")
    parser.add_argument("--limit", type=float, default=300, help="seconds for the tests of one change")
    parser.add_argument("--without-kernels", action="store_true", help="leave out functions that numba compiles")
    parser.add_argument("--anew", action="store_true", help="try also what was caught before")
    parser.add_argument("--report", action="store_true", help="print what is known, try nothing")
    asked = parser.parse_args(arguments)
    FORKS.set_forkserver_preload([*LIBRARIES, "pytest", "_pytest.assertion.rewrite"])
    if asked.anew:
        RESULTS.unlink(missing_ok=True)
    kernels = not asked.without_kernels
    drawn = {seed: sampled(ROOT, seed, asked.changes, kernels, asked.under) for seed in asked.seed}
    if not asked.report:
        try_all([change for some in zip_longest(*drawn.values()) for change in some if change], asked.limit)
    for seed, changes in drawn.items():
        print(f"seed {seed}: {summary(list(outcomes(changes)))}")


def summary(told: Sequence[Outcome]) -> str:
    """The figures, and what survived. Time that is over decides nothing: a change may hang, or the machine."""
    number = Counter(outcome.verdict for outcome in told)
    judged = number[CAUGHT] + number[SURVIVED]
    with_services = judged + number[UNREACHED]
    lines = [
        f"{len(told)} changes: {number[CAUGHT]} of {judged} caught ({number[CAUGHT] / max(judged, 1):.1%}); "
        f"{number[EQUAL]} known as equivalent, {number[TIMED_OUT]} timed out, {number[DOUBTFUL]} doubtful, "
        f"{number[UNTRIED]} untried; {number[UNREACHED]} in functions that only tests with services may enter: "
        f"with these {number[CAUGHT] / max(with_services, 1):.1%}",
        *(f"survived: {outcome.change}" for outcome in told if outcome.verdict == SURVIVED),
        *(f"unreached: {outcome.change}" for outcome in told if outcome.verdict == UNREACHED),
        *(f"timed out: {outcome.change}" for outcome in told if outcome.verdict == TIMED_OUT),
        *(f"doubtful: {outcome.by} fails without a change" for outcome in told if outcome.verdict == DOUBTFUL),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
