"""`foresail stream`: starts the line, keeps it running, shows how it does, and stops it between two micro-batches."""

import json
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from foresail.pipeline.errors import InputError
from foresail.pipeline.fitting import left_out_lines
from foresail.pipeline.jobs.faults import cause_of
from foresail.pipeline.kafka.topics import create_topics, is_reachable
from foresail.pipeline.progress import Progress
from foresail.pipeline.settings import Settings
from foresail.pipeline.stages.policy import Policy
from foresail.pipeline.stream.bucket.line_spec import LineSpec, monitor_for
from foresail.pipeline.stream.control.message import Configuration
from foresail.pipeline.stream.control.obeying import Replies
from foresail.pipeline.stream.learning.online import Online
from foresail.pipeline.stream.messages.scanning import KERNELS
from foresail.pipeline.stream.monitoring.lag import LagWatch
from foresail.pipeline.stream.monitoring.live_table import live_table
from foresail.pipeline.stream.monitoring.metrics import Metrics, serve
from foresail.pipeline.stream.query.query import LiveLine, live_line
from foresail.pipeline.stream.query.sinks import BatchFacts, Sinks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


logger = logging.getLogger(__name__)

QUERY = "query"
REFRESH_S = 0.5
BROKER_EVERY_S = 2.0


class Stream:
    """A line that runs; `stop` may be called from a signal handler."""

    def __init__(self, spark: SparkSession, settings: Settings, policy: Policy, progress: Progress) -> None:
        self._spark, self._settings, self._progress = spark, settings, progress
        self.metrics = Metrics()
        self._replies = Replies(settings)
        self._lag = _lag_of(settings)
        self.query: StreamingQuery | None = None
        self._door = WriteGate()
        self._stopping = threading.Event()
        self._anew: list[str] = []
        """How this line is another than the one that wrote the checkpoint, a sentence each."""
        # which Python workers Spark starts depends on it, and the stateful step does not know it: one kind for all
        spark.conf.set("spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled", "false")
        with progress.step("compiling the line"):
            self.line: LiveLine = live_line(spark, settings, policy, progress)
        self.metrics.branches = max(len(self.line.compiled.specs), 1)
        self._online = Online(settings, self.line.compiled.specs, self.metrics, self._replies)
        for line in left_out_lines(self.line.compiled.skipped):
            progress.say(f"not looked for: {line}")

    def warm_up(self) -> None:
        """Have every worker load its kernels and build the line before the first event."""
        with self._progress.step("warming up"):
            warm(self._spark, self.line.compiled.specs, self.line.buckets)

    def run(self, once: bool) -> dict[str, Any]:
        """Run until stopped, or with `once` until all that is there has been read; the summary."""
        began = time.monotonic()
        stream = self._settings.stream
        server = None if stream.metrics_port is None else serve(self.metrics, stream.metrics_port, stream.metrics_host)
        if server:
            self._progress.say(f"metrics: http://{stream.metrics_host}:{server.server_address[1]}/metrics")
        if self._lag:
            self._lag.start(self.metrics.hear_lag)
        try:
            while True:
                self.query = self._start(once)
                fault = self._watch(self.query, began)
                if fault is None:
                    break
                if not self._may_go_on(fault):
                    raise InputError(_sentence(fault))
        finally:
            self._online.close()
            self._replies.close()
            if self._lag:
                self._lag.close()
            if server:
                server.shutdown()
        return self._summary(time.monotonic() - began)

    def stop(self) -> None:
        """Stop when the micro-batch under way is done."""
        self._stopping.set()

    def _start(self, once: bool) -> "StreamingQuery":
        stream = self._settings.stream
        check_operators(stream.checkpoint / QUERY, self.line.stateful_operators)
        sinks = Sinks(self._settings, self._hear)
        writer = self.line.findings.writeStream.foreachBatch(self._door.passing(sinks)).queryName("foresail")
        writer = writer.option("checkpointLocation", str(stream.checkpoint / QUERY))
        if once:
            writer = writer.trigger(availableNow=True)
        elif stream.trigger_s:
            writer = writer.trigger(processingTime=f"{stream.trigger_s} seconds")
        return writer.start()

    def _hear(self, facts: BatchFacts) -> None:
        self.metrics.hear_stats(facts.batch, facts.stats)
        self.metrics.hear_replies(facts.replies)
        self._replies.send(facts.replies)
        self._online.hear(facts)
        self._say_what_begins_anew(facts)
        for rule, count in ((rule, count) for some in facts.stats for rule, count in some.get("limits", {}).items()):
            logger.warning("limit reached: rule=%s terminators=%d", rule, count)
        logger.info("batch=%d events=%d", facts.batch, sum(some["events"] for some in facts.stats))

    def _say_what_begins_anew(self, facts: BatchFacts) -> None:
        """Once for all buckets: each compares its own state with the line."""
        for sentence in (sentence for some in facts.stats for sentence in some["anew"]):
            if sentence not in self._anew:
                self._anew.append(sentence)
                self._progress.say(f"since the checkpoint: {sentence}")
                logger.info("since the checkpoint: %s", sentence)

    def _may_go_on(self, fault: StreamingQueryException) -> bool:
        """Whether the fault was the broker's; if so, return when it answers again."""
        servers = self._settings.kafka.bootstrap_servers
        if servers is None or self._stopping.is_set():
            return False
        if "org.apache.kafka.common.errors" not in str(fault) and is_reachable(servers):
            return False  # the broker is there and did not complain: the fault is another's
        self._progress.say(f"{servers}: the broker does not answer; waiting for it")
        logger.warning("the broker is gone: %s", _sentence(fault))
        while not is_reachable(servers):
            if self._stopping.wait(BROKER_EVERY_S):
                return False
        self._progress.say(f"{servers}: the broker answers again; going on from the checkpoint")
        return True

    def _watch(self, query: "StreamingQuery", began: float) -> StreamingQueryException | None:
        """Show how the query does until it ends or is to be stopped; the fault that ended it, if one did."""
        with self._display() as show:
            while query.isActive and not self._stopping.is_set():
                self._stopping.wait(REFRESH_S)
                if query.lastProgress is not None:
                    self._hear_progress(json.loads(query.lastProgress.json))
                show(time.monotonic() - began)
        if query.isActive:
            self._door.close(query, self._spark)
            return None
        return query.exception()

    def _hear_progress(self, progress: dict[str, Any]) -> None:
        self.metrics.hear_progress(progress)
        if self._lag:
            self._lag.finished(progress)

    def _display(self) -> Any:
        from contextlib import contextmanager  # noqa: PLC0415

        @contextmanager
        def table() -> Iterator[Any]:
            console = self._progress.console
            if console is None or not console.is_terminal:
                yield lambda _: None
                return
            from rich.live import Live  # noqa: PLC0415

            with Live(console=console, refresh_per_second=2) as live:
                yield lambda running: live.update(live_table(self.metrics, running))

        return table()

    def _summary(self, seconds: float) -> dict[str, Any]:
        totals, by_pattern = self.metrics.totals, self.metrics.by_label
        matches, forecasts = by_pattern("matches_total"), by_pattern("forecasts_total")
        composites = by_pattern("composites_total")
        return {
            "events": totals["events_total",],
            "matches": sum(matches.values()),
            "matches_by_pattern": matches,
            "rows": sum(by_pattern("match_rows_total").values()),
            "forecasts": sum(forecasts.values()),
            "composites": sum(composites.values()),
            "composites_by_rule": composites,
            "alerts": totals["alerts_total",],
            "alert_rows": totals["alert_rows_total",],
            "late": totals["late_total",],
            "rejected": totals["rejected_total",],
            "batches": int(self.metrics.gauges.get(("batch",), -1)) + 1,
            "begun_anew": self._anew,
            "seconds": round(seconds, 3),
        }


