"""Steps per second of the recognition kernel alone, next to plain Python over the same automata in the same run.

    .venv/bin/python -m bench.kernel [--events N] [--out bench/results]

Events are simulated: each track drifts through speeds, courses and places, so that patterns come and go as they do
at sea. The catalog's maritime patterns are run as they are (6), and in variants with other thresholds (16, 48).
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.catalog.loader import built_in_catalog
from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.conditions import AttributeType
from foresail.patterns.conditions.evaluate import ArrayColumn, evaluate
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.recognition.reference import Event, TrackRecord, step
from foresail.patterns.spec import spec_of, without_features

SIX = ("high_speed_near_coast", "anchored", "drifting", "trawling", "search_and_rescue", "loitering")
COUNTS = (1, 6, 16, 48)
LENGTHS = (2, 8, 32, 128, 512)
TRACKS = 500
SEED = 1
PLAIN_EVENTS = 4_000


@dataclass(frozen=True)
class Row:
    """One measurement."""

    patterns: int
    length: int | None
    events: int
    matches: int
    kernel_events_per_second: float
    kernel_steps_per_second: float
    python_events_per_second: float | None
    ratio_to_python: float | None
    ratio_to_one_pattern: float


def simulated_columns(events: int) -> dict[str, ArrayColumn]:
    """Attributes that wander slowly, as those of a vessel do."""
    random = np.random.default_rng(SEED)

    def wandering(low: float, high: float, pace: float) -> NDArray[np.float64]:
        steps = random.normal(0, pace, events)
        steps[:: events // TRACKS] = random.uniform(low, high, len(steps[:: events // TRACKS]))
        walk = np.cumsum(steps)
        span = high - low
        return low + np.abs((walk - low) % (2 * span) - span)

    def number(values: NDArray[np.float64]) -> ArrayColumn:
        return ArrayColumn(values, None, AttributeType.NUMBER)

    def boolean(share: float) -> ArrayColumn:
        return ArrayColumn(wandering(0, 1, 0.02) < share, None, AttributeType.BOOLEAN)

    kinds = np.array(["fishing", "cargo", "search_and_rescue", "tanker"], dtype=object)
    track = np.arange(events) * TRACKS // events
    return {
        "speed_kn": number(wandering(0, 18, 0.2)),
        "drift_deg": number(90 * wandering(0, 1, 0.02) ** 16),
        "heading_deg": number(wandering(0, 359, 4)),
        "coast_distance_m": number(wandering(0, 60_000, 300)),
        "port_distance_m": number(wandering(0, 60_000, 300)),
        "in_anchorage": boolean(0.02),
        "in_fishing": boolean(0.1),
        "change_in_heading": boolean(0.05),
        "vessel_type": ArrayColumn(kinds[track % 4], None, AttributeType.STRING),
    }


def variant_entries(count: int, domain: str = "maritime", names: Sequence[str] = SIX) -> list[PatternEntry]:
    """`count` entries: those of the catalog with these names, then again with all numeric thresholds moved a little."""
    catalog = built_in_catalog(domain)
    entries = []
    for n in range(count):
        entry, shift = catalog[names[n % len(names)]], 1 + 0.04 * (n // len(names))
        moved = {
            name: value * shift if isinstance(value, int | float) and not isinstance(value, bool) else value
            for name, value in entry.parameters.items()
        }
        entries.append(entry.model_copy(update={"parameters": moved, "name": f"{entry.name}_{n}"}))
    return entries


def variants(count: int) -> list[CompiledPattern]:
    """`count` maritime patterns."""
    return [compile_pattern(without_features(entry.spec())) for entry in variant_entries(count)]


def words_of(recogniser: PatternRecogniser, columns: dict[str, ArrayColumn], events: int) -> NDArray[np.int64]:
    """The condition words of all events."""
    words = np.zeros((events, recogniser.words), dtype=np.uint64)
    for n, condition in enumerate(recogniser.conditions):
        words[:, n // 64] |= evaluate(condition, columns).astype(np.uint64) << np.uint64(n % 64)
    return words.view(np.int64)


def best_of(call: Callable[[], int], times: int = 3) -> tuple[float, int]:
    """The shortest of some runs in seconds, and what the call returned."""
    seconds, found = [], 0
    for _ in range(times):
        began = time.perf_counter()
        found = call()
        seconds.append(time.perf_counter() - began)
    return min(seconds), found


def measure(
    patterns: Sequence[CompiledPattern], columns: dict[str, ArrayColumn], events: int
) -> tuple[float, int, float]:
    """Seconds of the kernel over all events, its matches, and seconds of plain Python over PLAIN_EVENTS of them."""
    recogniser = PatternRecogniser(patterns)
    first_of = np.linspace(0, events, TRACKS + 1).astype(np.int64)
    step_us = 60_000_000
    batch = EventBatch(words_of(recogniser, columns, events), np.arange(events, dtype=np.int64) * step_us, first_of)
    seconds, found = best_of(lambda: len(recogniser.advance(batch, recogniser.fresh(TRACKS))[0]))
    return seconds, found, plain_python(recogniser, batch)


def plain_python(recogniser: PatternRecogniser, batch: EventBatch) -> float:
    """Seconds that the reference takes for the first PLAIN_EVENTS events, symbols given."""
    bits = batch.words[:PLAIN_EVENTS].view(np.uint64)
    tracks = []
    for pattern in recogniser.patterns:
        code = np.zeros(PLAIN_EVENTS, dtype=np.uint64)
        for i, condition in enumerate(pattern.conditions):
            n = recogniser.conditions.index(condition)
            code |= ((bits[:, n // 64] >> np.uint64(n % 64)) & np.uint64(1)) << np.uint64(i)
        symbols = pattern.alphabet.symbols_of(code)
        tracks.append((pattern, [Event(int(s), int(t)) for s, t in zip(symbols, batch.times, strict=False)]))
    began = time.perf_counter()
    for pattern, events in tracks:
        record = TrackRecord()
        for event in events:
            for _ in step(pattern, record, event):
                pass
    return time.perf_counter() - began


def by_count(columns: dict[str, ArrayColumn], events: int) -> list[Row]:
    """The cost of more patterns; one pattern is the mean of each of the six alone."""
    rows: list[Row] = []
    for count in COUNTS:
        sets = [[pattern] for pattern in variants(len(SIX))] if count == 1 else [variants(count)]
        measured = [measure(patterns, columns, events) for patterns in sets]
        seconds = mean(m[0] for m in measured)
        found = round(mean(m[1] for m in measured))
        plain = mean(m[2] for m in measured)
        one = rows[0].kernel_events_per_second if rows else events / seconds
        rows.append(
            Row(
                count, None, events, found, events / seconds, count * events / seconds, PLAIN_EVENTS / plain,
                (events / seconds) / (PLAIN_EVENTS / plain), one / (events / seconds),
            )
        )  # fmt: skip
    return rows


def by_length(columns: dict[str, ArrayColumn], events: int) -> list[Row]:
    """The cost of a longer pattern."""
    rows: list[Row] = []
    for length in LENGTHS:
        pattern = compile_pattern(spec_of(f"slow_{length}", f"[speed_kn < 9]{{{length},}}"))
        recogniser = PatternRecogniser([pattern])
        first_of = np.linspace(0, events, TRACKS + 1).astype(np.int64)
        batch = EventBatch(
            words_of(recogniser, columns, events), np.arange(events, dtype=np.int64) * 60_000_000, first_of
        )
        seconds, found = best_of(lambda r=recogniser, b=batch: len(r.advance(b, r.fresh(TRACKS))[0]))  # type: ignore[misc]
        shortest = rows[0].kernel_events_per_second if rows else events / seconds
        rows.append(
            Row(1, length, events, found, events / seconds, events / seconds, None, None, shortest / (events / seconds))
        )
    return rows


def table(rows: Sequence[Row]) -> str:
    """The rows as Markdown."""
    lines = [
        "| patterns | length | M events/s | M steps/s | Python, k events/s | kernel : Python | cost : first row |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for r in rows:
        python = f"{r.python_events_per_second / 1e3:.1f}" if r.python_events_per_second else ""
        ratio = f"{r.ratio_to_python:,.0f}" if r.ratio_to_python else ""
        lines.append(
            f"| {r.patterns} | {r.length or ''} | {r.kernel_events_per_second / 1e6:.1f} "
            f"| {r.kernel_steps_per_second / 1e6:.0f} | {python} | {ratio} | {r.ratio_to_one_pattern:.2f} |"
        )
    return "\n".join(lines)


def plot(rows: Sequence[Row], file: Path) -> None:
    """Events per second by the number of patterns."""
    import matplotlib  # noqa: PLC0415

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(6, 3.5))
    axes.plot([r.patterns for r in rows], [r.kernel_events_per_second / 1e6 for r in rows], "o-", label="kernel")
    axes.plot(
        [r.patterns for r in rows], [(r.python_events_per_second or 0) / 1e6 for r in rows], "s--", label="Python"
    )
    axes.set(xlabel="patterns", ylabel="million events/s, one core", yscale="log", title="All patterns in one pass")
    axes.legend()
    figure.tight_layout()
    figure.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    columns = simulated_columns(options.events)
    counted, lengths = by_count(columns, options.events), by_length(columns, options.events)
    options.out.mkdir(parents=True, exist_ok=True)
    result = {"by_count": [asdict(r) for r in counted], "by_length": [asdict(r) for r in lengths]}
    (options.out / "kernel.json").write_text(json.dumps(result, indent=2) + "\n")
    (options.out / "kernel.md").write_text(table(counted) + "\n\n" + table(lengths) + "\n")
    plot(counted, options.out / "kernel.png")
    print(table(counted), table(lengths), sep="\n\n")


if __name__ == "__main__":
    main()
