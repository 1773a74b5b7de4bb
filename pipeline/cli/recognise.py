"""`foresail recognise`: find the patterns of a catalog in any table of events."""

from pathlib import Path
from typing import Any

import click

from foresail.pipeline.cli.faults import FAILED
from foresail.pipeline.cli.options import (
    output_options,
    overrides_of,
    settings_from,
    settings_options,
    time_unit_option,
    told_of_rejected,
    too_many_rejected,
    types_of,
)
from foresail.pipeline.progress import open_progress, write_summary


@click.command()
@click.option(
    "--events",
    multiple=True,
    required=True,
    help="CSV, JSON lines or Parquet, also in gzip or zip, or a Spark table; repeatable.",
)
@click.option("--patterns", multiple=True, help="Catalog files or folders, or names of built-in patterns; repeatable.")
@click.option("--domain", type=click.Choice(["maritime", "fleet"]), help="All built-in patterns of this domain.")
@click.option("--layers", type=click.Path(path_type=Path), help="The layers file that pattern families need.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder to write to.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["parquet", "jsonl", "geojson"]),
    default="parquet",
    show_default=True,
    help="geojson: Parquet, and matches.geojson for maps beside it.",
)
@click.option("--report", is_flag=True, help="Also write report.html: map, timeline, counts, the events of matches.")
@click.option(
    "--positions", is_flag=True, help="Also write positions/: the events of each match with all their columns."
)
@click.option("--types", help="Types of columns: a=string,b=double (string, double, long, boolean, timestamp).")
@time_unit_option
@click.option(
    "--scheme",
    type=click.Choice(["auto", "partition", "pattern", "source", "combined"]),
    default="auto",
    show_default=True,
    help="How work is spread over cores; the matches are the same.",
)
@click.option(
    "--episodes",
    type=click.Choice(["all", "changes"]),
    default="all",
    show_default=True,
    help="Rows of an episode: opened, updated at each event, ended; or without the updates.",
)
@click.option("--skip-corrupt", is_flag=True, help="Go on without Parquet files that cannot be read, and tell which.")
@click.option("--set", "sets", multiple=True, metavar="PATTERN.PARAMETER=VALUE", help="Use this value of a parameter.")
@settings_options
@output_options
def command(
    events: tuple[str, ...],
    patterns: tuple[str, ...],
    domain: str | None,
    layers: Path | None,
    out: Path,
    form: str,
    report: bool,
    positions: bool,
    types: str | None,
    time_unit: str | None,
    scheme: str,
    episodes: str,
    skip_corrupt: bool,
    sets: tuple[str, ...],
    settings_file: Path | None,
    master: str | None,
    conf: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Find patterns in events: needs only the columns track and time, and what the conditions name."""
    from foresail.pipeline.batch.planner import Scheme
    from foresail.pipeline.catalogs import catalog_named, files_digest
    from foresail.pipeline.jobs.enrich import events_folder
    from foresail.pipeline.jobs.recognise import RecogniseRequest, run_recognise
    from foresail.pipeline.jobs.recognition_outputs import write_outputs
    from foresail.pipeline.preflight import check_request, is_little
    from foresail.pipeline.runtime.session import running_spark
    from foresail.pipeline.sinks.holding import held_output

    if not patterns and not domain:
        msg = "name what to look for: --patterns PATH or --domain maritime."
        raise click.UsageError(msg)
    digest = files_digest(patterns)
    catalog = catalog_named(patterns, domain, overrides_of(sets))
    chosen = types_of(types)
    settings = settings_from(settings_file, master, conf)
    progress = open_progress(quiet)
    table = "jsonl" if form == "jsonl" else "parquet"
    request = RecogniseRequest(
        events, catalog, out, table, chosen, time_unit, layers, settings.layers.directory,
        skip_unfit=not patterns, scheme=Scheme(scheme), skip_corrupt=skip_corrupt, episodes=episodes,
    )  # fmt: skip
    check_request([events_folder(path) for path in events], catalog, layers, must_fit=bool(patterns))
    with (
        held_output(out, "recognise"),
        running_spark(settings, "foresail recognise", progress, is_little(events)) as spark,
    ):
        summary = run_recognise(spark, request, progress)
        summary |= write_outputs(spark, request, summary, progress, form == "geojson", report, positions)
    changed = files_digest(patterns) != digest
    if changed:
        progress.say("the catalog has changed since the job began: the matches are of the catalog as it was then")
    told = told_of_rejected(summary["events"], summary["rejected"], events, out / "rejected.jsonl", settings)
    _show(summary | told | {"catalog_changed": changed}, as_json)
    if too_many_rejected(told["rejected_share"], settings):
        raise SystemExit(FAILED)


def _show(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        write_summary(summary)
        return
    from foresail.pipeline.cli.tables import print_table, result_console
    from foresail.pipeline.reports.words import count_of
    from foresail.pipeline.stages.known_share import in_words
    from foresail.pipeline.unfit import left_out_lines

    title = f"{count_of(summary['matches'], 'match', 'matches')} in {count_of(summary['events'], 'event')}"
    rows = summary["rows_by_pattern"]
    found = [(name, f"{number:,}", f"{rows[name]:,}") for name, number in summary["matches_by_pattern"].items()]
    console = result_console()
    print_table(console, ("pattern", "matches", "rows"), found, title=title)
    for name, shares in summary["little_known"].items():
        console.print(f"{name}: {in_words(shares)}", markup=False, soft_wrap=True)
    for line in left_out_lines(summary["skipped"]):
        console.print(f"not looked for: {line}", markup=False)
    console.print(
        f"scheme {summary['scheme']} ({summary['scheme_reason']}); "
        f"{summary['events_per_second']:,} events/s, {summary['rejected']:,} rows rejected, "
        f"{summary['omitted']:,} sets omitted; written to {summary['output']}"
    )
    for name in ("geojson", "report", "positions"):
        if name in summary:
            console.print(f"{name}: {summary[name]}", soft_wrap=True)
