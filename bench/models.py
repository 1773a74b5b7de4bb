"""How long a model takes to build, and how fast it forecasts next to recognition: processor time of one core.

    .venv/bin/python -m bench.models [--events N] [--out bench/results]

Events are simulated: the distance to a port wanders, and distance rings make an alphabet of seven symbols. The port
pattern (outside, outside, inside) is counted, learned, merged and solved for a horizon of 200 events at several orders;
then the forecasting kernel reads the batch that the recognition kernel reads.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foresail.models.chain import embed
from foresail.models.counts import Counts, count
from foresail.models.forecaster import Forecaster
from foresail.models.kernels.compilation import KERNELS
from foresail.models.model import Emission, ModelSettings, build
from foresail.models.suffix_tree import LearnSettings, learn
from foresail.models.symbols import SymbolTable
from foresail.models.waiting import waiting_times
from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.conditions import AttributeType
from foresail.patterns.conditions.evaluate import ArrayColumn, evaluate
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.errors import Place
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.spec import Text, spec_of, without_features

HORIZON = 200
ORDERS = (1, 2, 3, 4, 5, 6, 8)
TRACKS = 500
STEP_US = 60_000_000
TYPES = {"port_distance_m": AttributeType.NUMBER}
RINGS = {"ring_5_6": (5, 6), "ring_6_7": (6, 7), "ring_7_8": (7, 8), "ring_8_9": (8, 9), "ring_9_10": (9, 10)}


@dataclass(frozen=True)
class Building:
    """What one order takes, in seconds."""

    order: int
    kind: str
    contexts: int
    chain_states: int
    learn_s: float
    chain_s: float
    waiting_s: float

    @property
    def chain_and_waiting_s(self) -> float:
        """What the reach is given for."""
        return self.chain_s + self.waiting_s


@dataclass(frozen=True)
class Speed:
    """Million events per second of one pass."""

    what: str
    rows: int
    events_per_second: float
    share_of_recognition: float


def port_pattern(name: str = "port", inside_m: int = 5000) -> CompiledPattern:
    """Outside, outside, inside, with distance rings as features; at 5 km these are seven symbols."""
    features = tuple(
        Text(name, f"{low}000 <= port_distance_m < {high}000", Place(name)) for name, (low, high) in RINGS.items()
    )
    where = {"outside": f"not (port_distance_m < {inside_m})", "inside": f"port_distance_m < {inside_m}"}
    return compile_pattern(spec_of(name, "outside ; outside ; inside", where, features=features), TYPES)


def wandering(events: int) -> ArrayColumn:
    """A distance to the port that drifts back and forth, as that of vessels that come and go."""
    random = np.random.default_rng(1)
    starts = np.zeros(events, dtype=np.bool_)
    starts[:: events // TRACKS] = True
    speed = np.cumsum(random.normal(0, 60, events))
    walk = np.cumsum(random.normal(0, 120, events) + 250 * np.sin(speed / 2000))
    walk += np.repeat(random.uniform(0, 24_000, starts.sum()), np.diff(np.append(np.flatnonzero(starts), events)))
    return ArrayColumn(np.abs(walk % 24_000 - 12_000), None, AttributeType.NUMBER)


def words_of(conditions: Sequence[Condition], events: int, columns: dict[str, ArrayColumn]) -> NDArray[np.int64]:
    """The condition words of all events."""
    words = np.zeros((events, 1), dtype=np.uint64)
    for n, condition in enumerate(conditions):
        words[:, 0] |= evaluate(condition, columns).astype(np.uint64) << np.uint64(n)
    return words.view(np.int64)


def best_of(call: Callable[[], object], times: int = 5) -> float:
    """The shortest of some runs in seconds of processor time, on which other work on the machine has little bearing."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        call()
        taken.append(time.process_time() - began)
    return min(taken)


def building(pattern: CompiledPattern, counts: Counts, order: int, kind: str) -> Building:
    """Learn, merge and solve once."""
    began = time.process_time()
    tree = learn(counts, LearnSettings(order=order, kind=kind))  # type: ignore[arg-type]
    learned = time.process_time()
    chain = embed(tree, pattern)
    merged = time.process_time()
    waiting_times(chain, HORIZON)
    solved = time.process_time()
    return Building(order, kind, len(tree.lengths), chain.states, learned - began, merged - learned, solved - merged)


