"""The results of `bench.batch` as a table and a plot."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as Markdown, each with its ratio to the noop read of the same events, order and cores."""
    lines = [
        "| scheme | events | order | patterns | cores | seconds | : noop | CPU s | : noop | matches | peak MB |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        noop = noop_of(row, rows)
        wall, cpu = (f"{row[key] / noop[key]:.2f}" if noop else "" for key in ("seconds", "cpu_seconds"))
        looked_for = f"{row['ports']} ports" if row["ports"] else f"{row['patterns']}{_episodes(row)}"
        order = f"{row['order']}{', one track is half' if row['skewed'] else ''}"
        lines.append(
            f"| {row['scheme']} | {row['millions']:g} M {row['domain']} | {order} | {looked_for} | {row['cores']} "
            f"| {row['seconds']:.2f} | {wall} | {row['cpu_seconds']:.1f} | {cpu} | {row.get('matches', '')} "
            f"| {row.get('worker_peak_mb') or ''} |"
        )
    return "\n".join(lines)


def _episodes(row: Mapping[str, Any]) -> str:
    return ", changes only" if row["episodes"] == "changes" else ""


def noop_of(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The noop read that a row is compared with."""
    same = ("order", "domain", "millions", "cores", "skewed")
    reads = [r for r in rows if r["scheme"] == "noop" and all(r[key] == row[key] for key in same)]
    return reads[0] if reads else None


def plot(parts: Mapping[str, Sequence[Mapping[str, Any]]], file: Path) -> None:
    """The ratio to the noop read of every measurement."""
    import matplotlib  # noqa: PLC0415

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    bars = []
    for name, rows in parts.items():
        for row in rows:
            noop = noop_of(row, rows)
            if row["scheme"] != "noop" and noop:
                what = f"{row['ports']} ports" if row["ports"] else f"{row['patterns']} patterns{_episodes(row)}"
                label = f"{name}: {row['scheme']}, {row['order']}, {what}, {row['cores']} cores"
                bars.append((label, row["cpu_seconds"] / noop["cpu_seconds"]))
    figure, axes = plt.subplots(figsize=(9, 1 + 0.25 * len(bars)))
    axes.barh([label for label, _ in bars], [ratio for _, ratio in bars])
    axes.axvline(1, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.set(xlabel="processor time, in times the noop read of the same columns", title="Batch recognition, whole job")
    axes.tick_params(axis="y", labelsize=7)
    figure.tight_layout()
    figure.savefig(file, dpi=120)
