"""`foresail demo`: the main job on simulated data, with embedded defaults and no services."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from foresail.pipeline.cli.options import output_options, settings_from, settings_options
from foresail.pipeline.progress import open_progress, write_summary

if TYPE_CHECKING:
    from rich.table import Table

    from foresail.pipeline.jobs.demo import DemoResult


@click.command()
@click.option("--seed", type=int, default=7, show_default=True, help="Another seed, other simulated vessels.")
@click.option("--tracks", type=click.IntRange(2, 500), default=24, show_default=True, help="How many vessels.")
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; out/demo, or out/live, when not given.")
@click.option("--live", is_flag=True, help="A live line on a simulated day instead, and the console to look at it.")
@click.option("--host", default="127.0.0.1", show_default=True, help="--live: the address of the console.")
@click.option("--port", type=click.IntRange(0, 65535), default=8400, show_default=True, help="--live: its port.")
@click.option(
    "--speed", type=click.FloatRange(1, 600), default=60.0, show_default=True, help="--live: times real time."
)
@output_options
@settings_options
def command(
    *,
    seed: int,
    tracks: int,
    out: Path | None,
    live: bool,
    host: str,
    port: int,
    speed: float,
    as_json: bool,
    quiet: bool,
    settings_file: Path | None,
    master: str | None,
    conf: tuple[str, ...],
) -> None:
    """The whole line on simulated vessels: recognise what they did, forecast what they will do, and judge both."""
    settings = settings_from(settings_file, master, conf)
    from foresail.pipeline.jobs.demo import run
    from foresail.pipeline.runtime.session import running_spark
    from foresail.pipeline.sinks.output_folder import held_output

    progress = open_progress(quiet)
    out = out or Path("out/live" if live else "out/demo")
    if live:
        from foresail.pipeline.jobs import live_demo

        def tell(address: str) -> None:
            click.echo(address)
            progress.say("open this address in a browser; it can be used once. Ctrl-C ends all of it.")

        options = live_demo.LiveOptions(host, port, seed, tracks, speed)
        with held_output(out, "demo"), running_spark(settings, "foresail demo", progress) as spark:
            live_demo.run(spark, out, settings, options, tell, progress)
        return
    with held_output(out, "demo"), running_spark(settings, "foresail demo", progress, short_work=True) as spark:
        result = run(spark, out, settings.layers.directory, seed, progress, tracks, settings.forecasting)
    if as_json:
        write_summary(result.summary)
    else:
        _show(result)


def _show(result: "DemoResult") -> None:
    from rich.console import Console

    console = Console()
    console.print(_found(result))
    console.print(_foretold(result))
    console.print(_steps(result), highlight=False)
    console.print(f"open this page in a browser: {result.report.resolve().as_uri()}", soft_wrap=True)


def _found(result: "DemoResult") -> "Table":
    from rich.table import Table

    title = f"What {result.tracks} simulated vessels did, in {result.positions:,} positions"
    table = Table(title=title, caption="a near-miss keeps just short of the definition: reporting it would be wrong")
    table.add_column("pattern", min_width=max(len(score.pattern) for score in result.scores))
    for heading in ("happened", "found", "near-misses", "hit", "reported"):
        table.add_column(heading, justify="right")
    for score in result.scores:
        happened = score.injected + score.incidental
        found = score.injected_found + score.incidental_found
        figures = (happened, found, score.near_misses, score.near_misses_hit, score.reported)
        table.add_row(score.pattern, *map(str, figures))
    return table


def _foretold(result: "DemoResult") -> "Table":
    """For each pattern how good every model is, beside what else one would try."""
    from rich.table import Table

    rows = [row for row in result.evaluation["rows"] if row["fold"] == "all"]
    patterns = list(dict.fromkeys(row["pattern"] for row in rows))
    f1 = {(row["model"], row["pattern"]): f"{row['f1']:.2f}" for row in rows}
    caption = f"F1 of a match within {rows[0]['within']} events, on events not learned from: 1 is perfect"
    table = Table(title="How well it can be foretold", caption=caption)
    table.add_column("model", min_width=max(len(row["model"]) for row in rows))
    for pattern in patterns:
        table.add_column(pattern, justify="right", min_width=len(pattern))
    for model in dict.fromkeys(row["model"] for row in rows):
        table.add_row(model, *(f1.get((model, pattern), "") for pattern in patterns))
    return table


def _steps(result: "DemoResult") -> str:
    steps = ", ".join(f"{step.name} {step.seconds:.0f} s" for step in result.steps)
    return f"{result.seconds:.0f} s: {steps}"
