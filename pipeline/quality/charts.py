"""Small pictures for the quality report, as SVG text: bars and a map of cells. No script, nothing fetched."""

import math
from html import escape
from itertools import pairwise
from typing import Any

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
