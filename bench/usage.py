"""What this process and those that it started have used of the machine."""

import os
from pathlib import Path

MARK = "BENCH_MARK"
"""A variable in the environment by which a process knows the Python workers that are its own."""


def cpu_seconds() -> float:
    """Processor time that this process and all below it have used: what a busy machine does not distort."""
    parents, used = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
        used[int(stat.parent.name)] = sum(map(int, fields[11:15]))
    total = 0
    for process in parents:
        above = process
        while above in parents and above != os.getpid():
            above = parents[above]
        total += used[process] if above == os.getpid() else 0
    return total / os.sysconf("SC_CLK_TCK")


def worker_peak_mb() -> int:
    """The most memory that a Python worker of this process has held."""
    peak, mine = 0, f"{MARK}={os.environ.get(MARK, '')}".encode()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            command = status.with_name("cmdline").read_bytes()
            environment = status.with_name("environ").read_bytes()
            if b"-m\0foresail.pipeline.runtime.worker_daemon" in command and mine in environment:
                lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
                peak = max(peak, int(lines["VmHWM"].split()[0]) // 1024)
        except (OSError, KeyError):
            continue
    return peak