def hardest(
    pattern: CompiledPattern,
    symbols: NDArray[np.int32],
    times: NDArray[np.int64],
    first_of: NDArray[np.int64],
    order: int,
) -> Building:
    """The largest chain of an order: symbols drawn at random, so that every context occurs, and all of them kept."""
    drawn = np.random.default_rng(1).integers(0, len(pattern.alphabet), len(symbols)).astype(np.int32)
    built = building(pattern, count(drawn, times, first_of, pattern, order), order, "full")
    return replace(built, kind="full, random symbols")


def speeds(patterns: Sequence[CompiledPattern], timed: EventBatch, columns: dict[str, ArrayColumn]) -> list[Speed]:
    """Forecasting next to recognition of the same patterns on the same events; recognition needs no features."""
    events, many = len(timed.times), f"{len(patterns)} pattern{'s' if len(patterns) > 1 else ''}"
    recogniser = PatternRecogniser([compile_pattern(without_features(p.spec), TYPES) for p in patterns])
    batch = replace(timed, words=words_of(recogniser.conditions, events, columns))
    found = [speed_of(f"recognition, {many}", recogniser, batch, None)]
    counted = []
    for pattern in patterns:
        symbols = SymbolTable(pattern).symbols(words_of(pattern.conditions, events, columns))
        counted.append((pattern, count(symbols, timed.times, timed.first_of, pattern, 8)))
    emissions: tuple[Emission, ...] = ("changes", "positive", "all")
    for order, emission in product((1, 4, 8), emissions):
        settings = ModelSettings(learn=LearnSettings(order=order), horizon=60, within=15)
        forecaster = Forecaster([build(*one, settings) for one in counted], emission=emission)
        batch = replace(timed, words=words_of(forecaster.conditions, events, columns))
        found.append(speed_of(f"forecasting, {many}, order {order}, {emission}", forecaster, batch, found[0]))
    return found


def speed_of(what: str, reader: PatternRecogniser | Forecaster, batch: EventBatch, base: Speed | None) -> Speed:
    """The speed of one reader of events."""

    def read() -> int:
        return len(reader.advance(batch, reader.fresh(TRACKS))[0])  # type: ignore[arg-type]

    rows, per_second = read(), len(batch.times) / best_of(read)
    return Speed(what, rows, per_second, per_second / base.events_per_second if base else 1.0)


def table(built: list[Building], fast: list[Speed], counting_s: float, events: int) -> str:
    """The figures as Markdown."""
    lines = [
        f"Horizon {HORIZON}, {events:,} events, seven symbols. Counting to order 8: {counting_s:.2f} s.",
        "",
        "| order | kind | contexts | chain states | learn, s | chain, s | waiting times, s | chain + waiting, s |",
        "|---:|---|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {b.order} | {b.kind} | {b.contexts} | {b.chain_states} | {b.learn_s:.3f} | {b.chain_s:.3f} "
            f"| {b.waiting_s:.3f} | {b.chain_and_waiting_s:.3f} |"
            for b in built
        ),
        "",
        "| pass | rows | M events/s | share of recognition |",
        "|---|---:|---:|---:|",
        *(f"| {s.what} | {s.rows:,} | {s.events_per_second / 1e6:.1f} | {s.share_of_recognition:.2f} |" for s in fast),
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    for ready in KERNELS.values():
        ready()
    pattern, columns = port_pattern(), {"port_distance_m": wandering(options.events)}
    first_of = np.linspace(0, options.events, TRACKS + 1).astype(np.int64)
    times = np.arange(options.events, dtype=np.int64) * STEP_US
    batch = EventBatch(words_of(pattern.conditions, options.events, columns), times, first_of)
    symbols = SymbolTable(pattern).symbols(batch.words)
    counting_s = best_of(lambda: count(symbols, times, first_of, pattern, 8), 3)
    counts = count(symbols, times, first_of, pattern, 8)
    built = [building(pattern, counts, order, kind) for kind in ("variable", "full") for order in ORDERS]
    built += [hardest(pattern, symbols, times, first_of, order) for order in (5, 6)]
    several = [port_pattern(f"port_{n}", 4500 + 200 * n) for n in range(6)]
    fast = [*speeds([pattern], batch, columns), *speeds(several, batch, columns)]
    options.out.mkdir(parents=True, exist_ok=True)
    result = {
        "horizon": HORIZON,
        "events": options.events,
        "symbols": len(pattern.alphabet),
        "counting_s": counting_s,
        "building": [asdict(b) for b in built],
        "speeds": [asdict(s) for s in fast],
    }
    (options.out / "models.json").write_text(json.dumps(result, indent=2) + "\n")
    text = table(built, fast, counting_s, options.events)
    (options.out / "models.md").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
