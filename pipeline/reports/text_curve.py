"""A curve drawn with characters, for a terminal."""

from collections.abc import Sequence
from math import ceil

EIGHTHS = " ▁▂▃▄▅▆▇█"
MOST_COLUMNS = 60


def text_curve(values: Sequence[float], height: int = 6) -> list[str]:
    """Bars of `values`, one column each; where there are too many, neighbours share a column and add up."""
    share = max(1, ceil(len(values) / MOST_COLUMNS))
    columns = [sum(values[n : n + share]) for n in range(0, len(values), share)]
    most = max(columns, default=0.0)
    filled = [round(8 * height * value / most) if most > 0 else 0 for value in columns]
    rows = ["".join(EIGHTHS[min(max(f - 8 * row, 0), 8)] for f in filled) for row in reversed(range(height))]
    label = f"{most:.1%}"
    lines = [f"{label if n == 0 else '':>7} │{row.rstrip()}" for n, row in enumerate(rows)]
    last = str(len(values))
    axis = "1" + last.rjust(len(columns) - 1) if len(columns) > len(last) else last
    return [*lines, f"{'':>7} └{'─' * len(columns)}", f"{'':>9}{axis}"]
