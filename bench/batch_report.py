"""The results of `bench.batch` as tables and a plot."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
TABLES = ("maritime", "fleet")
"""The parts that are tables of schemes x workers x patterns."""
REACH = {"source": 2.5, "partition": 4.0}
"""How many times the noop read a job of six patterns may take."""


def table(rows: Sequence[Row]) -> str:
    """The rows as Markdown, each with its ratio to the noop read of the same events, order and cores."""
    lines = [
        "| scheme | events | order | patterns | cores | seconds | : noop | CPU s | : noop | M/s | rows | peak MB |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        noop = noop_of(row, rows)
        wall, cpu = (f"{row[key] / noop[key]:.2f}" if noop else "" for key in ("seconds", "cpu_seconds"))
        pace = row["millions"] / row["seconds"]
        asked = "" if row["scheme"] == "noop" else looked_for(row)
        lines.append(
            f"| {row['scheme']} | {row['millions']:g} M {row['domain']} | {order_of(row)} | {asked} | {row['cores']} "
            f"| {row['seconds']:.2f} | {wall} | {row['cpu_seconds']:.1f} | {cpu} | {pace:.2f} "
            f"| {row.get('rows', '')} | {row.get('worker_peak_mb') or ''} |"
        )
    return "\n".join(lines)


def grid(rows: Sequence[Row]) -> str:
    """A table of schemes x workers x patterns: seconds, and in brackets their ratio to the noop read."""
    counts = sorted({row["patterns"] for row in rows if row["scheme"] != "noop"})
    lines = [f"| scheme | workers | noop | {' | '.join(f'{count} patterns' for count in counts)} |"]
    lines.append(f"|---|---:|---:|{'---:|' * len(counts)}")
    for scheme, cores in dict.fromkeys((row["scheme"], row["cores"]) for row in rows if row["scheme"] != "noop"):
        mine = [row for row in rows if (row["scheme"], row["cores"]) == (scheme, cores)]
        noop = noop_of(mine[0], rows)
        told = [f"{row['seconds']:.2f} ({_ratio(row, rows) or 0:.2f})" for row in mine]
        lines.append(f"| {scheme} | {cores} | {noop['seconds'] if noop else 0:.2f} | {' | '.join(told)} |")
    return "\n".join(lines)


def looked_for(row: Row) -> str:
    """What the job looked for, in a word or two."""
    if row["ports"]:
        return f"{row['ports']} {'port' if row['ports'] == 1 else 'ports'}"
    return f"{row['patterns']}{' (changes)' if row['episodes'] == 'changes' else ''}"


def order_of(row: Row) -> str:
    """How the events lie, and whether one track has most of them."""
    if not row["longest"]:
        return str(row["order"])
    return f"{row['order']}, one track has {row['longest']:.0%}, {'cut' if row['cut'] else 'whole'}"


def noop_of(row: Row, rows: Sequence[Row]) -> Row | None:
    """The noop read that a row is compared with."""
    same = ("order", "domain", "millions", "cores")
    reads = [r for r in rows if r["scheme"] == "noop" and all(r[key] == row[key] for key in same)]
    return reads[0] if reads else None


def plot(parts: Mapping[str, Sequence[Row]], file: Path) -> None:
    """The tables as groups of bars, and below them every other measurement: seconds in times the noop read."""
    import matplotlib  # noqa: PLC0415

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    singles = {name: rows for name, rows in parts.items() if name not in TABLES}
    bars = [bar for name, rows in singles.items() for bar in _bars(name, rows)]
    tables = [(name, cores) for name in TABLES if name in parts for cores in (1, 2)]
    figure = plt.figure(figsize=(12, 3.4 + 0.27 * len(bars)), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=[3.4, max(1, 0.27 * len(bars))])
    axes = above.subplots(1, max(1, len(tables)), sharey=True, squeeze=False)[0]
    for axis, (name, cores) in zip(axes, tables, strict=False):
        _draw_table(axis, parts[name], name, cores)
    if tables:
        axes[0].set_ylabel("seconds, in times the noop read")
        axes[0].legend(fontsize=7)
    _draw_bars(below.subplots(), bars)
    figure.savefig(file, dpi=110)


def _draw_table(axis: Any, rows: Sequence[Row], name: str, cores: int) -> None:
    mine = [row for row in rows if row["cores"] == cores and row["scheme"] != "noop"]
    counts = sorted({row["patterns"] for row in mine})
    schemes = list(dict.fromkeys(row["scheme"] for row in mine))
    for n, scheme in enumerate(schemes):
        by_count = {row["patterns"]: _ratio(row, rows) for row in mine if row["scheme"] == scheme}
        places = [at + (n - (len(schemes) - 1) / 2) / (len(schemes) + 1) for at in range(len(counts))]
        axis.bar(places, [by_count.get(count) or 0 for count in counts], 1 / (len(schemes) + 1), label=scheme)
    axis.set_xticks(range(len(counts)), [str(count) for count in counts])
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set(xlabel="patterns", title=f"{name}, {cores} {'worker' if cores == 1 else 'workers'}")


def _draw_bars(axis: Any, bars: Sequence[tuple[str, float, float | None]]) -> None:
    axis.barh([label for label, _, _ in bars], [ratio for _, ratio, _ in bars], height=0.65, color="tab:gray")
    for n, (_, ratio, reach) in enumerate(bars):
        axis.text(ratio, n, f" {ratio:.2f}", va="center", fontsize=7)
        if reach:
            axis.plot([reach, reach], [n - 0.4, n + 0.4], color="tab:red", linewidth=1.5)
    axis.axvline(1, color="black", linewidth=0.8)
    axis.invert_yaxis()
    axis.margins(y=0.01)
    axis.set(xlabel="seconds of the whole job, in times the noop read of the same columns (red: what is to be reached)")
    axis.tick_params(axis="y", labelsize=7)


def _bars(name: str, rows: Sequence[Row]) -> list[tuple[str, float, float | None]]:
    found = []
    for row in rows:
        ratio = _ratio(row, rows)
        if row["scheme"] != "noop" and ratio:
            kind = "" if row["ports"] else " patterns"
            label = f"{name}: {row['scheme']}, {row['millions']:g} M {order_of(row)}, {looked_for(row)}{kind}"
            found.append((label, ratio, REACH.get(row["scheme"]) if name == "reach" else None))
    return found


def _ratio(row: Row, rows: Sequence[Row]) -> float | None:
    noop = noop_of(row, rows)
    return float(row["seconds"] / noop["seconds"]) if noop else None
