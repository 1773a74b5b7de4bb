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
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("out/demo"), show_default=True, help="Where to write."
)
@output_options
@settings_options
def command(
    *,
    seed: int,
    out: Path,
    as_json: bool,
    quiet: bool,
    settings_file: Path | None,
    master: str | None,
    conf: tuple[str, ...],
) -> None:
    """Simulate a day of vessels, say where they were, recognise what they did, and compare with what is true."""
    settings = settings_from(settings_file, master, conf)
    from pipeline.jobs.demo import run
    from pipeline.session import start_spark

    progress = open_progress(quiet)
    spark = start_spark(settings, "foresail demo", progress, short_work=True)
    result = run(spark, out, settings.layers.directory, seed, progress)
    if as_json:
        write_summary(result.summary)
    else:
        _show(result)


def _show(result: "DemoResult") -> None:
    from rich.console import Console
    from rich.table import Table

    title = f"{result.positions:,} simulated positions of {result.tracks} simulated vessels"
    table = Table(title=title, caption="a near-miss keeps just short of the definition: reporting it would be wrong")
    table.add_column("pattern", min_width=max(len(score.pattern) for score in result.scores))
    for heading in ("happened", "found", "near-misses", "hit", "reported"):
        table.add_column(heading, justify="right")
    for score in result.scores:
        happened = score.injected + score.incidental
        found = score.injected_found + score.incidental_found
        figures = (happened, found, score.near_misses, score.near_misses_hit, score.reported)
        table.add_row(score.pattern, *map(str, figures))
    console = Console()
    console.print(table)
    console.print(f"{result.seconds:.0f} s; positions, layers, truth and matches are in {result.folder}")
