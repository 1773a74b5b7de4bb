"""Figures of a running line: gathered from its micro-batches and Spark's progress, served as text for Prometheus."""

import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from foresail.pipeline.errors import InputError

HELP = {
    "events_total": "Events read by the line; pairs are not counted.",
    "pairs_total": "Pairs of tracks, one for each common time at which they were near each other.",
    "matches_total": "Matches, by pattern; an episode is one.",
    "match_rows_total": "Rows that tell of matches, by pattern: an episode has one for each of its changes.",
    "forecasts_total": "Forecasts told, by pattern.",
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


@dataclass(slots=True)
class Metrics:
    """All figures; safe to read while another thread writes."""

    totals: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By name and labels as text."""
    gauges: dict[tuple[str, str], float] = field(default_factory=dict)
    branches: int = 1
    """How many branches of the query read the messages: Spark counts a row for each."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hear_stats(self, batch: int, stats: list[dict[str, Any]]) -> None:
        """Add what the buckets counted in a micro-batch."""
        with self._lock:
            for some in stats:
                for name in SUMMED:
                    self.totals[f"{name}_total", ""] += some[name]
                for name in ("matches", "match_rows", "forecasts"):
                    for pattern, count in some[name].items():
                        self.totals[f"{name}_total", f'pattern="{pattern}"'] += count
            self.gauges["runs", ""] = sum(some["runs"] for some in stats)
            self.gauges["tracks", ""] = sum(some["tracks"] for some in stats)
            self.gauges["waiting_events", ""] = sum(some["waiting"] for some in stats)
            self.gauges["batch", ""] = batch

    def hear_replies(self, replies: list[dict[str, Any]]) -> None:
        """Count control messages."""
        with self._lock:
            for reply in replies:
                self.totals["control_messages_total", f'accepted="{str(reply["accepted"]).lower()}"'] += 1

    def hear_progress(self, progress: dict[str, Any]) -> None:
        """Take over what Spark says of its last micro-batch."""
        operators = progress.get("stateOperators", [])
        with self._lock:
            self.gauges["batch_seconds", ""] = progress["durationMs"].get("triggerExecution", 0) / 1000
            self.gauges["input_rows_per_second", ""] = float(progress.get("inputRowsPerSecond") or 0) / self.branches
            worked_off = float(progress.get("processedRowsPerSecond") or 0) / self.branches
            self.gauges["processed_rows_per_second", ""] = worked_off
            self.gauges["state_bytes", ""] = sum(op["memoryUsedBytes"] for op in operators)
            self.gauges["state_rows", ""] = sum(op["numRowsTotal"] for op in operators)

    def hear_lag(self, messages: int) -> None:
        """Take over how many messages the line has not finished reading."""
        with self._lock:
            self.gauges["lag_messages", ""] = messages

    def hear_score(self, pattern: str, scores: dict[str, float]) -> None:
        """Take over the rolling scores of a pattern."""
        with self._lock:
            for name, value in scores.items():
                self.gauges["score", f'pattern="{pattern}",measure="{name}"'] = value

    def as_text(self) -> str:
        """Everything in the format that Prometheus reads."""
        with self._lock:
            held: dict[str, list[str]] = {}
            for (name, labels), value in [*self.totals.items(), *self.gauges.items()]:
                shown = f"{{{labels}}}" if labels else ""
                held.setdefault(name, []).append(f"foresail_{name}{shown} {value:g}\n")
        lines = []
        for name, values in sorted(held.items()):
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# HELP foresail_{name} {HELP[name]}\n", f"# TYPE foresail_{name} {kind}\n", *sorted(values)]
        return "".join(lines)


def serve(metrics: Metrics, port: int, host: str = "127.0.0.1") -> ThreadingHTTPServer:
    """Answer GET /metrics on `port` (0 chooses one) of `host` in the background; `shutdown` ends it."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = metrics.as_text().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """Stay quiet: a scrape every few seconds is no news."""

    try:
        server = ThreadingHTTPServer((host, port), Answer)
    except OSError as error:
        msg = (
            f"stream.metrics_port: cannot listen on {host}:{port} ({error.strerror}). "
            "Name a free port, and as stream.metrics_host an address of this machine."
        )
        raise InputError(msg) from None
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server
