"""Figures of a running line: gathered from its micro-batches and Spark's progress, served for Prometheus."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.registry import Collector

from foresail.pipeline.errors import InputError

HELP = {
    "events_total": "Events read by the line; pairs are not counted.",
    "pairs_total": "Pairs of tracks, one for each common time at which they were near each other.",
    "matches_total": "Matches, by pattern; an episode is one.",
    "match_rows_total": "Rows that tell of matches, by pattern: an episode has one for each of its changes.",
    "forecasts_total": "Forecasts told, by pattern.",
    "composites_total": "Composite events, by rule.",
    "alerts_total": "Alerts that were opened.",
    "alert_rows_total": "Messages about alerts: opened, updated, closed.",
    "late_total": "Events that came too late to be put in order.",
    "rerun_total": "Events of the past that were read again, late ones and those after them.",
    "repeated_total": "Second events of a track at one instant.",
    "rejected_total": "Messages that are no positions.",
    "forgotten_total": "Tracks forgotten because they were silent.",
    "control_messages_total": "Control messages, by whether they were accepted.",
    "tracks": "Tracks at hand; those at rest, and pairs, are not counted.",
    "runs": "Runs under way: patterns that have begun in a track at hand.",
    "waiting_events": "Events that wait to be put in order.",
    "batch": "Number of the last micro-batch.",
    "batch_seconds": "How long the last micro-batch took.",
    "input_rows_per_second": "Rows that came in, by Spark's measure.",
    "processed_rows_per_second": "Rows that were worked off, by Spark's measure.",
    "lag_messages": "Messages in the topic that wait or are being read.",
    "state_bytes": "Memory of the state store.",
    "state_rows": "Rows of the state store.",
    "score": "Rolling scores of forecasts, by pattern and measure.",
}
SUMMED = ("events", "pairs", "late", "rerun", "repeated", "rejected", "forgotten", "alerts", "alert_rows")


BY_PATTERN = ("matches", "match_rows", "forecasts", "composites")
LABELS = {
    **{f"{name}_total": ("pattern",) for name in BY_PATTERN},
    "control_messages_total": ("accepted",),
    "score": ("pattern", "measure"),
}
"""Of the figures that are told apart by more than their name."""


@dataclass(slots=True, eq=False)
class Metrics(Collector):
    """All figures; safe to read while another thread writes. A scrape never sees half of a micro-batch."""

    totals: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """By name and the values of its labels."""
    gauges: dict[tuple[str, ...], float] = field(default_factory=dict)
    branches: int = 1
    """How many branches of the query read the messages: Spark counts a row for each."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hear_stats(self, batch: int, stats: list[dict[str, Any]]) -> None:
        """Add what the buckets counted in a micro-batch."""
        with self._lock:
            for some in stats:
                for name in SUMMED:
                    self.totals[f"{name}_total",] += some[name]
                for name in BY_PATTERN:
                    for pattern, count in some[name].items():
                        self.totals[f"{name}_total", pattern] += count
            self.gauges["runs",] = sum(some["runs"] for some in stats)
            self.gauges["tracks",] = sum(some["tracks"] for some in stats)
            self.gauges["waiting_events",] = sum(some["waiting"] for some in stats)
            self.gauges["batch",] = batch

    def hear_replies(self, replies: list[dict[str, Any]]) -> None:
        """Count control messages."""
        with self._lock:
            for reply in replies:
                self.totals["control_messages_total", str(reply["accepted"]).lower()] += 1

    def hear_progress(self, progress: dict[str, Any]) -> None:
        """Take over what Spark says of its last micro-batch."""
        operators = progress.get("stateOperators", [])
        with self._lock:
            self.gauges["batch_seconds",] = progress["durationMs"].get("triggerExecution", 0) / 1000
            for rate in ("input", "processed"):
                rows = float(progress.get(f"{rate}RowsPerSecond") or 0)
                self.gauges[f"{rate}_rows_per_second",] = rows / self.branches
            self.gauges["state_bytes",] = sum(op["memoryUsedBytes"] for op in operators)
            self.gauges["state_rows",] = sum(op["numRowsTotal"] for op in operators)

    def hear_lag(self, messages: int) -> None:
        """Take over how many messages the line has not finished reading."""
        with self._lock:
            self.gauges["lag_messages",] = messages

    def hear_score(self, pattern: str, scores: dict[str, float]) -> None:
        """Take over the rolling scores of a pattern."""
        with self._lock:
            for name, value in scores.items():
                self.gauges["score", pattern, name] = value

    def by_label(self, name: str) -> dict[str, int]:
        """The totals of a figure by its label: of a pattern, for most."""
        with self._lock:
            return {key[1]: count for key, count in self.totals.items() if key[0] == name}

    def collect(self) -> Iterator[Metric]:
        """Every figure that is known so far, as the client library of Prometheus asks for them."""
        with self._lock:
            figures = sorted([*self.totals.items(), *self.gauges.items()])
        families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for (name, *labels), value in figures:
            if name not in families:
                kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
                families[name] = kind(f"foresail_{name}", HELP[name], labels=LABELS.get(name, ()))
            families[name].add_metric(labels, value)
        yield from families.values()


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Stay quiet: a scrape every few seconds is no news."""


def serve(metrics: Metrics, port: int, host: str = "127.0.0.1") -> WSGIServer:
    """Answer GET /metrics on `port` (0 chooses one) of `host` in the background; `shutdown` ends it."""
    registry = CollectorRegistry()
    registry.register(metrics)
    exposition = make_wsgi_app(registry)

    def answer(request: dict[str, Any], respond: Any) -> Iterable[bytes]:
        if request["PATH_INFO"] == "/metrics":
            return exposition(request, respond)  # type: ignore[no-any-return]
        respond("404 Not Found", [("Content-Type", "text/plain")])
        return [b"Metrics are at /metrics.\n"]

    try:
        server = make_server(host, port, answer, server_class=ThreadingWSGIServer, handler_class=_QuietHandler)
    except OSError as error:
        msg = (
            f"stream.metrics_port: cannot listen on {host}:{port} ({error.strerror}). "
            "Name a free port, and as stream.metrics_host an address of this machine."
        )
        raise InputError(msg) from None
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server
