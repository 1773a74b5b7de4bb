"""Patterns with memory next to Esper and FlinkCEP, in one run and on one core: first equal matches, then seconds.

    .venv/bin/python -m bench.registers [--events N] [--peers esper flink] [--out bench/results]

The jars of the peers are fetched once into the cache, for this bench alone. Processor seconds are of the second round
or later, when everything is compiled; ours include the evaluation of conditions, theirs the filters of statements.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.registers.workloads import Workload, nested, queries, sequence, trades
from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.patterns.conditions.packing import Packer
from foresail.patterns.conditions.relations import value_columns
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.recognition.register_recogniser import RegisterRecogniser, kept_columns
from foresail.patterns.spec import Output, spec_of
from foresail.pipeline.progress import SILENT
from foresail.pipeline.runtime.jars import JarSet, resolve
from foresail.pipeline.settings import read_settings

PEERS = Path(__file__).resolve().parent.parent / "peers"
ESPER = JarSet(
    "Esper", "com.espertech", "esper-compiler", "9.0.0", 12, with_artifact=("com.espertech", "esper-runtime", "9.0.0")
)
FLINK = JarSet(
    "FlinkCEP",
    "org.apache.flink",
    "flink-cep",
    "2.3.0",
    80,
    with_artifact=("org.apache.flink", "flink-clients", "2.3.0"),
)
OPENED = ("--add-opens", "java.base/java.util=ALL-UNNAMED", "--add-opens", "java.base/java.lang=ALL-UNNAMED")
ROUNDS = {"esper": 3, "flink": 2}
LISTED = 10_000
PATIENCE_S = 120
"""Of all rounds of one workload on a peer."""
UNFINISHED = -1


@dataclass(frozen=True)
class Timed:
    """What one engine found, and what it took."""

    matches: int
    cpu_s: float
    wall_s: float


@dataclass(frozen=True)
class Row:
    """One workload on all engines."""

    workload: str
    window_s: int
    events: int
    ours: Timed
    counting: Timed
    """The sets counted, not listed."""
    esper: Timed | None = None
    flink: Timed | None = None

    @property
    def equal(self) -> bool:
        """Whether all that ran found as many."""
        return all(
            some is None or some.matches == self.ours.matches for some in (self.counting, self.esper, self.flink)
        )


class Peer:
    """A Java engine with its small program, compiled once."""

    def __init__(self, name: str, program: str, jars: JarSet, cache: Path, folder: Path) -> None:
        self.name, self.program, self.folder = name, program, folder
        self.path = os.pathsep.join([str(folder), *map(str, resolve(jars, cache, SILENT))])
        command = ["javac", "-nowarn", "-d", str(folder), "-cp", self.path, str(PEERS / f"{program}.java")]
        subprocess.run(command, check=True, capture_output=True)

    def run(self, events: Path, text: str | None) -> Timed | None:
        """The last of some rounds; None of what it cannot say."""
        if text is None:
            return None
        asked = self.folder / "asked"
        asked.write_text(text, encoding="utf-8")
        one_core = {min(os.sched_getaffinity(0))}
        command = ["java", *OPENED, "-cp", self.path, self.program, str(events), str(asked), str(ROUNDS[self.name])]
        try:
            done = subprocess.run(
                command, check=True, capture_output=True, text=True, timeout=PATIENCE_S,
                preexec_fn=lambda: os.sched_setaffinity(0, one_core),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Timed(UNFINISHED, PATIENCE_S, PATIENCE_S)
        rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        best = min(rows[1:], key=lambda row: float(row["cpu_s"]))
        return Timed(int(best["matches"]), float(best["cpu_s"]), float(best["wall_s"]))


def compiled(work: Workload, columns: dict[str, ArrayColumn], output: Output) -> CompiledPattern:
    """The pattern of a workload."""
    types = {name: column.type for name, column in columns.items()}
    window_us = work.window_s * 1_000_000
    return compile_pattern(
        spec_of(work.name, work.pattern, work.where, window_us=window_us, output=output, limit=LISTED), types
    )


def ours(work: Workload, columns: dict[str, ArrayColumn], output: Output, rounds: int = 3) -> Timed:
    """Conditions, values and kernel over all events; the best of some rounds."""
    recogniser = RegisterRecogniser([compiled(work, columns, output)], most=200_000)
    times = columns["time"].values
    best: Timed | None = None
    for _ in range(rounds):
        cpu, wall = time.process_time(), time.perf_counter()
        batch = EventBatch(
            Packer(recogniser.conditions).words(columns, len(times)),
            times,
            np.array([0, len(times)], dtype=np.int64),
            None,
            value_columns(kept_columns(recogniser.patterns), columns, len(times)),
        )
        matches, _ = recogniser.advance(batch, recogniser.fresh(1))
        took = time.process_time() - cpu, time.perf_counter() - wall
        assert not matches.given_up, "no run is given up"
        found = int(matches.count.sum()) if output is Output.COUNT else len(matches)
        best = min(best or Timed(found, *took), Timed(found, *took), key=lambda some: some.cpu_s)
    assert best is not None
    return best


def beside_plain(columns: dict[str, ArrayColumn], rounds: int = 7) -> tuple[float, float]:
    """Processor seconds of 20 plain patterns, and of the same with a pattern with a register that never begins."""
    types = {name: column.type for name, column in columns.items()}
    plain = [
        compile_pattern(spec_of(f"p{n}", f"[price > {10 + n}] ; [price < {12 + n}] ; [price > {15 + n}]"), types)
        for n in range(20)
    ]
    where = {"never": "price < 0", "more": "price > was.price"}
    memory = compile_pattern(spec_of("never", "any(never as was, more)", where, window_events=100), types)
    times = columns["time"].values
    every = PatternRecogniser(plain)
    extended = (*every.conditions, *(c for c in memory.conditions if c not in every.conditions))
    first_of = np.array([0, len(times)], dtype=np.int64)
    values = value_columns(kept_columns([memory]), columns, len(times))
    alone, both = [], []
    wide, remembering = PatternRecogniser(plain, extended), RegisterRecogniser([memory], extended)
    for _ in range(rounds):
        began = time.process_time()
        batch = EventBatch(Packer(every.conditions).words(columns, len(times)), times, first_of)
        every.advance(batch, every.fresh(1))
        middle = time.process_time()
        batch = EventBatch(Packer(extended).words(columns, len(times)), times, first_of, None, values)
        wide.advance(batch, wide.fresh(1))
        remembering.advance(batch, remembering.fresh(1))
        alone.append(middle - began)
        both.append(time.process_time() - middle)
    return min(alone), min(both)


def workloads() -> tuple[Workload, ...]:
    """All of them, then wider windows."""
    return (
        *(sequence(length) for length in (3, 6, 9, 12)),
        *(sequence(length, 300, kleene=True) for length in (3, 6, 9, 12)),
        *(nested(groups, 200) for groups in (1, 2, 3, 4)),
        *queries(),
        *(sequence(3, window_s) for window_s in (1000, 2000, 5000)),
    )


def written(columns: dict[str, ArrayColumn], file: Path) -> Path:
    """The trades as the peers read them; times in milliseconds."""
    texts = [np.array(columns[name].dictionary)[columns[name].values] for name in ("type", "name")]
    rows = zip(*texts, columns["price"].values.tolist(), (columns["time"].values // 1000).tolist(), strict=True)
    file.write_text("".join(f"{kind},{name},{price},{at}\n" for kind, name, price, at in rows), encoding="utf-8")
    return file


def measured(events: int, wanted: Sequence[str]) -> list[Row]:
    """Every workload on every engine that can say it."""
    columns = trades(events)
    cache = read_settings(environment=os.environ).jars.directory if wanted else Path()
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        file = written(columns, folder / "trades.csv")
        peers = {}
        for name, program, jars in (("esper", "EsperPeer", ESPER), ("flink", "FlinkPeer", FLINK)):
            if name in wanted:
                (folder / name).mkdir()
                peers[name] = Peer(name, program, jars, cache, folder / name)
        for work in workloads():
            row = Row(
                work.name, work.window_s, events, ours(work, columns, Output.ENUMERATE),
                ours(work, columns, Output.COUNT),
                peers["esper"].run(file, work.in_esper) if "esper" in peers else None,
                peers["flink"].run(file, work.in_flink) if "flink" in peers else None,
            )  # fmt: skip
            print(line_of(row), flush=True)
            rows.append(row)
    return rows


HEAD = (
    "| workload | window | matches | ours, CPU s | counting, CPU s | Esper, CPU s | FlinkCEP, CPU s | Esper : ours | "
    "FlinkCEP : ours |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def line_of(row: Row) -> str:
    """One line of the table; counts that differ are shown instead of seconds."""

    def seconds(some: Timed | None) -> str:
        if some is None:
            return ""
        if some.matches == UNFINISHED:
            return f"not done in {PATIENCE_S}"
        return f"{some.cpu_s:.3f}" if some.matches == row.ours.matches else f"found {some.matches}"

    def ratio(some: Timed | None) -> str:
        return "" if some is None or some.matches != row.ours.matches else f"{some.cpu_s / row.ours.cpu_s:.1f}"

    cells = [row.workload, f"{row.window_s} s", f"{row.ours.matches:,}", f"{row.ours.cpu_s:.3f}"]
    cells += [seconds(row.counting), seconds(row.esper), seconds(row.flink), ratio(row.esper), ratio(row.flink)]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=30_000)
    parser.add_argument("--peers", nargs="*", choices=("esper", "flink"), default=("esper", "flink"))
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    given = parser.parse_args()
    print(HEAD)
    rows = measured(given.events, given.peers)
    alone, both = beside_plain(trades(1_000_000))
    print(
        f"\n20 plain patterns, 1 M events: {alone:.3f} CPU s; "
        f"with one that never begins: {both:.3f} ({both / alone:.3f})"
    )
    given.out.mkdir(parents=True, exist_ok=True)
    kept = {"rows": [asdict(row) for row in rows], "plain_cpu_s": alone, "with_memory_cpu_s": both}
    (given.out / "registers.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
