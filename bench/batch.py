"""Batch recognition against reading the same columns: every figure a ratio to a noop read of the same run.

    .venv/bin/python -m bench.batch --part reach --millions 10
    .venv/bin/python -m bench.batch --part schemes|patterns|family|sizes|fleet|skew
    .venv/bin/python -m bench.batch --table

Each measurement is a fresh process: Spark starts, the same work is done once to warm up, then it is timed. Events are
simulated (`bench.batch_data`). Results of all parts are kept in bench/results/batch.json.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bench.batch_data import CACHE, data, ports_layer, skewed
from bench.batch_report import plot, table
from bench.kernel import SIX, variant_entries
from patterns.catalog.loader import Catalog, built_in_catalog
from pipeline.jobs.recognise import RecogniseRequest, compile_catalog, run_recognise
from pipeline.progress import SILENT, open_progress
from pipeline.session import start_spark
from pipeline.settings import read_settings
from pipeline.sources.table import read_events
from pipeline.stages.schemes.facts import columns_read
from pipeline.stages.schemes.planner import Scheme

RESULTS = Path("bench/results")
FLEET = (
    "dangerous_driving",
    "idle_parked_swing",
    "moving_with_bad_signal",
    "parked_moving_swing",
    "possible_theft",
    "speed_swing",
)
FAMILY = "approaching_port"


@dataclass(frozen=True)
class Case:
    """One thing to measure."""

    part: str
    scheme: str = "source"
    """A scheme, or `noop` for reading the columns only."""
    order: str = "by-track"
    domain: str = "maritime"
    millions: float = 10
    patterns: int = 6
    ports: int = 0
    cores: int = 2
    skewed: bool = False
    episodes: str = "all"


def cases(part: str, millions: float) -> list[Case]:
    """What a part measures; the noop reads come first."""
    base = Case(part, millions=millions)
    by_time = replace(base, order="by-time")
    noops = [replace(base, scheme="noop"), replace(by_time, scheme="noop")]
    match part:
        case "reach":
            return [*noops, base, replace(base, scheme="partition"), replace(by_time, scheme="partition")]
        case "schemes":
            spread = [replace(c, cores=n) for n in (1, 2) for c in (noops[0], base)]
            others = [replace(base, scheme=s, cores=n) for n in (1, 2) for s in ("partition", "pattern", "combined")]
            return [*spread, *others]
        case "patterns":
            return [noops[0], *(replace(base, patterns=n, episodes=e) for e in ("all", "changes") for n in (6, 16, 48))]
        case "family":
            families = [replace(base, patterns=0, ports=n) for n in (1, 220)]
            return [replace(families[0], scheme="noop"), *families]
        case "sizes":
            return [
                replace(c, millions=m) for m in (5, 20) for c in (noops[0], base, replace(base, scheme="partition"))
            ]
        case "fleet":
            fleet = replace(base, domain="fleet")
            return [replace(fleet, scheme="noop"), *(replace(fleet, patterns=n) for n in (6, 16, 48))]
        case "skew":
            skew = replace(by_time, skewed=True, scheme="partition", cores=2)
            return [replace(skew, scheme="noop"), skew, replace(by_time, scheme="partition"), noops[1]]
    msg = f"unknown part {part}"
    raise SystemExit(msg)


def measure(case: Case) -> dict[str, Any]:
    """Seconds of one case in this process, after one warm-up of the same kind, and the workers' peak memory."""
    settings = read_settings(options={"spark.master": f"local[{case.cores}]"})
    spark = start_spark(settings, "foresail bench", SILENT)
    found = skewed(spark, case.millions) if case.skewed else data(spark, case.domain, case.millions, SILENT)
    folder = found.by_track if case.order == "by-track" else found.by_time
    request = _request(case, folder, Path(tempfile.mkdtemp(prefix="foresail-bench-")))
    result: dict[str, Any] = {}
    for _ in range(2):
        began, used = time.perf_counter(), cpu_seconds()
        if case.scheme == "noop":
            _noop(spark, request, folder, case)
        else:
            summary = run_recognise(spark, request, SILENT)
            result = {key: summary[key] for key in ("events", "matches", "seconds_by_step", "spark_stages")}
        result["seconds"] = round(time.perf_counter() - began, 3)
        result["cpu_seconds"] = round(cpu_seconds() - used, 2)
    result["worker_peak_mb"] = worker_peak_mb()
    shutil.rmtree(request.out, ignore_errors=True)
    spark.stop()
    return result


