"""The simulation as a Spark job: tracks are spread over a fixed number of files, each made by one task alone.

What a file holds depends on the settings only, so the same seed gives the same bytes on any number of cores.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from pipeline.progress import SILENT, Progress
from pipeline.simulator.facts import FACTS, fact_rows, write_facts
from pipeline.simulator.fleet.scenario import make_fleet
from pipeline.simulator.maritime.scenario import make_maritime
from pipeline.simulator.scenario import Scenario
from pipeline.simulator.schemas import EVENTS
from pipeline.simulator.settings import SimulationSettings
from pipeline.sinks.output_folder import claim_output, replaced

Batches = Iterator[pa.RecordBatch]
LARGEST_BATCH = 200_000


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
    extra: dict[str, int] = field(default_factory=dict)


def simulate(
    spark: SparkSession, settings: SimulationSettings, out: Path, progress: Progress = SILENT
) -> SimulationSummary:
    """Write events, truth, faults and layers to `out` and say what they hold."""
    began = time.monotonic()
    claim_output(out, "simulate")
    with progress.step(f"planning {settings.tracks:,} tracks"):
        scenario = make_scenario(settings)
        buckets = bucketed(spark, scenario)
    with progress.step("writing layers"), replaced(out / "layers") as staging:
        staging.mkdir()
        scenario.write_layers(staging)
    with progress.step(f"writing {settings.positions:,} positions in {settings.files} files"):
        write_events(spark, scenario, buckets, out / "events")
    with progress.step("writing the truth table"):
        truth, faults = write_facts(_facts(spark, scenario, buckets), out)
    return _summary(scenario, out, truth, faults, time.monotonic() - began)


def make_scenario(settings: SimulationSettings) -> Scenario:
    """The world and the plans of the domain asked for."""
    return make_maritime(settings) if settings.domain == "maritime" else make_fleet(settings)


def bucketed(spark: SparkSession, scenario: Scenario) -> list[list[int]]:
    """The tracks of each file, in the order of their names: by Spark's own hash of the track, as in every layout."""
    names = [(number, scenario.track(number)) for number in range(scenario.settings.tracks)]
    buckets: list[list[int]] = [[] for _ in range(scenario.settings.files)]
    placed = spark.createDataFrame(names, "number long, track string").select(
        "number", "track", F.expr(f"pmod(hash(track), {len(buckets)})").alias("bucket")
    )
    for row in sorted(placed.collect(), key=lambda row: str(row["track"])):
        buckets[row["bucket"]].append(row["number"])
    return buckets


def write_events(spark: SparkSession, scenario: Scenario, buckets: list[list[int]], folder: Path) -> None:
    """Write the canonical positions, one file per bucket, sorted by track and time."""

    def make(batches: Batches) -> Batches:
        for batch in batches:
            for bucket in batch.column("id").to_pylist():
                for number in buckets[bucket]:
                    yield scenario.rows(number)

    _write(_mapped(spark, len(buckets), make, EVENTS[scenario.settings.domain]), folder)


def _facts(spark: SparkSession, scenario: Scenario, buckets: list[list[int]]) -> pa.Table:
    def make(batches: Batches) -> Batches:
        for batch in batches:
            for bucket in batch.column("id").to_pylist():
                for number in buckets[bucket]:
                    yield fact_rows(scenario, number)

    return _mapped(spark, len(buckets), make, FACTS).toArrow()


def _mapped(spark: SparkSession, files: int, make: Callable[[Batches], Batches], schema: Any) -> Any:
    return spark.range(0, files, 1, files).mapInArrow(make, schema)


def _write(frame: Any, folder: Path) -> None:
    """Write one Parquet file per partition under a name that says only its number."""
    with replaced(folder) as staging:
        frame.write.option("compression", "zstd").parquet(str(staging))
        for file in sorted(staging.iterdir()):
            if file.name.startswith("part-"):
                file.rename(staging / f"{'-'.join(file.name.split('-')[:2])}.parquet")
            else:
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
