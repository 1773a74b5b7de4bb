"""The results of the live line's benchmark as a table and a plot."""

import json
from pathlib import Path
from typing import Any


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """The parts that were run."""
    files = folder.glob("stream-*.json")
    return {file.stem.removeprefix("stream-"): json.loads(file.read_text(encoding="utf-8")) for file in sorted(files)}


def table(folder: Path) -> str:
    """A row for each thing that was aimed at."""
    rows = [row for part, held in results(folder).items() for row in _rows(part, held)]
    lines = ["| what | measured | aim |", "|---|---:|---:|", *(f"| {a} | {b} | {c} |" for a, b, c in rows)]
    return "\n".join(lines) + "\n"


def _rows(part: str, held: dict[str, Any]) -> list[tuple[str, str, str]]:
    match part:
        case "throughput":
            fixed = held["batch_without_events_ms"].get("triggerExecution", 0) / 1000
            return [
                ("a full topic worked off, second half, events/s", f"{held['events_per_second']:,}", "100,000"),
                (
                    "the same, first half without the first micro-batch, events/s",
                    f"{held['events_per_second_while_java_compiles']:,}",
                    "",
                ),
                ("the first micro-batch, s", f"{held['first_batch_s']:.1f}", ""),
                ("a micro-batch without events, s", f"{fixed:.2f}", ""),
                ("warm-up before the first event, s", f"{held['warm_up_s']}", ""),
            ]
        case "sustained":
            lag = f"{held['median_lag_second_quarter']:,.0f} → {held['median_lag_last_quarter']:,.0f}"
            return [
                (f"events sent at {held['rate_asked']:,}/s: sent, events/s", f"{held['rate_sent']:,}", "100,000"),
                ("lag in the second and in the last quarter, events", lag, "does not grow"),
            ]
        case "latency":
            return [
                (f"append to alert at {held['rate']:,}/s, median, s", f"{held['p50_s']}", ""),
                (f"append to alert at {held['rate']:,}/s, 99th percentile, s", f"{held['p99_s']}", "3"),
                ("the same in the first minute at that rate, s", f"{held['p99_s_of_the_first_minute']}", ""),
            ]
        case "order":
            return [
                ("throughput while order 5 is built : before", f"{held['ratio']}", "0.9"),
                ("order 2 to 5 holds after, micro-batches", f"{held['micro_batches_until_it_holds']}", "2"),
            ]
        case _:
            return [(f"batch time with {held['resting']:,} idle tracks : without", f"{held['ratio']}", "1.5")]


def plot(folder: Path, file: Path) -> None:
    """Seconds of micro-batches by their rows, and the lag as events come at a rate."""
    import matplotlib  # noqa: PLC0415 - its backend is chosen before pyplot is loaded

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    held = results(folder)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for part, key in (("throughput", "batches"), ("latency", "last_batches")):
        some = held.get(part, {}).get(key, [])
        left.scatter([row[1] for row in some], [row[2] for row in some], label=part)
    left.set(title="micro-batches", xlabel="events", ylabel="seconds")
    left.legend()
    lag = held.get("sustained", {}).get("lag", [])
    right.plot([second for second, _ in lag], [events for _, events in lag])
    right.set(title="lag while events come at a rate", xlabel="seconds", ylabel="events", ylim=(0, None))
    figure.savefig(file, dpi=110)
