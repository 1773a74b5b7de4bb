"""Batch recognition against reading the same columns: every figure a ratio to a noop read of the same run.

    .venv/bin/python -m bench.batch                              everything, in half an hour: JSON, tables, a plot
    .venv/bin/python -m bench.batch --part reach [--millions 10] one part, beside what is known of the others

Parts: `reach`, `counts` of patterns, `family` of ports, `sizes`, `skew`, and the tables of schemes x workers x patterns
of the published experiment, `maritime` and `fleet`. Spark starts in a fresh process, for each measurement or for each
table; the same work is done once to warm up, then timed (alone: twice, the shorter run counts). Events are simulated
(`bench.batch_data`). Results are kept in bench/results/batch.json.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from bench.batch_data import CACHE, Data, data, ports_layer, skewed
from bench.batch_report import TABLES, grid, plot, table
from bench.kernel import SIX, variant_entries
from bench.usage import MARK, cpu_seconds, worker_peak_mb
from foresail.patterns.catalog.loader import Catalog, built_in_catalog
from foresail.pipeline.batch import facts
from foresail.pipeline.batch.facts import columns_read
from foresail.pipeline.batch.planner import Scheme
from foresail.pipeline.jobs.recognise import compile_catalog, run_recognise
from foresail.pipeline.jobs.recognise_request import RecogniseRequest
from foresail.pipeline.progress import SILENT
from foresail.pipeline.runtime.session import start_spark
from foresail.pipeline.settings import read_settings
from foresail.pipeline.sources.table import read_events

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
PARTS = {"reach": 10, "counts": 10, "family": 10, "sizes": 10, "skew": 10, "maritime": 2, "fleet": 2}
"""The parts, and the million events of each."""
TIMED_RUNS = 2
"""Of a case alone, after one to warm up; the shorter one counts. In tables there is one."""


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
    longest: float = 0
    """The part of all events that one track has; 0 where tracks are as they come."""
    cut: bool = False
    """Whether long tracks are cut into slices, however short they are; otherwise they are not, however long."""
    episodes: str = "all"


def processes(part: str, millions: float) -> list[list[Case]]:
    """What a part measures: the cases of each fresh process, the noop reads first."""
    base = Case(part, millions=millions)
    by_time = replace(base, order="by-time")
    noops = [replace(base, scheme="noop"), replace(by_time, scheme="noop")]
    partition = replace(by_time, scheme="partition")
    match part:
        case "reach":
            return _alone([*noops, base, replace(base, scheme="partition"), partition])
        case "counts":
            counted = [replace(base, patterns=n, episodes=e) for e in ("changes", "all") for n in (6, 16, 48)]
            return _alone([noops[0], *counted])
        case "family":
            one, many = (replace(base, patterns=0, ports=n) for n in (1, 220))
            return _alone([replace(one, scheme="noop"), one, many])
        case "sizes":
            kinds = (noops[0], base, replace(base, scheme="partition"))
            return _alone([replace(c, millions=m) for c in kinds for m in (millions / 2, 2 * millions)])
        case "skew":
            half, most = (replace(partition, longest=share) for share in (0.5, 0.9))
            return _alone(
                [noops[1], partition, *(replace(case, cut=cut) for case in (half, most) for cut in (False, True))]
            )
        case "maritime" | "fleet":
            return [_table_of(replace(base, domain=part, cores=n)) for n in (1, 2)]
    msg = f"unknown part {part}"
    raise SystemExit(msg)


def _alone(cases: Sequence[Case]) -> list[list[Case]]:
    return [[case] for case in cases]


def _table_of(base: Case) -> list[Case]:
    """Every scheme with every number of patterns, for so many workers."""
    schemes = ("source", "partition", "pattern", "combined")
    return [replace(base, scheme="noop"), *(replace(base, scheme=s, patterns=n) for s in schemes for n in (6, 16, 48))]


def measure(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Seconds of these cases in this process, each after one warm-up of the same kind."""
    settings = read_settings(options={"spark.master": f"local[{cases[0].cores}]"})
    spark = start_spark(settings, "foresail bench", SILENT)
    timed = TIMED_RUNS if len(cases) == 1 else 1
    results = [_measured(spark, case, timed) for case in cases]
    if len(results) == 1:
        results[0]["worker_peak_mb"] = worker_peak_mb()
    spark.stop()
    return results