def _request(case: Case, folder: Path, out: Path) -> RecogniseRequest:
    names = SIX if case.domain == "maritime" else FLEET
    entries = variant_entries(case.patterns, case.domain, names)
    layers = ports_layer(case.ports) if case.ports else None
    if layers:
        entries = [*entries, built_in_catalog("maritime")[FAMILY]]
    scheme = Scheme.AUTO if case.scheme == "noop" else Scheme(case.scheme)
    return RecogniseRequest(
        [str(folder)], Catalog(tuple(entries)), out, layers=layers, layer_cache=CACHE / "layers", scheme=scheme,
        episodes=case.episodes,
    )  # fmt: skip


def _noop(spark: Any, request: RecogniseRequest, folder: Path, case: Case) -> None:
    """Read the columns that the job reads and throw them away."""
    from geo import read_layers  # noqa: PLC0415

    events = read_events(spark, [str(folder)]).good
    layers = read_layers(request.layers, request.layer_cache, print) if request.layers else []
    stage, _ = compile_catalog(request, events, {layer.spec.name: layer for layer in layers})
    columns = ["track", "time", *(["offset"] if case.order == "by-time" else []), *columns_read(stage, events)]
    spark.read.parquet(str(folder)).select(*dict.fromkeys(columns)).write.format("noop").mode("overwrite").save()


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
    peak = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            command = status.with_name("cmdline").read_bytes()
            environment = status.with_name("environ").read_bytes()
            if b"pyspark.daemon" in command and f"BENCH_MARK={_mark()}".encode() in environment:
                lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
                peak = max(peak, int(lines["VmHWM"].split()[0]) // 1024)
        except (OSError, KeyError):
            continue
    return peak


def _mark() -> str:
    return os.environ.get("BENCH_MARK", "")


def run(part: str, millions: float) -> None:
    """Measure the cases of a part, each in a fresh process, and keep the results."""
    rows = []
    for number, case in enumerate(cases(part, millions)):
        command = [sys.executable, "-m", "bench.batch", "--one", json.dumps(asdict(case))]
        mark = f"{part}-{number}-{time.time_ns()}"
        done = subprocess.run(command, capture_output=True, text=True, env=_environment(mark), check=False)
        if done.returncode:
            raise SystemExit(done.stderr[-3000:])
        rows.append(asdict(case) | json.loads(done.stdout.splitlines()[-1]))
        print(rows[-1], flush=True)
        keep(f"{part}-{millions:g}M", rows)
    print(table(rows))


def keep(name: str, rows: list[dict[str, Any]]) -> None:
    """Put the results of a part, as far as there are any, beside those of the others."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "batch.json").write_text(json.dumps(_known() | {name: rows}, indent=1) + "\n")


def _environment(mark: str) -> dict[str, str]:
    return {**os.environ, "BENCH_MARK": mark}


def _known() -> dict[str, Any]:
    file = RESULTS / "batch.json"
    return dict(json.loads(file.read_text())) if file.exists() else {}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--part", choices=["reach", "schemes", "patterns", "family", "sizes", "fleet", "skew"])
    parser.add_argument("--millions", type=float, default=10)
    parser.add_argument("--prepare", type=float, nargs="*", help="make the events of these sizes and stop")
    parser.add_argument("--one", help="a case as JSON, measured in this process")
    parser.add_argument("--table", action="store_true", help="write the table and the plot of all results")
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(measure(Case(**json.loads(options.one)))))
    elif options.prepare is not None:
        spark = start_spark(read_settings(), "foresail bench", SILENT)
        for millions in options.prepare:
            data(spark, "maritime", millions, open_progress())
            data(spark, "fleet", min(millions, 2), open_progress())
        skewed(spark, options.prepare[0])
        for count in (1, 220):
            ports_layer(count)
    elif options.table:
        text = "\n\n".join(f"{name}\n\n{table(rows)}" for name, rows in _known().items())
        (RESULTS / "batch.md").write_text(text + "\n")
        plot(_known(), RESULTS / "batch.png")
        print(text)
    else:
        run(options.part or "reach", options.millions)


if __name__ == "__main__":
    main()
