"""TESLA rules on one core: the workloads of the literature, beside the figures that it gives.

    .venv/bin/python -m bench.tesla [--seconds S] [--out bench/results]

After Cugola and Margara, Complex event processing with T-Rex (2012). Events are arrays in memory, as all engines of
foresail hand them to the rules; processor seconds are counted, so that a shared machine tells less of its neighbours.
Composites are made and taken away, not written. Published figures are of another machine (2.8 GHz, six cores): the
shapes of the curves compare, the figures alone do not.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.errors import Place
from foresail.patterns.tesla.machine import Notifications, Session
from foresail.patterns.tesla.plan import compile_rules

SEED = 1
BATCH = 20_000
THRESHOLDS, TYPES = 100, 10
Values = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Workload:
    """Rules, and events: `draw` gives the names of types and the values of so many events."""

    series: str
    name: str
    rules: str
    draw: Callable[[np.random.Generator, int], tuple[NDArray[np.str_], Values]]
    events_per_second: float
    """In event time: how many events a window holds."""
    published: str = ""


@dataclass(frozen=True)
class Row:
    """One measurement."""

    series: str
    workload: str
    rules: int
    events: int
    composites: int
    events_per_cpu_second: int
    composites_per_cpu_second: int
    microseconds_per_event: float
    published: str


def measure(workload: Workload, seconds: float) -> Row:
    """Events per processor second, after a first batch that warms up; at least two batches are measured."""
    plan = compile_rules(workload.rules, Place(workload.name))
    session = Session(plan.lowered)
    random = np.random.default_rng(SEED)
    numbers = {name: n for n, name in enumerate(plan.lowered.types)}
    area = session.dictionary.value("A1")
    events = composites = batches = 0
    spent = 0.0
    size = BATCH
    while spent < seconds or batches < 2:
        names, values = workload.draw(random, size)
        held = np.full((size, max(len(plan.lowered.attributes), 1)), np.nan)
        for place, attribute in enumerate(plan.lowered.attributes):
            held[:, place] = values.get(attribute, area if attribute == "area" else np.nan)
        start = batches * BATCH
        times = ((start + np.arange(size)) * (1e6 / workload.events_per_second)).astype(np.int64)
        kinds = np.array([numbers.get(name, -1) for name in names.tolist()], dtype=np.int64)
        known = np.flatnonzero(kinds >= 0)
        given = Notifications(kinds[known], times[known], start + known, known, held)
        began = time.process_time()
        found = len(session.advance(given))
        took = time.process_time() - began
        batches += 1
        if batches > 1 or took > seconds:
            spent, events, composites = spent + took, events + size, composites + found
        if took > seconds:
            break
    return Row(
        workload.series, workload.name, len(plan.resolved), events, composites, round(events / spent),
        round(composites / spent), round(1e6 * spent / events, 2), workload.published,
    )  # fmt: skip


def among(names: Sequence[str], shares: Sequence[float] | None = None, **ranges: tuple[int, int]) -> Callable[
    [np.random.Generator, int], tuple[NDArray[np.str_], Values]
]:  # fmt: skip
    """Events of these types, drawn by their shares, whose attributes are whole numbers of these ranges."""
    known = np.array(names)

    def draw(random: np.random.Generator, count: int) -> tuple[NDArray[np.str_], Values]:
        values = {name: random.integers(*span, count, endpoint=True).astype(float) for name, span in ranges.items()}
        return known[random.choice(len(known), count, p=shares)], values

    return draw


def filtering(rules: int) -> str:
    """Each rule wants one value."""
    return "\n".join(f"Rule F{n} define Out{n}(v: int) from E(v={n}) where v=E.v" for n in range(rules))


FIRES = {
    "R1": "from Smoke(area=$a) and each Temp(area=$a and value>{t}) within 5 min from Smoke",
    "R2": "from Smoke(area=$a) and last Temp(area=$a and value>{t}) within 5 min from Smoke",
    "R8": "from Smoke(area=$a) and last Temp(area=$a and value>{t}) within 5 min from Smoke",
    "R5": "from Smoke(area=$a) and {t} < $t=Avg(Temp(area=$a).value within 5 min from Smoke)",
    "R4": "from Temp(area=$a and value>{t}) and not Rain(area=$a) within 1 s from Temp",
}
R6 = """
Rule R6a define NotIncrTemp(area: string) from Temp(area=$a and value=$t) as T1 and
  last Temp(area=$a and value>=$t) as T2 within 5 min from T1 and not Temp(area=$a) between T2 and T1 where area=T1.area
