"""The quality report: `quality.json` for tools, `quality.html` for people, one page that needs nothing else.

Small pictures for the quality report, as SVG text: bars and a map of cells. No script, nothing fetched.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from foresail.pipeline.quality.measure import Measures
from foresail.pipeline.reports.page import count_of
from foresail.pipeline.sinks.output_folder import replaced
from foresail.pipeline.sources.repairs import REPAIRS
from foresail.pipeline.stages.clean import REASONS
from foresail.pipeline.stages.tracks import DUPLICATES

WIDTH = 720
BAR_HEIGHT = 18
LABEL_WIDTH = 150
MAP_WIDTH = 720
GRID_LINES = 4


def bars(labels: list[str], values: list[int]) -> str:
    """Horizontal bars with their numbers."""
    most = max(values, default=0) or 1
    room = WIDTH - LABEL_WIDTH - 90
    rows = []
    for place, (label, value) in enumerate(zip(labels, values, strict=True)):
        y = place * BAR_HEIGHT
        length = room * value / most
        rows.append(
            f'<text x="{LABEL_WIDTH - 8}" y="{y + 13}" text-anchor="end">{escape(label)}</text>'
            f'<rect x="{LABEL_WIDTH}" y="{y + 2}" width="{length:.1f}" height="{BAR_HEIGHT - 5}" class="bar"/>'
            f'<text x="{LABEL_WIDTH + length + 6:.1f}" y="{y + 13}">{value:,}</text>'
        )
    height = max(len(values), 1) * BAR_HEIGHT
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img">{"".join(rows)}</svg>'


def bucket_labels(edges: list[int], name: Any = str) -> list[str]:
    """What each bucket of a distribution holds, in words."""
    between = [f"{name(low)} - {name(high)}" for low, high in pairwise(edges)]
    return [f"up to {name(edges[0])}", *between, f"over {name(edges[-1])}"]


def duration(seconds: float) -> str:
    """Seconds in the largest unit that keeps them short."""
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:g} {unit}" if seconds % size == 0 else f"{seconds / size:.1f} {unit}"
    return f"{seconds:g} s"


def coverage_map(coverage: dict[str, Any]) -> str:
    """Where the positions lie: darker cells hold more of them; lines carry degrees."""
    cells = coverage["cells"]
    if not cells:
        return "<p>no positions</p>"
    columns = max(cell[0] for cell in cells) + 1
    rows = max(cell[1] for cell in cells) + 1
    middle = coverage["south"] + rows * coverage["cell_deg"] / 2
    squeeze = max(math.cos(math.radians(middle)), 0.2)
    side = MAP_WIDTH / (columns * squeeze) if columns * squeeze >= rows else MAP_WIDTH / rows
    width, height = columns * side * squeeze, rows * side
    most = math.log1p(max(cell[2] for cell in cells))
    drawn = "".join(
        f'<rect x="{column * side * squeeze:.2f}" y="{height - (row + 1) * side:.2f}" width="{side * squeeze:.2f}" '
        f'height="{side:.2f}" class="cell" fill-opacity="{0.15 + 0.85 * math.log1p(count) / most:.2f}">'
        f"<title>{count:,}</title></rect>"
        for column, row, count in cells
    )
    return (
        f'<svg viewBox="-44 -6 {width + 60:.0f} {height + 30:.0f}" style="max-width:{width + 60:.0f}px" role="img">'
        f'<rect x="0" y="0" width="{width:.1f}" height="{height:.1f}" class="frame"/>{drawn}'
        f"{_degrees(coverage, columns, rows, width, height)}</svg>"
    )


def _degrees(coverage: dict[str, Any], columns: int, rows: int, width: float, height: float) -> str:
    lines = []
    for step in range(GRID_LINES + 1):
        share = step / GRID_LINES
        lon = coverage["west"] + share * columns * coverage["cell_deg"]
        lat = coverage["south"] + share * rows * coverage["cell_deg"]
        x, y = share * width, height - share * height
        lines.append(
            f'<line x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{height:.1f}" class="grid"/>'
            f'<text x="{x:.1f}" y="{height + 16:.1f}" text-anchor="middle">{lon:.2f}</text>'
            f'<line x1="0" y1="{y:.1f}" x2="{width:.1f}" y2="{y:.1f}" class="grid"/>'
            f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">{lat:.2f}</text>'
        )
    return "".join(lines)


STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1c2733; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; border-bottom: 1px solid #d5dde5; }
table { border-collapse: collapse; width: 100%; } td, th { padding: .2rem .6rem; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } tr:nth-child(even) { background: #f4f7fa; }
.balance { font-size: 1.1rem; } svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; fill: #1c2733; }
.bar { fill: #2f6f9f; } .cell { fill: #0b5394; } .frame { fill: #eef3f7; } .grid { stroke: #b7c4d0; stroke-width: .5; }
p.note { color: #56677a; } p.warning { border-left: .3rem solid #b3261e; padding-left: .7rem; font-weight: 600; }
"""


