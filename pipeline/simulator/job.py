"""The simulation as a Spark job: every track is made alone, then laid out by track in a fixed number of files.

Neither a track nor a file depends on the cores at hand, so the same seed gives the same bytes on any machine.

What a person reads when a simulation is done: how much there is, and what can be found in it.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import Broadcast
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType
from rich.console import Console
from rich.table import Table

from foresail.pipeline.progress import SILENT, Progress
from foresail.pipeline.reports.page import count_of
from foresail.pipeline.schemas import POSITION_SCHEMA
from foresail.pipeline.simulator.facts import FACTS, fact_rows, write_facts
from foresail.pipeline.simulator.fleet.scenario import make_fleet
from foresail.pipeline.simulator.maritime.scenario import make_maritime
from foresail.pipeline.simulator.raw import raw_rows
from foresail.pipeline.simulator.scenario import Scenario
from foresail.pipeline.simulator.settings import SimulationSettings
from foresail.pipeline.sinks.output_folder import claim_output, replaced
from foresail.pipeline.stages.derive import DeriveOptions, derive
from foresail.pipeline.stages.layout import LAYOUT_FILE, by_track, write_layout

Batches = Iterable[pa.RecordBatch]
POSITIONS_PER_TASK = 100_000
MOST_TASKS = 64


@dataclass(frozen=True, slots=True)
class SimulationSummary:
    """What a simulation has written."""

    domain: str
    tracks: int
    positions: int
    positions_due: int
    files: int
    bytes: int
    truth: dict[str, dict[str, int]]
    faults: dict[str, int]
    not_injected: tuple[str, ...]
    seconds: float
    out: str


def simulate(
    spark: SparkSession, settings: SimulationSettings, out: Path, progress: Progress = SILENT
) -> SimulationSummary:
    """Write events, truth, faults and layers to `out` and say what they hold."""
    began = time.monotonic()
    claim_output(out, "simulate")
    with progress.step(f"planning {count_of(settings.tracks, 'track')}"):
        scenario = make_scenario(settings)
        shared = spark.sparkContext.broadcast(scenario)  # each worker unpickles it once, not once a task
    with progress.step("writing layers"), replaced(out / "layers") as staging:
        staging.mkdir()
        scenario.write_layers(staging)
    with progress.step(f"writing {settings.positions:,} positions in {count_of(settings.files, 'file')}"):
        write_events(spark, shared, out / "events")
    if settings.raw:
        with progress.step("writing the messages before cleaning"):
            write_raw(spark, shared, out / "raw")
    with progress.step("writing the truth table"):
        truth, faults = write_facts(_mapped(spark, shared, fact_rows, FACTS).toArrow(), out)
    shared.destroy()
    return _summary(scenario, out, truth, faults, time.monotonic() - began)


def make_scenario(settings: SimulationSettings) -> Scenario:
    """The world and the plans of the domain asked for."""
    return make_maritime(settings) if settings.domain == "maritime" else make_fleet(settings)


def write_events(spark: SparkSession, shared: "Broadcast[Scenario]", folder: Path) -> None:
    """Write canonical positions with their derived attributes, laid out by track, files named by number alone."""
    files = shared.value.settings.files
    positions = by_track(_mapped(spark, shared, _position_rows, POSITION_SCHEMA), files)
    with replaced(folder) as staging:
        write_layout(derive(positions, DeriveOptions(fill_speeds=())), staging, files)
        _settle_bytes(staging)


def write_raw(spark: SparkSession, shared: "Broadcast[Scenario]", folder: Path) -> None:
    """Write the messages before cleaning, in the order of their arrival."""
    with replaced(folder) as staging:
        messages = _mapped(spark, shared, _message_rows, POSITION_SCHEMA)
        messages.write.option("compression", "zstd").parquet(str(staging))
        _settle_bytes(staging)


def _message_rows(scenario: Scenario, number: int) -> pa.RecordBatch:
    return raw_rows(scenario, number).batch


def _position_rows(scenario: Scenario, number: int) -> pa.RecordBatch:
    return scenario.rows(number)


def _mapped(
    spark: SparkSession,
    shared: "Broadcast[Scenario]",
    make: Callable[[Scenario, int], pa.RecordBatch],
    schema: StructType,
) -> DataFrame:
    """The rows that `make` gives for every track, each made alone by whichever worker has it."""

    def make_all(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield make(shared.value, number)

    settings = shared.value.settings
    tasks = min(settings.tracks, MOST_TASKS, 2 + settings.positions // POSITIONS_PER_TASK)
    return spark.range(0, settings.tracks, 1, tasks).mapInArrow(make_all, schema)


def _settle_bytes(folder: Path) -> None:
    """Write Spark's files anew under names of a number alone, so that the same simulation gives the same bytes.

    Spark's names hold a random part, and its Parquet writer lists the encodings of a column in the order of a hash
    set, which differs from one JVM to the next. One row group a file, as the track layout has it.
    """
    for file in sorted(folder.iterdir()):
        if file.name.startswith("part-"):
            table = pq.read_table(file)
            number = "-".join(file.name.split("-")[:2])
            options = {"compression": "zstd", "row_group_size": max(table.num_rows, 1), "store_schema": False}
            pq.write_table(table, folder / f"{number}.parquet", **options)
        if file.name != LAYOUT_FILE:
            file.unlink()


def _summary(scenario: Scenario, out: Path, truth: pa.Table, faults: pa.Table, seconds: float) -> SimulationSummary:
    settings = scenario.settings
    files = sorted((out / "events").glob("*.parquet"))
    counted: dict[str, dict[str, int]] = {}
    for pattern, kind in zip(truth["pattern"].to_pylist(), truth["kind"].to_pylist(), strict=True):
        kinds = counted.setdefault(pattern, {"injected": 0, "near_miss": 0, "incidental": 0})
        kinds[kind] += 1
    lines = zip(faults["fault"].to_pylist(), faults["rows"].to_pylist(), strict=True)
    faulty: dict[str, int] = {}
    for name, rows in lines:
        faulty[name] = faulty.get(name, 0) + rows
    return SimulationSummary(
        domain=settings.domain,
        tracks=settings.tracks,
        positions=sum(pq.ParquetFile(file).metadata.num_rows for file in files),
        positions_due=settings.positions,
        files=len(files),
        bytes=sum(file.stat().st_size for file in files),
        truth=dict(sorted(counted.items())),
        faults=dict(sorted(faulty.items())),
        not_injected=tuple(p for p in scenario.patterns if not counted.get(p, {}).get("injected")),
        seconds=round(seconds, 2),
        out=str(out),
    )


def summary_dict(summary: SimulationSummary) -> dict[str, Any]:
    """The summary as `--json` prints it."""
    return asdict(summary)


def print_summary(summary: SimulationSummary, console: Console | None = None) -> None:
    """Print a table of the truth and a line of numbers."""
    console = console or Console()
    table = Table(title=f"Simulated truth: {summary.domain}", title_justify="left")
    table.add_column("pattern")
    for kind in ("injected", "near miss", "incidental"):
        table.add_column(kind, justify="right")
    for pattern, counts in summary.truth.items():
        table.add_row(pattern, *(f"{counts[kind]:,}" for kind in ("injected", "near_miss", "incidental")))
    console.print(table)
    if summary.not_injected:
        missing = ", ".join(summary.not_injected)
        console.print(f"Too few tracks or days to show: {missing}. Raise --tracks or --days.", highlight=False)
    console.print(
        f"{count_of(summary.positions, 'simulated position')} of {count_of(summary.tracks, 'track')} "
        f"in {count_of(summary.files, 'file')} "
        f"({summary.bytes / 1e6:.1f} MB), {summary.seconds:.1f} s: {summary.out}",
        highlight=False,
        soft_wrap=True,
    )
