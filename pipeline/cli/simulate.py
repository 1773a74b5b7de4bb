"""`foresail simulate`: a fleet that can be shared, with a table of what is true of it."""

from datetime import datetime
from pathlib import Path

import click

from foresail.pipeline.cli.options import output_options, settings_from, settings_options
from foresail.pipeline.errors import OptionError, SettingsError


@click.command()
@click.option("--domain", default="maritime", show_default=True, help="maritime (vessels) or fleet (vehicles).")
@click.option("--tracks", type=int, default=50, show_default=True, help="How many vessels or vehicles.")
@click.option("--days", type=float, default=1.0, show_default=True, help="How long they are followed.")
@click.option("--step", "step_s", type=float, default=60.0, show_default=True, help="Seconds between positions.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same bytes.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for events, truth, faults, layers.")
@click.option("--start", help="First moment, ISO 8601, UTC when no zone is given.  [default: 2026-03-02]")
@click.option(
    "--region",
    default="brittany",
    show_default=True,
    help="brittany, skagerrak, biscay, gulf-of-finland, gulf-coast, or west,south,east,north in degrees.",
)
@click.option("--mix", default="mixed", show_default=True, help="Kinds of vessel: mixed, us or baltic.")
@click.option("--faults/--no-faults", default=True, show_default=True, help="Lost positions and unknown values.")
@click.option("--raw", is_flag=True, help="Also write raw/: messages before cleaning, with sentinels and repeats.")
@output_options
@settings_options
def command(
    *,
    domain: str,
    tracks: int,
    days: float,
    step_s: float,
    seed: int,
    out: Path,
    start: str | None,
    region: str,
    mix: str,
    faults: bool,
    raw: bool,
    as_json: bool,
    quiet: bool,
    settings_file: Path | None,
    master: str | None,
    conf: tuple[str, ...],
) -> None:
    """Simulate vessels or vehicles: canonical positions laid out by track, the table of events and near-misses
    that they truly show, the table of faults, and the layers that `foresail enrich` needs. Nothing is downloaded.

    \b
    foresail simulate --tracks 500 --days 7 --out week
    foresail simulate --domain fleet --tracks 200 --days 2 --seed 7 --out vans
    """
    from foresail.pipeline.simulator.settings import DEFAULT_START, SimulationSettings

    try:
        order = SimulationSettings(
            domain=domain,
            tracks=tracks,
            days=days,
            step_s=step_s,
            seed=seed,
            start=_moment(start) if start else DEFAULT_START,
            region=region,
            mix=mix,
            faults=faults,
            raw=raw,
        )
    except SettingsError as error:
        raise OptionError(str(error)) from None
    settings = settings_from(settings_file, master, conf)

    from foresail.pipeline.progress import open_progress, write_summary
    from foresail.pipeline.runtime.session import running_spark
    from foresail.pipeline.simulator.job import print_summary, simulate, summary_dict
    from foresail.pipeline.sinks.output_folder import held_output

    progress = open_progress(quiet)
    with held_output(out, "simulate"), running_spark(settings, "foresail simulate", progress) as spark:
        summary = simulate(spark, order, out, progress)
    if as_json:
        write_summary(summary_dict(summary))
    else:
        print_summary(summary)


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        msg = f"--start: '{text}' is not a time. Write ISO 8601, as 2026-03-02 or 2026-03-02T06:00:00Z."
        raise SettingsError(msg) from None
