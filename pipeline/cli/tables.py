"""Tables of results on a terminal of any width: where room is short columns go, names are never cut."""

from collections.abc import Iterable, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.box import Box
    from rich.console import Console
    from rich.table import Table

ANY_WIDTH = 10_000
"""Of what is no terminal: a file or a pipe takes lines of any length."""


def result_console() -> "Console":
    """Standard output, as wide as the terminal; without one, lines are as long as they need."""
    from rich.console import Console

    return Console(width=get_terminal_size((ANY_WIDTH, 24)).columns)


def print_table(
    console: "Console",
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    least: Sequence[str] = (),
    title: str | None = None,
    box: "Box | None" = None,
) -> None:
    """Print a table; where it does not fit, the columns of `least` are left out in that order, and this is said."""
    cells = [tuple(row) for row in rows]
    gone: list[str] = []
    table = _table(head, cells, gone, title, box)
    for name in least:
        if _fits(console, table):
            break
        gone.append(name)
        table = _table(head, cells, gone, title, box)
    if not _fits(console, table):
        for column in table.columns:
            column.no_wrap, column.overflow = False, "fold"
    console.print(table)
    if gone:
        console.print(f"not shown, for want of width: {', '.join(gone)}; --json has all", highlight=False)


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str]], gone: Sequence[str], title: str | None, box: "Box | None"
) -> "Table":
    from rich.box import HEAVY_HEAD
    from rich.table import Table

    kept = [place for place, name in enumerate(head) if name not in gone]
    table = Table(title=title, box=box or HEAVY_HEAD, pad_edge=box is None)
    for place in kept:
        numbers = all(_is_number(row[place]) for row in rows)
        table.add_column(head[place], justify="right" if rows and numbers else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(row[place] for place in kept))
    return table


def _is_number(cell: str) -> bool:
    return not cell or cell.replace(",", "").replace(".", "", 1).replace("-", "", 1).isdigit()


def _fits(console: "Console", table: "Table") -> bool:
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(max_width=ANY_WIDTH), table).maximum <= console.width
