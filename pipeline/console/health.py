"""How the line and the console do: the line's own metrics, what was rejected with examples, models, the readers."""

import math
import resource
import time
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

from foresail.pipeline.console.rows import iso

if TYPE_CHECKING:
    from foresail.pipeline.console.state import Console

PATIENCE_S = 1.5
LONGEST = 2_000_000
WRONG_CLOCK_US = 600_000_000


def health_of(console: "Console", now: float) -> dict[str, Any]:
    """All figures; `line` is None where the line serves no metrics."""
    store, stream = console.store, console.settings.stream
    with store.lock:
        ahead = _ahead(store, store.clock_us())
        figures = {
            "tracks": len(store.tracks),
            "alerts": len(store.alerts),
            "open_alerts": sum(alert.last.status != "closed" for alert in store.alerts.values()),
            "forecasts": len(store.forecasts),
            "positions_kept": len(store.history),
            "rows": dict(store.totals),
            "unreadable": [
                {"topic": topic, "reason": reason, "rows": count}
                for (topic, reason), count in store.unreadable.most_common(50)
            ],
            "unreadable_examples": list(store.examples)[-10:],
            "rejected_examples": list(store.rejected)[-10:],
            "clocks_ahead": ahead,
        }
    return {
        "feed": console.reader.feed.summary(),
        "database": console.operations.fault or "answers",
        "console": {
            **figures,
            "browsers": console.hub.listeners,
            "running_s": round(now - console.began, 1),
            "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
            "cpu_s": round(time.process_time(), 1),
        },
        "line": None
        if stream.metrics_port is None
        else line_metrics(f"http://{stream.metrics_host}:{stream.metrics_port}/metrics"),
        "models": [
            {name: knob[name] for name in ("pattern", "model_version", "order", "trained_until", "trained_events")}
            for knob in console.insight.knobs()
            if knob["forecast"]
        ],
        "clock": iso(store.clock_us()),
    }


def _ahead(store: Any, clock: int | None) -> list[dict[str, Any]]:
    """Tracks whose clocks are ahead of all others."""
    if clock is None:
        return []
    found = [t.last for t in store.tracks.values() if t.last.time_us > clock + WRONG_CLOCK_US]
    return [{"track": last.track, "time": iso(last.time_us)} for last in found[:20]]


def line_metrics(url: str) -> dict[str, Any]:
    """The figures of the metrics endpoint; `fault` where it does not answer."""
    try:
        with urlopen(url, timeout=PATIENCE_S) as answer:
            text = answer.read(LONGEST).decode("utf-8", "replace")
        figures: dict[str, Any] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if not math.isfinite(sample.value):
                    continue
                name = sample.name.removeprefix("foresail_")
                if sample.labels:
                    figures.setdefault(name, {})[" ".join(sample.labels.values())] = sample.value
                else:
                    figures[name] = sample.value
        return {"figures": figures, "fault": None}
    except (URLError, OSError, ValueError) as error:
        return {"figures": {}, "fault": f"{url}: does not answer ({error}). Is the line running?"}
