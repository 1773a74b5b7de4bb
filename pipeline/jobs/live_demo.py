"""The live demonstration: a broker, a line, a simulated day that is replayed into it, and the console, in one process.

Models are learned from the half day before the one that the page shows.
"""

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from foresail.pipeline.kafka import start_broker, stop_broker
from foresail.pipeline.kafka.broker import free_port
from foresail.pipeline.progress import SILENT, Progress
from foresail.pipeline.settings import Settings
from foresail.pipeline.sinks.output_folder import claim_output

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from foresail.pipeline.stream.query.job import Stream

DAYS, LEARNED_DAYS = 1.5, 0.5
LEARNED_FROM = 20_000
"""Events that thresholds are chosen on: enough to show what a model does, and chosen in seconds."""
FORECAST = ("port_entry", "trawling")
PATTERNS = ("anchored", "drifting", "high_speed_near_coast", "loitering", "port_entry", "trawling")
HEAD_START_S = 2 * 3600.0
"""So much of the day is sent at once: a page that opens has tracks with tails, and a past to go back to."""
SLICE_S = 0.5
"""How often what is due is sent."""


@dataclass(frozen=True, slots=True)
class Day:
    """What was simulated and learned."""

    folder: Path
    begins: datetime

    @property
    def events(self) -> Path:
        """All positions."""
        return self.folder / "simulated" / "events"

    @property
    def layers(self) -> Path:
        """Ports and coasts of the simulated region."""
        return self.folder / "simulated" / "layers" / "layers.yaml"


def make_day(
    spark: "SparkSession", folder: Path, settings: Settings, seed: int, tracks: int, progress: Progress = SILENT
) -> Day:
    """Simulate a day and the half day before it below `folder`, and learn models from the latter."""
    from foresail.patterns.catalog.loader import Catalog, built_in_catalog  # noqa: PLC0415 - --help needs none of these
    from foresail.pipeline.jobs.enrich import EnrichOrder, enrich_events  # noqa: PLC0415
    from foresail.pipeline.jobs.train import TrainRequest, run_train  # noqa: PLC0415
    from foresail.pipeline.simulator.job import simulate  # noqa: PLC0415
    from foresail.pipeline.simulator.settings import SimulationSettings  # noqa: PLC0415

    fleet = SimulationSettings(tracks=tracks, days=DAYS, seed=seed)
    day = Day(folder, fleet.start + timedelta(days=LEARNED_DAYS))
    progress.say(f"simulating {tracks} vessels off {fleet.region.title()}")
    simulate(spark, fleet, folder / "simulated", progress)
    cache = settings.layers.directory
    enriched = claim_output(folder / "enriched", "enrich")
    enrich_events(spark, EnrichOrder(str(day.events), day.layers, enriched, cache), progress)
    shutil.rmtree(folder / "models", ignore_errors=True)
    catalog = Catalog(tuple(entry for entry in built_in_catalog("maritime") if entry.name in FORECAST))
    request = TrainRequest(
        [str(enriched)], catalog, folder / "models", layers=day.layers, layer_cache=cache, until=day.begins,
        settings=settings.forecasting.model_copy(update={"train_sample_events": LEARNED_FROM}),
    )  # fmt: skip
    progress.say("learning from the half day before")
    run_train(spark, request, progress)
    return day


def live_settings(settings: Settings, day: Day, port: int) -> Settings:
    """The settings of the line and its console: the caller's, with what this demonstration needs."""
    folder = day.folder
    stream = settings.stream.model_copy(
        update={
            "source": "kafka",
            "domain": "maritime",
            "patterns": PATTERNS,
            "models": folder / "models",
            "checkpoint": folder / "checkpoint",
            "starting_offsets": "earliest",
            "episodes": "changes",
            "metrics_port": free_port(),
        }
    )
    return settings.model_copy(
        update={
            "kafka": settings.kafka.model_copy(update={"bootstrap_servers": f"127.0.0.1:{port}"}),
            "layers": settings.layers.model_copy(update={"file": day.layers}),
            "stream": stream,
            "console": settings.console.model_copy(update={"database": f"sqlite:///{folder / 'console.db'}"}),
        }
    )


@contextmanager
def broker(folder: Path, jars: Path, progress: Progress = SILENT) -> Iterator[int]:
    """A broker of our own; its port. It ends with the block, and its records with the next start."""
    shutil.rmtree(folder, ignore_errors=True)
    port = free_port()
    start_broker(folder, port, jars, progress)
    try:
        yield port
    finally:
        stop_broker(folder)


