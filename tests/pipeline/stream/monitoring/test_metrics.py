import re
import urllib.request
from dataclasses import asdict
from typing import Any

import pytest
from rich.console import Console

from foresail.pipeline.errors import InputError
from foresail.pipeline.settings import StreamSettings
from foresail.pipeline.stream.bucket.output_rows import Tally
from foresail.pipeline.stream.monitoring.live_table import live_table
from foresail.pipeline.stream.monitoring.metrics import Metrics, serve


def stats(**values: Any) -> dict[str, Any]:
    return {**asdict(Tally()), **values}


def filled() -> Metrics:
    metrics = Metrics()
    metrics.hear_stats(
        3,
        [
            stats(
                events=10,
                tracks=4,
                runs=3,
                rejected=2,
                matches={"stays": 2},
                match_rows={"stays": 9},
                alerts=3,
                alert_rows=8,
                forecasts={"stays": 7},
            ),
            stats(events=5, late=1, tracks=3),
        ],
    )
    metrics.hear_replies([{"accepted": True}, {"accepted": False}])
    metrics.hear_score("stays", {"f1": 0.5})
    metrics.hear_lag(5)
    metrics.hear_progress(
        {
            "durationMs": {"triggerExecution": 1500},
            "inputRowsPerSecond": 100.0,
            "processedRowsPerSecond": 90.0,
            "stateOperators": [{"memoryUsedBytes": 2_000_000, "numRowsTotal": 2}],
            # what Spark says of its lag: of the moment at which it planned its last micro-batch
            "sources": [{"endOffset": {"t": {"0": 5, "1": 6}}, "metrics": {"avgOffsetsBehindLatest": "0.0"}}],
        }
    )
    return metrics


def test_the_figures_of_all_buckets_are_served_for_prometheus() -> None:
    server = serve(filled(), 0)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_address[1]}/metrics", timeout=5) as answer:
            text = answer.read().decode()
    finally:
        server.shutdown()
        server.server_close()
    assert "# TYPE foresail_events_total counter\nforesail_events_total 15\n" in text
    assert 'foresail_matches_total{pattern="stays"} 2' in text
    assert 'foresail_match_rows_total{pattern="stays"} 9' in text
    assert "foresail_alerts_total 3\n" in text
    assert "foresail_alert_rows_total 8\n" in text
    assert 'foresail_score{pattern="stays",measure="f1"} 0.5' in text
    assert 'foresail_control_messages_total{accepted="false"} 1' in text
    assert "foresail_lag_messages 5\n" in text
    assert 'foresail_forecasts_total{pattern="stays"} 7' in text
    for line in ("late_total 1", "rejected_total 2", "runs 3", "batch_seconds 1.5", "input_rows_per_second 100"):
        assert f"\nforesail_{line}\n" in text
    assert "\nforesail_state_bytes 2e+06\n" in text


def test_metrics_are_served_where_the_settings_say_and_by_default_to_this_machine_alone() -> None:
    assert StreamSettings().metrics_host == "127.0.0.1"
    server = serve(filled(), 0, "0.0.0.0")
    try:
        assert server.server_address[0] == "0.0.0.0"
        with pytest.raises(InputError, match=r"^stream\.metrics_port: cannot listen on 0\.0\.0\.0:\d+ \(.*\)\. Name"):
            serve(filled(), server.server_address[1], "0.0.0.0")
    finally:
        server.shutdown()
        server.server_close()


def test_a_row_that_two_branches_read_is_counted_once() -> None:
    metrics = Metrics(branches=2)
    metrics.hear_progress({"durationMs": {}, "inputRowsPerSecond": 100.0, "processedRowsPerSecond": 90.0})
    assert metrics.gauges["input_rows_per_second", ""] == 50
    assert metrics.gauges["processed_rows_per_second", ""] == 45


def test_the_live_table_shows_what_a_watcher_asks_for() -> None:
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(live_table(filled(), 3725))
    shown = console.export_text()
    assert "running for 1:02:05" in shown
    assert "F1 0.50" in shown
    assert re.search(r"lag, messages\s*│\s*5 ", shown)
    assert "2 matches" in shown
    assert "2 matches" in shown