def _lag_of(settings: Settings) -> LagWatch | None:
    stream, servers = settings.stream, settings.kafka.bootstrap_servers
    if stream.source != "kafka" or servers is None:
        return None
    earliest = stream.starting_offsets == "earliest"
    return LagWatch(servers, stream.topics.positions, stream.checkpoint / QUERY, earliest)


def _sentence(fault: StreamingQueryException) -> str:
    return f"stream: ended by a fault ({cause_of(fault)}). Mend it and start again: nothing is lost."


def warm(spark: SparkSession, specs: Sequence[LineSpec], workers: int) -> None:
    """Load the kernels and build the monitors in `workers` Python workers at once."""

    def load(batches: Iterable[pd.DataFrame]) -> Iterable[pd.DataFrame]:
        for kernel in KERNELS.values():
            kernel()
        for spec in specs:
            monitor = monitor_for(spec, Configuration())
            state = monitor.fresh(1)
            monitor.rearranged(state, state.last_time * 0)
        for batch in batches:
            time.sleep(0.5)  # so that no worker does the share of another
            yield batch

    spark.range(0, workers, 1, workers).mapInPandas(load, "id long").collect()


def prepare_topics(settings: Settings, partitions: int) -> None:
    """Make the topics that are missing."""
    stream = settings.stream
    if settings.kafka.bootstrap_servers is None:
        return
    names = stream.topics.model_dump()
    wide = {names.pop("positions")}
    create_topics(settings.kafka.bootstrap_servers, wide, partitions)
    create_topics(settings.kafka.bootstrap_servers, names.values())


def stop_on_signals(stream: Stream) -> None:
    """Let Ctrl-C and SIGTERM end the line in order."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stream.stop())


class ClosedError(Exception):
    """A micro-batch came to be written after the line was closed."""


class WriteGate:
    """What is written goes through it, one micro-batch at a time, until it is closed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = False

    def passing(self, write: Callable[[Any, int], None]) -> Callable[[Any, int], None]:
        """`write` for as long as the door is open."""

        def pass_through(rows: Any, batch: int) -> None:
            with self._lock:
                if self._closed:
                    raise ClosedError
                write(rows, batch)

        return pass_through

    def close(self, query: "StreamingQuery", spark: "SparkSession") -> None:
        """Stop the query, which interrupts whatever it finds, when nothing is being written.

        A micro-batch that is being planned cannot be interrupted: it goes on until it is to be written, and stop waits
        for it. So the lock must not be held meanwhile; that micro-batch is refused, is not committed, and comes again
        after a restart.
        """
        with self._lock:
            self._closed = True
        spark.sparkContext.setLogLevel("OFF")  # the refusal is no news to a user
        query.stop()
        spark.sparkContext.setLogLevel("WARN")


def check_operators(checkpoint: Path, stateful_operators: int) -> None:
    """Refuse the checkpoint of a query that has committed a micro-batch with another number of stateful operators."""
    if not any(checkpoint.glob("commits/[0-9]*")):
        return
    there = sum(folder.name.isdigit() for folder in (checkpoint / "state").glob("*"))
    if there != stateful_operators:
        msg = (
            f"{checkpoint}: holds the state of {there} stateful operators, and this line has {stateful_operators}. "
            "It was written by an earlier foresail, or by a line with other layers or pairs. "
            "Name a new folder in stream.checkpoint."
        )
        raise InputError(msg)