def write_quality(folder: Path, result: Mapping[str, Any], before: Mapping[str, Any], after: Measures) -> None:
    """Put both forms of the report into `folder`."""
    quality = {**result, "before": before, "after": after.extent, **_without_extent(after)}
    with replaced(folder / "quality.json") as place:
        place.write_text(json.dumps(quality, indent=1, default=str) + "\n", encoding="utf-8")
    with replaced(folder / "quality.html") as place:
        place.write_text(render(quality), encoding="utf-8")


def _without_extent(measures: Measures) -> dict[str, Any]:
    return {name: value for name, value in asdict(measures).items() if name != "extent"}


def render(quality: Mapping[str, Any]) -> str:
    """The report as one HTML page."""
    title = f"Quality of the feed {escape(str(quality['feed']))}"
    body = "".join(
        f"<h2>{heading}</h2>{content}"
        for heading, content in (
            ("Rows", _balance(quality)),
            ("Rejected rows by reason", _counts(quality["reasons"], REASONS)),
            ("Duplicates", _counts(quality["duplicate_kinds"], DUPLICATES)),
            ("Repairs by kind", _counts(quality["repairs"], REPAIRS)),
            ("Before and after", _before_and_after(quality["before"], quality["after"])),
            ("Positions for each track", _distribution(quality["positions_per_track"], str)),
            ("Time between positions", _distribution(quality["intervals"], duration)),
            ("Gaps and jumps", _gaps(quality["gaps"])),
            ("Coverage", coverage_map(quality["coverage"])),
        )
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>'
        f"<body><h1>{title}</h1>{body}</body></html>\n"
    )


def _balance(quality: Mapping[str, Any]) -> str:
    files = "".join(f"<li>{escape(str(name))}</li>" for name in quality["files_read"])
    warnings = "".join(f'<p class="warning">{escape(text)}</p>' for text in quality.get("warnings", ()))
    return (
        warnings
        + f'<p class="balance"><b>{quality["rows_in"]:,}</b> rows in = <b>{quality["rows_out"]:,}</b> positions + '
        f"<b>{quality['rejected']:,}</b> rejected + <b>{quality['duplicates']:,}</b> duplicates</p>"
        f"<p>Out of order, and therefore sorted: {count_of(quality['out_of_order'], 'row')}. "
        f"Stored: {count_of(quality['rows_stored'], 'position')} of {count_of(quality['tracks'], 'track')}.</p>"
        f"<ul>{files}</ul>"
    )


def _counts(counts: Mapping[str, int], meanings: Mapping[str, str]) -> str:
    if not counts:
        return '<p class="note">none</p>'
    return _table(
        ("", "rows", "meaning"),
        ((kind, f"{rows:,}", meanings.get(kind, "")) for kind, rows in counts.items()),
    )


def _before_and_after(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    box = ("west", "south", "east", "north")
    rows = [(name, _shown(before[name]), _shown(after[name])) for name in ("rows", "tracks", "first", "last")]
    rows += [(side, _shown(before["box"][n]), _shown(after["box"][n])) for n, side in enumerate(box)]
    known = [name for name, share in before["known"].items() if share or after["known"][name]]
    rows += [(f"{name} known", f"{before['known'][name]:.1%}", f"{after['known'][name]:.1%}") for name in known]
    note = '<p class="note">Before: every row of this ingest as it was read. After: the positions that are stored.</p>'
    return note + _table(("", "before", "after"), rows)


def _distribution(measured: Mapping[str, Any], name: Any) -> str:
    if not measured["count"]:
        return '<p class="note">none</p>'
    quantiles = ", ".join(f"{float(q):.0%}: {name(round(value, 3))}" for q, value in measured["quantiles"].items())
    mean, largest = (name(round(measured[key], 1)) for key in ("mean", "max"))
    text = f"<p>mean {mean}, largest {largest}; {escape(quantiles)}</p>"
    return text + bars(bucket_labels(measured["edges"], name), measured["buckets"])


def _gaps(gaps: Mapping[str, Any]) -> str:
    counts = [(key.replace("_", " "), f"{value:,}", "") for key, value in gaps.items() if key not in ("longest",)]
    longest = ((row["track"], duration(row["gap_s"]), row["ended"]) for row in gaps["longest"])
    shown = _table(("track", "gap", "ended"), longest) if gaps["longest"] else ""
    return _table(("", "positions", ""), counts) + shown


def _table(heads: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    head = "".join(f'<th class="{"n" if place == 1 else ""}">{escape(text)}</th>' for place, text in enumerate(heads))
    body = "".join(
        "<tr>"
        + "".join(f'<td class="{"n" if place == 1 else ""}">{escape(text)}</td>' for place, text in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.5f}" if isinstance(value, float) else str(value)
