"""The process that forks Python workers for Spark: pyspark's own, on a shorter path.

After every task pyspark has all objects of a worker looked through for rubbish; with the libraries of recognition
loaded that is 0.1 s of work, more than most tasks have. What is loaded once and stays is therefore left out of it.

Spark puts its Python code on the path as archives and has every task look at the path anew, for which Python 3.11 reads
the directories of the archives again: 0.15 s a task on an idle machine. Where the packages are installed, the archives
are not needed. Nothing else is loaded here: libraries start threads, and a copy of a process with threads may hang.
"""

import gc
import re
import signal
import sys
import time
from importlib import invalidate_caches
from importlib.util import find_spec
from types import SimpleNamespace

LONG_S = 0.02
"""A collection that takes longer has looked through what libraries keep, not through what a task has left."""
PACKAGES = ("pyspark", "py4j")
ARCHIVES = re.compile(r".*/(pyspark|py4j-[^/]*|spark-core_[^/]*)\.(zip|jar)")


def without_archives(path: list[str]) -> list[str]:
    """`path` without Spark's archives."""
    return [entry for entry in path if not ARCHIVES.fullmatch(entry)]


def leave_archives() -> None:
    """Have Python look past Spark's archives, unless its packages are nowhere else."""
    before = sys.path[:]
    sys.path[:] = without_archives(before)
    if not all(map(find_spec, PACKAGES)):
        sys.path[:] = before
    sys.path_importer_cache.clear()
    invalidate_caches()


def collect_what_is_new() -> None:
    """Collect rubbish; where that takes long, what is left is of long life and is not looked through again."""
    began = time.process_time()
    gc.collect()
    if time.process_time() - began > LONG_S:
        gc.freeze()


def main() -> None:
    """Leave the archives, then be pyspark's daemon."""
    leave_archives()
    # a terminal sends Ctrl-C to every process: that is the driver's matter, a worker would only print a trace
    signal.default_int_handler = signal.SIG_IGN  # type: ignore[assignment]
    from pyspark import daemon  # noqa: PLC0415 - not before the archives are gone

    daemon.gc = SimpleNamespace(collect=collect_what_is_new)  # type: ignore[attr-defined, assignment]
    daemon.manager()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