@dataclass(slots=True)
class Replayed:
    """A thread that sends a day's positions as they fall due.

    `foresail replay` writes through Spark, whose few cores the line needs here; some hundred messages a second do not.
    """

    day: Day
    settings: Settings
    speed: float
    head_start_s: float = HEAD_START_S
    sent: int = 0
    _stopping: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to send."""
        self._thread = threading.Thread(target=self._run, name="replayed day", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Send no more."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(timeout=20)

    def _run(self) -> None:
        from kafka import KafkaProducer  # noqa: PLC0415 - --help needs none of this

        rows = list(_positions(self.day))
        topic, servers = self.settings.stream.topics.positions, self.settings.kafka.bootstrap_servers
        producer = KafkaProducer(bootstrap_servers=servers, linger_ms=20)
        began = time.monotonic()
        try:
            while self.sent < len(rows) and not self._stopping.is_set():
                passed = self.head_start_s + (time.monotonic() - began) * self.speed
                due = self.day.begins.timestamp() + passed
                while self.sent < len(rows) and rows[self.sent][0] <= due:
                    _, track, value = rows[self.sent]
                    producer.send(topic, value, key=track)
                    self.sent += 1
                producer.flush(timeout=10)
                self._stopping.wait(SLICE_S)
        finally:
            producer.close(timeout=5)


def _positions(day: Day) -> Iterator[tuple[float, bytes, bytes]]:
    """Time, key and value of each message of the replayed day, in order of time."""
    import pyarrow.compute as pc  # noqa: PLC0415 - --help needs none of this
    import pyarrow.dataset as ds  # noqa: PLC0415

    table = ds.dataset(day.events, format="parquet", exclude_invalid_files=True).to_table(
        filter=pc.field("time") >= day.begins
    )
    shown = [name for name in table.column_names if name not in ("source", "offset")]
    for row in table.sort_by([("time", "ascending"), ("track", "ascending")]).select(shown).to_pylist():
        when = row["time"] if row["time"].tzinfo else row["time"].replace(tzinfo=UTC)
        known = {name: value for name, value in row.items() if value is not None}
        yield when.timestamp(), str(row["track"]).encode(), json.dumps(known | {"time": _written(when)}).encode()


def _written(when: datetime) -> str:
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(slots=True)
class Running:
    """The line in a thread of its own; `fault` says what ended it, should it end by itself."""

    stream: "Stream"
    ended: Callable[[], None]
    fault: Exception | None = None
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to read."""
        self._thread = threading.Thread(target=self._run, name="live line", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.stream.run(once=False)
        except Exception as error:  # told by the main thread, which serves the page
            self.fault = error
            self.ended()

    def close(self) -> None:
        """End after the micro-batch under way."""
        self.stream.stop()
        if self._thread is not None:
            self._thread.join(timeout=60)


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """What a user may choose."""

    host: str = "127.0.0.1"
    port: int = 8400
    seed: int = 7
    tracks: int = 24
    speed: float = 60.0


def run(
    spark: "SparkSession",
    folder: Path,
    settings: Settings,
    options: LiveOptions,
    tell: Callable[[str], None],
    progress: Progress = SILENT,
) -> None:
    """Everything, until Ctrl-C; `tell` is given the address of the console."""
    from foresail.pipeline.console.serving import Server  # noqa: PLC0415 - --help needs none of these
    from foresail.pipeline.stages.policy import Policy  # noqa: PLC0415
    from foresail.pipeline.stream.query.job import Stream, prepare_topics  # noqa: PLC0415

    claim_output(folder, "demo")
    with broker(folder / "kafka", settings.jars.directory, progress) as port:
        day = make_day(spark, folder, settings, options.seed, options.tracks, progress)
        shutil.rmtree(folder / "checkpoint", ignore_errors=True)
        settings = live_settings(settings, day, port)
        prepare_topics(settings, partitions=2)
        server = Server(settings, options.host, options.port)
        stream = Stream(spark, settings, Policy(), progress)
        line, replayed = Running(stream, server.stop), Replayed(day, settings, options.speed)
        try:
            stream.warm_up()
            tell(server.address)  # before the line's table, which redraws the lines below it
            line.start()
            replayed.start()
            server.run()
        finally:
            replayed.close()
            progress.say("ending the line and the broker")
            line.close()
        if line.fault is not None:
            raise line.fault
