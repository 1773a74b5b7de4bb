"""What a person reads when a simulation is done: how much there is, and what can be found in it."""

from rich.console import Console
from rich.table import Table

from foresail.pipeline.reports.words import count_of
from foresail.pipeline.simulator.job import SimulationSummary


def print_summary(summary: SimulationSummary, console: Console | None = None) -> None:
    """Print a table of the truth and a line of numbers."""
    console = console or Console()
    table = Table(title=f"Simulated truth: {summary.domain}", title_justify="left")
    table.add_column("pattern")
    for kind in ("injected", "near miss", "incidental"):
        table.add_column(kind, justify="right")
    for pattern, counts in summary.truth.items():
        table.add_row(pattern, *(f"{counts[kind]:,}" for kind in ("injected", "near_miss", "incidental")))
    console.print(table)
    if summary.not_injected:
        missing = ", ".join(summary.not_injected)
        console.print(f"Too few tracks or days to show: {missing}. Raise --tracks or --days.", highlight=False)
    console.print(
        f"{count_of(summary.positions, 'simulated position')} of {count_of(summary.tracks, 'track')} "
        f"in {count_of(summary.files, 'file')} "
        f"({summary.bytes / 1e6:.1f} MB), {summary.seconds:.1f} s: {summary.out}",
        highlight=False,
        soft_wrap=True,
    )
