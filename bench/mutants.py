"""Would the tests notice? A sample of single-token changes, each tried against the tests that matter for its module.

    make mutants                                  or: .venv/bin/python -m bench.mutants --seed 1 --changes 200

Each change is made in a copy of the project, never in the project itself; tests that need Spark, a broker or Airflow
are left out, and so are modules that need them. A change that no test notices has survived: write the test, or, where
the changed program does the same, add the change to `bench/mutants_equivalent.txt` with the reason. A test that fails
without any change catches nothing: those that failed are run once more at the end, on the project as it is. Kernels are
compiled anew for each change in their folders, which takes a minute: `--without-kernels` leaves these out.
"""

import argparse
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
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from queue import Queue

from bench.mutant_sites import Change, changes_of, is_python
from bench.mutant_tests import TestChoice

ROOT = Path(__file__).resolve().parents[1]
FORKS = multiprocessing.get_context("forkserver")
LIBRARIES = ["numpy", "numba", "pandas", "pyarrow", "scipy.sparse", "sklearn.metrics", "lark", "pydantic", "hypothesis"]
"""Imported once: each change then costs its tests, not seconds of imports."""
EQUIVALENT = ROOT / "bench" / "mutants_equivalent.txt"
PIPELINE = ("stages", "stream", "sources", "sinks", "quality", "batch", "results", "conditions", "training")
"""Not the simulator, where another number is another world, and not the pages, where it is another pixel."""
SERVICES = ("pyspark", "sedona", "kafka", "py4j")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
FINE = (0, 5)
"""How pytest ends when nothing failed, or there was nothing to run."""
KERNELS = (Path("patterns/recognition"), Path("models/kernels"))
CAUGHT, SURVIVED, TIMED_OUT, EQUAL, DOUBTFUL = "caught", "survived", "timed out", "equivalent", "doubtful"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One change and what became of it."""

    change: Change
    verdict: str
    seconds: float
    by: str = ""
    """The test that failed."""


def modules(root: Path, kernels: bool = True) -> Iterator[Path]:
    """The modules that need no service: patterns and models, and what is pure of geo and pipeline."""
    places = [root / "patterns", root / "models", root / "geo", *(root / "pipeline" / room for room in PIPELINE)]
    for file in sorted(file for place in places for file in place.rglob("*.py")):
        path = file.relative_to(root)
        source = file.read_text(encoding="utf-8")
        if any(f"import {name}" in source or f"from {name}" in source for name in SERVICES):
            continue
        if kernels or path.parent not in KERNELS:
            yield path


def sampled(root: Path, seed: int, number: int, kernels: bool) -> list[Change]:
    """So many changes drawn by the seed, of modules that some test without services reaches."""
    choice = TestChoice(root)
    every = [change for path in modules(root, kernels) if choice.tests_for(path) for change in changes_of(root, path)]
    random.Random(seed).shuffle(every)
    return list(islice((change for change in every if is_python(change, root)), number))


def equivalents(file: Path = EQUIVALENT) -> set[tuple[str, str, str, str]]:
    """Changes that were found to change nothing: path, old, new and the line, one a line before its reason."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {tuple(part.strip() for part in line.split("\t")[:4]) for line in lines if line and not line.startswith("#")}


def named(change: Change) -> tuple[str, str, str, str]:
    """How the list of equivalents names a change: by its line, as numbers of lines move."""
    return str(change.path), change.old, change.new or "nothing", change.text.strip()


@contextmanager
def copies(number: int) -> Iterator[Queue[Path]]:
    """So many copies of the project, with its compiled kernels: times are kept, by which numba knows its files."""
    with tempfile.TemporaryDirectory(prefix="foresail-mutants-") as folder:
        free: Queue[Path] = Queue()
        for n in range(number):
            copy = Path(folder, str(n))
            ignored = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "*.pyc", "out", "results")
            shutil.copytree(ROOT, copy, ignore=ignored, symlinks=True)
            free.put(copy)
        yield free


def tried(change: Change, tests: Sequence[Path], free: "Queue[Path]", limit_s: float) -> Outcome:
    """Make the change in a copy, run the tests, restore the file."""
    copy = free.get()
    began = time.monotonic()
    file = copy / change.path
    source, times = file.read_text(encoding="utf-8"), file.stat()
    try:
        file.write_text(change.applied(source), encoding="utf-8")
        verdict, by = _verdict(copy, list(map(str, tests)), limit_s)
    finally:
        file.write_text(source, encoding="utf-8")
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        free.put(copy)
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

    marks = "not spark and not kafka and not airflow and not soak"
    options = ["-q", "--no-header", "--hypothesis-seed=0", "-p", "no:cacheprovider", "-m", marks]
    os._exit(int(pytest.main([*options, *arguments])))


def trial(changes: Sequence[Change], processes: int, limit_s: float) -> Iterator[Outcome]:
    """What becomes of each change, in the order in which they end."""
    choice, known = TestChoice(ROOT), equivalents()
    asked = [change for change in changes if named(change) not in known]
    yield from (Outcome(change, EQUAL, 0.0) for change in changes if named(change) in known)
    with copies(processes) as free, ThreadPoolExecutor(processes) as pool:
        waiting = [pool.submit(tried, change, choice.tests_for(change.path), free, limit_s) for change in asked]
        for done in as_completed(waiting):
            yield done.result()


def failing_anyway(tests: Sequence[str], limit_s: float) -> set[str]:
    """Which of these tests fail on the project as it is."""
    if not tests:
        return set()
    with copies(1) as free:
        done = _run(free.get(), sorted(set(tests)), limit_s)
    if done is None:
        return set(tests)
    code, printed = done
    return set(FAILED.findall(printed)) if code not in FINE else set()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the trial and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--limit", type=float, default=300, help="seconds for the tests of one change")
    parser.add_argument("--without-kernels", action="store_true", help="leave out the folders whose change recompiles")
    asked = parser.parse_args(arguments)
    FORKS.set_forkserver_preload([*LIBRARIES, "pytest", "_pytest.assertion.rewrite"])
    changes = sampled(ROOT, asked.seed, asked.changes, kernels=not asked.without_kernels)
    told: list[Outcome] = []
    for outcome in trial(changes, asked.processes, asked.limit):
        told.append(outcome)
        print(
            f"{len(told):4} {outcome.verdict:10} {outcome.seconds:6.1f} s  {outcome.change}    {outcome.by}", flush=True
        )
    wrong = failing_anyway([outcome.by for outcome in told if outcome.by], 10 * asked.limit)
    told = [replace(outcome, verdict=DOUBTFUL) if outcome.by in wrong else outcome for outcome in told]
    print(f"seed {asked.seed}: {summary(told)}")


def summary(told: Sequence[Outcome]) -> str:
    """The figures, and what survived. Time that is over decides nothing: a change may hang, or the machine."""
    number = Counter(outcome.verdict for outcome in told)
    judged = number[CAUGHT] + number[SURVIVED]
    lines = [
        f"{len(told)} changes: {number[CAUGHT]} of {judged} caught ({number[CAUGHT] / max(judged, 1):.1%}); "
        f"{number[EQUAL]} known as equivalent, {number[TIMED_OUT]} timed out, {number[DOUBTFUL]} doubtful",
        *(f"survived: {outcome.change}" for outcome in told if outcome.verdict == SURVIVED),
        *(f"timed out: {outcome.change}" for outcome in told if outcome.verdict == TIMED_OUT),
        *(f"doubtful: {outcome.by} fails without a change" for outcome in told if outcome.verdict == DOUBTFUL),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
