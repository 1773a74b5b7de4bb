"""The live line on this machine, broker included: throughput, latency, an order change, and idle tracks.

    .venv/bin/python -m bench.stream --part throughput|derived|sustained|latency|order|idle [--out bench/results]
    .venv/bin/python -m bench.stream --table

Six maritime patterns and one forecast model over 5,000 simulated tracks, whose messages carry all attributes (about
330 bytes of JSON each); in the part `derived`, the line derives what it can from the positions itself. The broker, the
line and, where events come at a rate, their producer share the cores.
"""

import argparse
import json
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import functions as F  # noqa: N812
from rich.console import Console

from bench.stream_line import COLUMNS, FIRST, FORECAST, TRACKS, Bench, Running, Sender, fill, record, set_up
from bench.stream_report import plot, table
from foresail.pipeline.schemas import DERIVED_COLUMNS
from foresail.pipeline.stream.monitoring.live_table import live_table

WARMING = 2_000_000
"""Events that a line works off before something is measured at a rate."""
SETTLE_S = 60.0
"""Seconds at a rate in which Java still compiles what they run: waits of these are told apart."""


def batches(progress: list[dict[str, Any]], least_rows: int = 1) -> list[tuple[int, int, float]]:
    """Number, rows and seconds of the micro-batches that had events."""
    found = [(p["batchId"], p["numInputRows"], p["durationMs"]["triggerExecution"] / 1000) for p in progress]
    return [row for row in found if row[1] >= least_rows]


def rate_of(some: list[tuple[int, int, float]]) -> float:
    """Rows per second of micro-batches one after the other."""
    return sum(row[1] for row in some) / max(sum(row[2] for row in some), 1e-9)


