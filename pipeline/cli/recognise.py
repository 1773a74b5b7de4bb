"""`foresail recognise`: find the patterns of a catalog in any table of events."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from foresail.pipeline.cli.options import (
    end_failed_if_rejected,
    engine_option,
    output_options,
    overrides_of,
    rejected_warning,
    settings_from,
    settings_options,
    time_unit_option,
    types_of,
)
from foresail.pipeline.errors import OptionError
from foresail.pipeline.progress import Progress, open_progress, write_summary
from foresail.pipeline.settings import Settings

if TYPE_CHECKING:
    from foresail.pipeline.jobs.recognise_request import Outputs, RecogniseRequest


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
    type=click.Choice(["parquet", "jsonl", "geojson", "trig"]),
    default="parquet",
    show_default=True,
    help="geojson, trig: Parquet, and beside it matches.geojson for maps, or matches.trig as linked data.",
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
@engine_option
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
    engine: str | None,
    settings_file: Path | None,
    master: str | None,
    conf: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Find patterns in events: needs only the columns track and time, and what the conditions name."""
    from foresail.pipeline.batch.planner import Scheme
    from foresail.pipeline.catalogs import catalog_named, files_digest

    if not patterns and not domain:
        msg = "name what to look for: --patterns PATH or --domain maritime."
        raise click.UsageError(msg)
    settings = settings_from(settings_file, master, conf)
    local = (engine or settings.jobs.engine) == "local"
    if local:
        _begin_local(master, light=not report)
    from foresail.pipeline.jobs.recognise_request import Outputs, RecogniseRequest

    digest = files_digest(patterns)
    catalog = catalog_named(patterns, domain, overrides_of(sets), languages=True)
    chosen = types_of(types)
    progress = open_progress(quiet)
    table = "jsonl" if form == "jsonl" else "parquet"
    request = RecogniseRequest(
        events, catalog, out, table, chosen, time_unit, layers, settings.layers.directory,
        skip_unfit=not patterns, scheme=Scheme(scheme), skip_corrupt=skip_corrupt, episodes=episodes,
    )  # fmt: skip
    asked = Outputs(form == "geojson", report, positions)
    if catalog.others:
        summary = _in_languages(request, settings, progress, local, form, asked)
    else:
        run = _on_this_machine if local else _on_spark
        summary = run(request, settings, progress, asked)
        if form == "trig":
            from foresail.pipeline.sinks.trig import write_trig

            with progress.step("writing TriG"):
                summary |= write_trig(out)
    changed = files_digest(patterns) != digest
    if changed:
        progress.say("the catalog has changed since the job began: the matches are of the catalog as it was then")
    warning = rejected_warning(summary["events"], summary["rejected"], events, out / "rejected.jsonl", settings)
    show = _show_languages if catalog.others else _show
    show(summary | warning | {"catalog_changed": changed}, as_json)
    end_failed_if_rejected(warning, settings)


def _on_spark(request: "RecogniseRequest", settings: Settings, progress: Progress, asked: "Outputs") -> dict[str, Any]:
    from foresail.pipeline.preflight import check_request, is_little
    from foresail.pipeline.runtime.session import starting_spark
    from foresail.pipeline.sinks.output_folder import held_output
    from foresail.pipeline.sources.parquet_files import events_folder

    events, must_fit = request.events, not request.skip_unfit
    check_request([events_folder(path) for path in events], request.catalog, request.layers, must_fit=must_fit)
    began = time.monotonic()
    with (
        held_output(request.out, "recognise"),
        starting_spark(settings, "foresail recognise", progress, is_little(events)) as started,
    ):
        # these take as long to load as Java takes to start, which it does meanwhile
        from foresail.pipeline.jobs.recognise import run_recognise
        from foresail.pipeline.jobs.recognition_outputs import write_outputs

        spark = started()
        started_s = time.monotonic() - began
        summary = run_recognise(spark, request, progress)
        summary |= write_outputs(spark, request, summary, progress, *asked)
    if started_s > summary["seconds"] and not any("://" in path for path in events) and not any(asked):
        progress.say(
            f"Spark took {started_s:.1f} s to start and {summary['seconds']:.1f} s to work: "
            "--engine local finds the same without starting it"
        )
    return summary | {"engine": "spark"}


def _on_this_machine(
    request: "RecogniseRequest", settings: Settings, progress: Progress, asked: "Outputs"
) -> dict[str, Any]:
    del settings  # it starts no Spark
    from foresail.pipeline.local.recognise_job import run_local
    from foresail.pipeline.sinks.output_folder import held_output

    with held_output(request.out, "recognise"):
        return run_local(request, progress, asked)


def _in_languages(
    request: "RecogniseRequest", settings: Settings, progress: Progress, local: bool, form: str, asked: "Outputs"
) -> dict[str, Any]:
    """Entries in other languages, whose rows have columns of their own."""
    from foresail.pipeline.languages.recognise_job import check_form, run_languages
    from foresail.pipeline.runtime.session import starting_spark
    from foresail.pipeline.sinks.output_folder import held_output
    from foresail.pipeline.sources.table import check_paths

    check_form(form, asked.report, asked.positions)
    check_paths(request.events)
    with held_output(request.out, "recognise"):
        if local:
            return run_languages(request, progress, None)
        with starting_spark(settings, "foresail recognise", progress) as started:
            return run_languages(request, progress, started())


def _show_languages(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        write_summary(summary)
        return
    from foresail.pipeline.cli.tables import print_table, result_console
    from foresail.pipeline.reports.page import count_of

    key = next(name for name in summary if "_by_" in name)
    kind, _, by = key.partition("_by_")
    console = result_console()
    title = f"{count_of(summary[kind], kind.removesuffix('s'), kind)} in {count_of(summary['events'], 'event')}"
    print_table(console, (by, kind), [(name, f"{number:,}") for name, number in summary[key].items()], title=title)
    for name, number in summary["limits"].items():
        console.print(f"limit {name}: {number:,} left out", markup=False)
    console.print(
        f"{summary['events_per_second']:,} events/s, {summary['rejected']:,} rows rejected; "
        f"written to {summary['output']}",
        markup=False,
        soft_wrap=True,
    )


def _begin_local(master: str | None, light: bool) -> None:
    """What only Spark can do is wrong usage with --engine local."""
    if master:
        msg = "--master: names a Spark. Leave --engine local out, or the option."
        raise OptionError(msg)
    if light:
        from foresail.pipeline.runtime.light_start import start_light

        start_light()


def _show(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        write_summary(summary)
        return
    from foresail.pipeline.cli.tables import print_table, result_console
    from foresail.pipeline.fitting import left_out_lines
    from foresail.pipeline.reports.page import count_of
    from foresail.pipeline.stages.known_share import in_words

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
    for name in ("geojson", "trig", "report", "positions"):
        if name in summary:
            console.print(f"{name}: {summary[name]}", soft_wrap=True)