def _measured(spark: Any, case: Case, timed: int) -> dict[str, Any]:
    found = data_of(spark, case)
    folder = found.by_track if case.order == "by-track" else found.by_time
    request = _request(case, folder, Path(tempfile.mkdtemp(prefix="foresail-bench-")))
    runs: list[dict[str, Any]] = []
    with long_tracks_cut(case.cut) if case.longest else nullcontext():
        for _ in range(1 + timed):
            began, used, told = time.perf_counter(), cpu_seconds(), dict[str, Any]()
            if case.scheme == "noop":
                _noop(spark, request, folder, case)
            else:
                summary = run_recognise(spark, request, SILENT)
                told = {key: summary[key] for key in ("events", "rows", "seconds_by_step", "spark_stages")}
            took = {"seconds": time.perf_counter() - began, "cpu_seconds": cpu_seconds() - used}
            runs.append(told | {key: round(value, 3) for key, value in took.items()})
    shutil.rmtree(request.out, ignore_errors=True)
    return min(runs[1:], key=lambda run: run["seconds"])


def data_of(spark: Any, case: Case) -> Data:
    """The events of a case; made once."""
    if case.longest:
        return skewed(spark, case.millions, case.longest)
    return data(spark, case.domain, case.millions, SILENT)


@contextmanager
def long_tracks_cut(cut: bool) -> Iterator[None]:
    """For comparison: as if cutting a track were worth its while from half a million events on, or never."""
    found = facts.long_tracks
    facts.long_tracks = partial(found, least=500_000) if cut else lambda *_: {}
    try:
        yield
    finally:
        facts.long_tracks = found


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
    from foresail.geo import read_layers  # noqa: PLC0415

    events = read_events(spark, [str(folder)]).good
    layers = read_layers(request.layers, request.layer_cache, print) if request.layers else []
    stage, _ = compile_catalog(request, events, {layer.spec.name: layer for layer in layers})
    columns = ["track", "time", *(["offset"] if case.order == "by-time" else []), *columns_read(stage, events)]
    spark.read.parquet(str(folder)).select(*dict.fromkeys(columns)).write.format("noop").mode("overwrite").save()


def run(part: str, millions: float) -> None:
    """Measure the cases of a part, each process a fresh one, and keep the results."""
    rows: list[dict[str, Any]] = []
    for number, cases in enumerate(processes(part, millions)):
        command = [sys.executable, "-m", "bench.batch", "--cases", json.dumps([asdict(case) for case in cases])]
        environment = {**os.environ, MARK: f"{part}-{number}-{time.time_ns()}"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if done.returncode:
            raise SystemExit(done.stderr[-3000:])
        results = json.loads(done.stdout.splitlines()[-1])
        rows += [asdict(case) | result for case, result in zip(cases, results, strict=True)]
        print(*rows[-len(cases) :], sep="\n", flush=True)
        keep(part, rows)
    print(table(rows))


def keep(name: str, rows: list[dict[str, Any]]) -> None:
    """Put the results of a part, as far as there are any, beside those of the others."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "batch.json").write_text(json.dumps(_known() | {name: rows}, indent=1) + "\n")


def _known() -> dict[str, Any]:
    file = RESULTS / "batch.json"
    return dict(json.loads(file.read_text())) if file.exists() else {}


def report() -> None:
    """Write the tables and the plot of all that is known."""
    shown = {name: grid(rows) if name in TABLES else table(rows) for name, rows in _known().items()}
    text = "\n\n".join(f"{name}\n\n{rows}" for name, rows in shown.items())
    (RESULTS / "batch.md").write_text(text + "\n")
    plot(_known(), RESULTS / "batch.png")
    print(text)


def prepare(parts: Sequence[str], millions: float | None) -> None:
    """Make the events of these parts."""
    spark = start_spark(read_settings(), "foresail bench", SILENT)
    every = [case for part in parts for cases in processes(part, millions or PARTS[part]) for case in cases]
    for case in every:
        data_of(spark, case)
        if case.ports:
            ports_layer(case.ports)
    spark.stop()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--part", choices=list(PARTS), action="append", help="repeatable; all if absent")
    parser.add_argument("--millions", type=float, help="events, if not as many as the part has in docs/benchmarks.md")
    parser.add_argument("--prepare", action="store_true", help="make the events and stop")
    parser.add_argument("--table", action="store_true", help="write the tables and the plot of what is known and stop")
    parser.add_argument("--cases", help="cases as JSON, measured in this process")
    options = parser.parse_args(arguments)
    parts = options.part or list(PARTS)
    if options.cases:
        print(json.dumps(measure([Case(**case) for case in json.loads(options.cases)])))
        return
    if options.prepare:
        prepare(parts, options.millions)
        return
    for part in [] if options.table else parts:
        run(part, options.millions or PARTS[part])
    report()


if __name__ == "__main__":
    main()