def throughput(events: int, **stream: Any) -> dict[str, Any]:
    """A full topic worked off: events per second once warm, and where the time of a micro-batch goes."""
    with set_up(most_events=400_000, **stream) as bench:
        filled_s = fill(bench, events)
        line = Running(bench)
        began = time.monotonic()
        line.until_events(events, 300)
        drained_s = time.monotonic() - began
        time.sleep(15)  # some micro-batches without events, for the fixed cost
        done = line.progress()
        show(line, time.monotonic() - began)
        line.stop()
        full = batches(done, 300_000)
        small = [p["durationMs"] for p in done if p["numInputRows"] < 100]
        return {
            "events": line.stream.metrics.totals["events_total",],
            "producer_events_per_second": round(events / filled_s),
            "events_per_second": round(rate_of(full[len(full) // 2 :])),
            "events_per_second_while_java_compiles": round(rate_of(full[1 : len(full) // 2])),
            "first_batch_s": full[0][2],
            "seconds_from_start_to_drained": round(drained_s, 1),
            "batches": full,
            "warm_up_s": round(line.warm_up_s, 1),
            "batch_without_events_ms": {
                name: round(float(np.median([d.get(name, 0) for d in small]))) for name in (small[-1] if small else {})
            },
            "full_batch_ms": next(p["durationMs"] for p in reversed(done) if p["numInputRows"] >= 300_000),
            "matches": sum(v for (n, _), v in line.stream.metrics.totals.items() if n == "matches_total"),
            "alerts": line.stream.metrics.totals["alerts_total",],
        }


def show(line: Running, seconds: float) -> None:
    """The live table as a terminal shows it."""
    console = Console(width=76)
    line.stream.metrics.hear_progress(line.progress()[-1])
    console.print(live_table(line.stream.metrics, seconds))


def sustained(rate: int, seconds: float) -> dict[str, Any]:
    """Recorded events sent at a rate while the line reads: the lag as it goes."""
    with set_up() as bench:
        folder = record(bench, rate * round(seconds))
        line = warmed(bench)
        before = line.stream.metrics.totals["events_total",]
        began, sender, lags = time.monotonic(), Sender(bench, folder, rate), []
        while sender.is_alive:
            time.sleep(1)
            read = line.stream.metrics.totals["events_total",] - before
            lags.append((round(time.monotonic() - began, 1), sender.sent[-1][1] - read))
        sender.wait()
        sent = sender.sent
        line.until_events(before + sent[-1][1], 60)
        caught_up_s = time.monotonic() - began - sent[-1][0]
        line.stop()
        half = len(lags) // 2
        return {
            "rate_asked": rate,
            "rate_sent": round(sent[-1][1] / sent[-1][0]),
            "seconds": round(sent[-1][0], 1),
            "lag": lags,
            "median_lag_second_quarter": float(np.median([lag for _, lag in lags[half // 2 : half]])),
            "median_lag_last_quarter": float(np.median([lag for _, lag in lags[half + half // 2 :]])),
            "caught_up_after_s": round(caught_up_s, 1),
        }


def latency(rate: int, seconds: float) -> dict[str, Any]:
    """At a steady rate: seconds from the append of an event to the append of the alert it makes."""
    with set_up() as bench:
        folder = record(bench, rate * round(seconds))
        line = warmed(bench)
        began = time.time()
        Sender(bench, folder, rate).wait()
        done = line.progress()
        line.stop()
        at, found = alert_waits(bench)
        early = found[(at - found > began) & (at <= began + SETTLE_S)]
        waits = found[at > began + SETTLE_S]
        steady = batches(done, rate // 10)[-30:]
        return {
            "rate": rate,
            "alerts": len(waits),
            "p50_s": percentile(waits, 50),
            "p99_s": percentile(waits, 99),
            "p99_s_of_the_first_minute": percentile(early, 99),
            "median_batch_s": round(float(np.median([row[2] for row in steady])), 2) if steady else None,
            "last_batches": steady,
            "last_durations_ms": done[-1]["durationMs"],
            "lag_at_end": line.stream.metrics.gauges.get(("lag_messages", "")),
        }


def warmed(bench: Bench) -> Running:
    """A line that has worked off a topic, so that Java has compiled what it runs most."""
    fill(bench, WARMING, TRACKS, FIRST - 1_000_000)
    line = Running(bench)
    line.until_events(WARMING, 200)
    return line


def percentile(waits: NDArray[np.float64], share: float) -> float | None:
    """So much of a hundred waited no longer, in seconds."""
    return round(float(np.percentile(waits, share)), 2) if len(waits) else None


def alert_waits(bench: Bench) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """When each alert was appended, and how many seconds after its event that was."""
    rows = bench.spark.read.format("kafka").options(
        **{
            "kafka.bootstrap.servers": bench.settings.kafka.bootstrap_servers,
            "subscribe": bench.settings.stream.topics.alerts,
        }
    )
    found = []
    for row in rows.load().select(F.col("value").cast("string"), F.unix_micros("timestamp")).collect():
        arrived = json.loads(row[0]).get("arrived")
        if arrived:
            found.append((row[1] / 1e6, row[1] / 1e6 - datetime.fromisoformat(arrived).timestamp()))
    appended, waits = np.array(found, dtype=np.float64).reshape(-1, 2).T
    return appended, waits


def order_change(events: int) -> dict[str, Any]:
    """Order 2 to 5 while a full topic is worked off: throughput while it is built, micro-batches until it holds."""
    with set_up(most_events=200_000) as bench:
        fill(bench, events)
        line = Running(bench)
        line.until_events(events // 2, 200)
        began = time.time()
        command = [str(Path(sys.executable).with_name("foresail")), "configure", "--settings", str(bench.settings_file)]
        command += ["--pattern", FORECAST, "--order", "5", "--json", "-q"]
        told = subprocess.run(command, capture_output=True, text=True, check=True)
        ended = time.time()
        reply = json.loads(told.stdout.splitlines()[-1])
        line.until_events(events, 200)
        done = line.progress()
        sent = appended_at(bench)
        line.stop()
        spans = [(p, _started(p), _started(p) + p["durationMs"]["triggerExecution"] / 1000) for p in done]
        before = batches([p for p, _, until in spans if until < began], 150_000)[-6:]
        during = batches([p for p, since, until in spans if since < ended and until > began], 100_000)
        at = max(p["batchId"] for p, since, _ in spans if since <= sent)
        return {
            "built_and_sent_s": round(ended - began, 2),
            "rate_before": round(rate_of(before)),
            "rate_during": round(rate_of(during)),
            "ratio": round(rate_of(during) / rate_of(before), 2),
            "batches_before": before,
            "batches_during": during,
            "micro_batch_under_way_when_sent": at,
            "holds_from": reply["batch"],
            "micro_batches_until_it_holds": reply["batch"] - at,
        }


def _started(progress: dict[str, Any]) -> float:
    return datetime.fromisoformat(progress["timestamp"]).timestamp()


def appended_at(bench: Bench) -> float:
    """When the last control message was appended."""
    rows = bench.spark.read.format("kafka").options(
        **{
            "kafka.bootstrap.servers": bench.settings.kafka.bootstrap_servers,
            "subscribe": bench.settings.stream.topics.control,
        }
    )
    found = rows.load().agg(F.max(F.unix_micros("timestamp"))).collect()[0][0]
    return float(found) / 1e6


def idle(tracks: int, events: int) -> dict[str, Any]:
    """Batch time with and without a million tracks at rest."""
    results = {}
    for resting in (0, tracks):
        with set_up(most_events=100_000, rest_after_s=600.0, forget_after_s=10_000_000.0) as bench:
            if resting:
                fill(bench, resting, resting, FIRST - 100_000)
            fill(bench, events)
            line = Running(bench)
            line.until_events(resting + events, 250)
            done = batches(line.progress(), 50_000)[-8:]
            line.stop()
            results[resting] = {
                "batch_s": round(float(np.median([row[2] for row in done])), 2),
                "batches": done,
                "tracks_at_hand": line.stream.metrics.gauges.get(("tracks", "")),
            }
    ratio = results[tracks]["batch_s"] / results[0]["batch_s"]
    return {"without": results[0], "with": results[tracks], "resting": tracks, "ratio": round(ratio, 2)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=["throughput", "derived", "sustained", "latency", "order", "idle"])
    parser.add_argument("--events", type=int, default=4_000_000)
    parser.add_argument("--rate", type=int)
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--tracks", type=int, default=1_000_000)
    parser.add_argument("--table", action="store_true", help="Write the table and the plot of the parts that were run.")
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.part:
        result = run(given)
        (given.out / f"stream-{given.part}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        print(json.dumps(result, indent=1))
    if given.table:
        (given.out / "stream.md").write_text(table(given.out), encoding="utf-8")
        plot(given.out, given.out / "stream.png")
        print(table(given.out))


def run(given: argparse.Namespace) -> dict[str, Any]:
    """The part that was asked for."""
    match given.part:
        case "throughput":
            return throughput(given.events)
        case "derived":
            sent = {name: kind for name, kind in COLUMNS.items() if name not in DERIVED_COLUMNS}
            return throughput(given.events, derive=True, columns=sent)
        case "sustained":
            return sustained(given.rate or 100_000, given.seconds)
        case "latency":
            return latency(given.rate or 20_000, given.seconds)
        case "order":
            return order_change(given.events)
        case _:
            return idle(given.tracks, min(given.events, 1_000_000))


if __name__ == "__main__":
    main()
