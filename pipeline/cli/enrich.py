"""`foresail enrich`: add to events what layers say of their positions."""

from dataclasses import asdict
from pathlib import Path

import click

from foresail.pipeline.cli.faults import FAILED
from foresail.pipeline.cli.groups import quiet_option
from foresail.pipeline.cli.options import (
    rejected_warning,
    settings_from,
    settings_options,
    time_unit_option,
    too_many_rejected,
)

STRATEGIES = ("auto", "worker", "cells", "broadcast", "partitioned")


@click.command()
@click.option("--events", required=True, help="Parquet, CSV, JSON lines or a Spark table with lon, lat.")
@click.option("--layers", "layers_file", required=True, type=click.Path(path_type=Path), help="The layers file (YAML).")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder for the result; events go to OUT/events."
)
@click.option(
    "--strategy", type=click.Choice(STRATEGIES), default="auto", show_default=True, help="How to join; all agree."
)
@click.option(
    "--pairs-within",
    "pairs_within_m",
    type=float,
    metavar="METRES",
    help="Enrich pairs of tracks so near to each other, in place of positions: for encounters and the like.",
)
@time_unit_option
@click.option("--json", "as_json", is_flag=True, help="End with one line of JSON on standard output.")
@quiet_option
@settings_options
def command(
    events: str, layers_file: Path, out: Path, strategy: str, pairs_within_m: float | None, time_unit: str | None,
    as_json: bool, quiet: bool, settings_file: Path | None, master: str | None, conf: tuple[str, ...],
) -> None:  # fmt: skip
    """Add in_KIND, KIND_name and KIND_distance_m of every layer to every event.

    Positions that are missing or out of range keep flowing, with null attributes. Layers are GeoJSON, GeoPackage,
    Shapefile, GeoParquet, CSV or WKT; they are checked, and cached by their content.
    """
    from foresail.pipeline.jobs.enrich import EnrichOrder, EnrichResult, enrich_events
    from foresail.pipeline.preflight import check_layers, is_little
    from foresail.pipeline.progress import open_progress, write_summary
    from foresail.pipeline.runtime.session import running_spark
    from foresail.pipeline.sinks.output_folder import held_output
    from foresail.pipeline.sources.parquet_files import events_folder
    from foresail.pipeline.sources.table import check_paths

    settings = settings_from(settings_file, master, conf)
    progress = open_progress(quiet)
    order = EnrichOrder(
        events, layers_file, out, settings.layers.directory, strategy, pairs_within_m, time_unit  # type: ignore[arg-type]
    )  # fmt: skip
    check_paths([events_folder(events)])
    check_layers(layers_file)
    with held_output(out, "enrich"), running_spark(settings, "foresail enrich", progress, is_little([events])) as spark:
        result: EnrichResult = enrich_events(spark, order, progress)
    progress.say(
        f"{result.events:,} events, {result.positions_unknown:,} without a position, {result.rejected:,} rejected; "
        + ", ".join(f"{name}: {count:,}" for name, count in result.attributes.items())
    )
    # pairs are fewer or more than the positions they are made from: no share can be told
    rejected = 0 if pairs_within_m is not None else result.rejected
    warning = rejected_warning(result.events, rejected, [events], out / "rejected", settings)
    if as_json:
        write_summary(asdict(result) | warning)
    if too_many_rejected(warning["rejected_share"], settings):
        raise SystemExit(FAILED)
