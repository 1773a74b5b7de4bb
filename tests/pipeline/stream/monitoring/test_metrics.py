import re
import urllib.error
import urllib.request
from dataclasses import asdict
from typing import Any

import pytest
from rich.console import Console

from foresail.pipeline.errors import InputError
from foresail.pipeline.settings import StreamSettings
from foresail.pipeline.stream.bucket.output_rows import BatchCounts
from foresail.pipeline.stream.monitoring.live_table import live_table
from foresail.pipeline.stream.monitoring.metrics import HELP, Metrics, serve


def stats(**values: Any) -> dict[str, Any]:
    return {**asdict(BatchCounts()), **values}


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


def scraped(metrics: Metrics, path: str = "/metrics") -> str:
    server = serve(metrics, 0)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_address[1]}{path}", timeout=5) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain")
            return str(answer.read().decode())
    finally:
        server.shutdown()
        server.server_close()


def test_the_figures_of_all_buckets_are_served_for_prometheus() -> None:
    text = scraped(filled())
    assert "# TYPE foresail_events_total counter\nforesail_events_total 15.0\n" in text
    assert "# TYPE foresail_tracks gauge\nforesail_tracks 7.0\n" in text
    for line in (
        'matches_total{pattern="stays"} 2.0',
        'match_rows_total{pattern="stays"} 9.0',
        'forecasts_total{pattern="stays"} 7.0',
        'score{measure="f1",pattern="stays"} 0.5',
        'control_messages_total{accepted="false"} 1.0',
        *("alerts_total 3.0", "alert_rows_total 8.0", "late_total 1.0", "rejected_total 2.0"),
        *("lag_messages 5.0", "runs 3.0", "batch_seconds 1.5", "input_rows_per_second 100.0", "state_bytes 2e+06"),
    ):
        assert f"\nforesail_{line}\n" in text


def test_nothing_is_served_under_a_name_that_was_not_chosen() -> None:
    names = set(re.findall(r"^(foresail_\w+)", scraped(filled()), re.MULTILINE))
    assert names <= {f"foresail_{name}" for name in HELP}


def test_a_pattern_of_any_name_makes_one_readable_line() -> None:
    metrics = Metrics()
    metrics.hear_score('a"b\\c\nd', {"f1": 1.0})
    assert r'foresail_score{measure="f1",pattern="a\"b\\c\nd"} 1.0' in scraped(metrics)


@pytest.mark.parametrize("path", ["/", "/favicon.ico", "/metrics/more", "/tracks"])
def test_other_paths_are_not_found(path: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        scraped(filled(), path)


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
    assert metrics.gauges["input_rows_per_second",] == 50
    assert metrics.gauges["processed_rows_per_second",] == 45


def test_the_live_table_shows_what_a_watcher_asks_for() -> None:
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(live_table(filled(), 3725))
    shown = console.export_text()
    assert "running for 1:02:05" in shown
    assert "F1 0.50" in shown
    assert re.search(r"lag, messages\s*│\s*5 ", shown)
    assert "2 matches" in shown
    assert "2 matches" in shown
