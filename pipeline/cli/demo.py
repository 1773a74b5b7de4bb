"""`foresail demo`: the main job on simulated data, with embedded defaults and no services."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.cli.options import output_options, settings_from, settings_options
from pipeline.progress import open_progress, write_summary

if TYPE_CHECKING:
    from pipeline.jobs.demo import DemoResult


@click.command()
@click.option("--seed", type=int, default=7, show_default=True, help="Another seed, other simulated vessels.")
@output_options
@settings_options
def command(
    *, seed: int, as_json: bool, quiet: bool, settings_file: Path | None, master: str | None, conf: tuple[str, ...]
) -> None:
    """Send a few hundred simulated positions through Sedona and show which vessels are in which zone."""
    settings = settings_from(settings_file, master, conf)
    from pipeline.jobs.demo import run
    from pipeline.session import start_spark

    progress = open_progress(quiet)
    result = run(start_spark(settings, "foresail demo", progress, short_work=True), seed, progress)
    if as_json:
        write_summary(result.summary)
    else:
        _show(result)


def _show(result: "DemoResult") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{result.positions} simulated positions of {result.vessels} simulated vessels")
    table.add_column("zone")
    table.add_column("kind")
    table.add_column("vessels", justify="right")
    table.add_column("positions", justify="right")
    table.add_column("who")
    for visits in result.zones:
        who = ", ".join(name.removeprefix("simulated ") for name in visits.vessels)
        table.add_row(visits.zone, visits.kind, str(len(visits.vessels)), str(visits.positions), who)
    Console().print(table)