Rule R6b define Fire(area: string, t: double) from Smoke(area=$a) and
  not NotIncrTemp(area=$a) within 5 min from Smoke and Count(Temp(area=$a) within 5 min from Smoke) >= 10
  where area=Smoke.area and t=Avg(Temp(area=$a).value within 5 min from Smoke)
Rule R6c define Fire(area: string, t: double) from Smoke(area=$a) and
  last NotIncrTemp(area=$a) as N within 5 min from Smoke and Count(Temp(area=$a) between Smoke and N) >= 10
  where area=Smoke.area and t=Avg(Temp(area=$a).value between Smoke and N)"""


def fire(form: str, threshold: int, kind: str = "") -> str:
    """One rule about fires, of one kind of events."""
    value = "$t" if form == "R5" else "Temp.value"
    text = f"define Fire(area: string, t: double) {FIRES[form].format(t=threshold)} where area=$a, t={value}"
    text += " consuming Temp" if form == "R8" else ""
    for name in ("Fire", "Smoke", "Temp", "Rain"):
        text = text.replace(name, f"{name}{kind}")
    return f"Rule {form}_{kind}_{abs(threshold)} {text}"


def fires(form: str) -> str:
    """Ten kinds of events, a hundred thresholds each."""
    lowest = -THRESHOLDS if form == "R5" else 1
    return "\n".join(fire(form, lowest + t, str(k)) for k in range(TYPES) for t in range(THRESHOLDS))


def fire_events(one: str, other: str, share: float) -> Callable[..., tuple[NDArray[np.str_], Values]]:
    """Events of ten kinds: `share` of them of the first type."""
    names = [f"{name}{k}" for name in (one, other) for k in range(TYPES)]
    shares = [share / TYPES] * TYPES + [(1 - share) / TYPES] * TYPES
    return among(names, shares, value=(1, 100))


def chains(policy: str, rules: int = 1000, states: int = 2, sequences: int = 1, triggered: int = 10,
           window_s: float = 15.0, consuming: bool = False) -> tuple[str, list[str]]:  # fmt: skip
    """Rules of the second part: each event concerns `triggered` of them; windows are spread by a second either way."""
    texts = []
    names: dict[str, None] = {}
    for n in range(rules):
        group = n // triggered
        terminator = f"T{group}"
        clauses = []
        for sequence in range(sequences):
            anchor = terminator
            for state in range(states - 1):
                name = f"E{group}s{sequence}x{state}"
                span = window_s * (14 + 2 * (n % 11) / 10) / 15
                clauses.append(f"{policy} {name}() within {span:.2f} s from {anchor}")
                anchor = name
                names[name] = None
        names[terminator] = None
        first = f"E{group}s0x{states - 2}"
        told = f"where v={terminator}.ts" + (f" consuming {first}" if consuming else "")
        texts.append(f"Rule C{n} define Out{n}(v: double) from {terminator}() and {' and '.join(clauses)} {told}")
    return "\n".join(texts), list(names)


def workloads() -> Iterator[Workload]:
    """All of them, by series."""
    yield Workload("filtering", "1,000 rules", filtering(1000), among(["E"], v=(0, 999)), 1000,
                   "T-Rex about 45,000 events/s, Esper below 35,000")  # fmt: skip
    single = among(["Smoke", "Temp"], [0.1, 0.9], value=(1, 100))
    for form in ("R1", "R2", "R5", "R8"):
        yield Workload("single rules", form, fire(form, 45), single, 0.1, "")
    yield Workload("single rules", "R6a-c", R6, single, 0.1, "")
    published = {
        "R1": "hundreds of thousands of composites/s",
        "R2": "the same; Esper falls from 6,000 events/s",
        "R5": "Esper drops from about 1,000 events/s",
    }
    for form, said in published.items():
        for share in (0.1, 0.5, 0.9):
            events = fire_events("Smoke", "Temp", share)
            yield Workload(f"{form}, 1,000 rules", f"{share:.0%} Smoke", fires(form), events, 1.0, said)
    for policy, said in (("each", "200 to 800 us"), ("last", "70 to 90 us"), ("first", "between")):
        for states in (2, 3, 4, 5) if policy != "each" else (2, 3):
            rules, names = chains(policy, states=states)
            yield Workload(f"states, {policy}", str(states), rules, among(names), 200.0, said)
    for policy, said in (("each", "mean linear, up to 1,000,000 composites/s"), ("last", "70 to 100 us")):
        for sequences in (1, 2, 3, 4, 5) if policy != "each" else (1, 2):
            rules, names = chains(policy, sequences=sequences)
            yield Workload(f"sequences, {policy}", str(sequences), rules, among(names), 200.0, said)
    for policy in ("each", "last"):
        for deployed in (1000, 2000, 5000, 8000):
            rules, names = chains(policy, rules=deployed)
            yield Workload(f"deployed rules, {policy}", f"{deployed:,}", rules, among(names), deployed, "nearly flat")
        for triggered in (5, 10, 20, 40):
            rules, names = chains(policy, triggered=triggered)
            rate = 1000 * 10 / triggered
            yield Workload(f"triggered rules, {policy}", str(triggered), rules, among(names), rate, "linear")
        for window in (5, 10, 15, 20, 30):
            rules, names = chains(policy, window_s=window)
            said = "below linear" if policy == "each" else "flat"
            yield Workload(f"window, {policy}", f"{window} s", rules, among(names), 1000.0, said)
        for consuming in (False, True):
            rules, names = chains(policy, consuming=consuming)
            said = "each: time falls; last: time up"
            yield Workload(f"consumption, {policy}", "yes" if consuming else "no", rules, among(names), 1000.0, said)
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        events = fire_events("Rain", "Temp", share)
        yield Workload("negation, R4", f"{share:.0%} Rain", fires("R4"), events, 1000.0, "time flat")


def table(rows: Sequence[Row]) -> str:
    """The rows as a table of Markdown."""
    lines = [
        "| series | workload | rules | events/s | composites/s | us/event | published |",
        "|---|---|--:|--:|--:|--:|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row.series} | {row.workload} | {row.rules:,} | {row.events_per_cpu_second:,} | "
            f"{row.composites_per_cpu_second:,} | {row.microseconds_per_event:,} | {row.published} |"
        )
    return "\n".join(lines)


def plot(rows: Sequence[Row], file: Path) -> None:
    """Time per event over what is varied: the shapes that the literature claims."""
    import matplotlib  # noqa: PLC0415

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    shown = [("triggered rules", ("each", "last")), ("window", ("each", "last")), ("negation", ("R4",))]
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2))
    for at, (series, kinds) in zip(axes, shown, strict=True):
        for kind in kinds:
            own = [row for row in rows if row.series == f"{series}, {kind}"]
            if own:
                at.plot([r.workload for r in own], [r.microseconds_per_event for r in own], "o-", label=kind)
        at.set(title=series, ylabel="us per event", ylim=(0, None))
        at.set_yscale("symlog")
        at.legend()
    figure.tight_layout()
    figure.savefig(file, dpi=120)


def main() -> None:
    """Measure all, or the series whose names begin as asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="processor seconds for each workload")
    parser.add_argument("--only", default="", help="series whose names begin so")
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    rows: list[Row] = []
    options.out.mkdir(parents=True, exist_ok=True)
    for workload in workloads():
        if workload.series.startswith(options.only):
            rows.append(measure(workload, options.seconds))
            print(table(rows[-1:]).splitlines()[-1], flush=True)
    (options.out / "tesla.json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    (options.out / "tesla.md").write_text(table(rows) + "\n")
    plot(rows, options.out / "tesla.png")


if __name__ == "__main__":
    main()
