"""`foresail ingest`: read a feed, clean it, lay it out by track, and show what became of every row.

What `foresail ingest` prints: the feeds it knows, and what became of the rows.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from foresail.pipeline.cli.faults import FAILED
from foresail.pipeline.cli.groups import quiet_option
from foresail.pipeline.cli.options import settings_from, settings_options, too_many_rejected, warn_of_rejected

if TYPE_CHECKING:
    from foresail.pipeline.jobs.ingest_order import IngestResult


NOTHING_NEW = 99
"""The exit code of --exit-code when every file was read before, or none is there: Airflow skips what follows."""


@click.command()
@click.option(
    "--from",
    "feed_name",
    metavar="FEED",
    help="The feed: noaa, danish, brest, digitraffic, nmea, traccar, "
    "gtfs_realtime, canonical, kafka_json, mapped (with --mapping), or the mapping file itself.",
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="PATH",
    help="A file (also gzip, zip), folder, glob, or kafka://host:port/topic; repeatable.",
)
@click.option("--out", type=click.Path(path_type=Path), help="The folder of the result; made if absent.")
@click.option("--append", is_flag=True, help="Add to what the folder holds; files it was made from are skipped.")
@click.option("--allow-empty", is_flag=True, help="No file at --input is no fault: an hour in which nothing came.")
@click.option("--exit-code", is_flag=True, help=f"End with code {NOTHING_NEW} when nothing new came.")
@click.option("--mapping", type=click.Path(path_type=Path), help="A YAML file that says which column is what.")
@click.option("--static", type=click.Path(path_type=Path), help="A CSV file of static data: ship types and names.")
@click.option(
    "--domain",
    type=click.Choice(["maritime", "fleet"]),
    help="Whose rules the cleaning follows; the feed's own when not given.",
)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="KEY=VALUE",
    help="A choice of the cleaning, e.g. jumps=split; repeatable. See --list.",
)
@click.option("--list", "show_list", is_flag=True, help="Show the feeds and the choices of the cleaning, and end.")
@click.option("--json", "as_json", is_flag=True, help="End standard output with one JSON object.")
@quiet_option
@settings_options
def command(
    feed_name: str | None,
    inputs: tuple[str, ...],
    out: Path | None,
    append: bool,
    allow_empty: bool,
    exit_code: bool,
    mapping: Path | None,
    static: Path | None,
    domain: str | None,
    policies: tuple[str, ...],
    show_list: bool,
    as_json: bool,
    quiet: bool,
    settings_file: Path | None,
    master: str | None,
    conf: tuple[str, ...],
) -> None:
    """Read a feed into canonical positions, laid out by track: DIR/events, with DIR/rejected and DIR/quality.html.

    Every row that comes in is a position in DIR/events, a row in DIR/rejected with its reason and text, or a repeat in
    DIR/duplicates. Where most rows are rejected a warning says why and what the file looks like; where all are, the
    exit code is 1 (settings rejected.warn_share and rejected.fail_share).
    """

    if show_list:
        show_feeds()
        return
    if not inputs or out is None or not (feed_name or mapping):
        msg = "--from (or --mapping), --input and --out are needed."
        raise click.UsageError(msg)
    if allow_empty and not any("://" in given or _is_there(given) for given in inputs):
        _tell_empty(inputs, as_json)
        raise SystemExit(NOTHING_NEW if exit_code else 0)
    from dataclasses import asdict, replace
    from datetime import UTC, datetime

    from foresail.pipeline.jobs.ingest import ingest
    from foresail.pipeline.jobs.ingest_order import IngestOrder
    from foresail.pipeline.preflight import check_inputs, is_little
    from foresail.pipeline.progress import open_progress, write_summary
    from foresail.pipeline.runtime.session import running_spark
    from foresail.pipeline.sinks.output_folder import held_output
    from foresail.pipeline.sources.feeds import choose_feed
    from foresail.pipeline.stages.policy import parse_policy

    feed = choose_feed(feed_name, mapping)
    if domain:
        feed = replace(feed, domain=domain)  # type: ignore[arg-type]
    policy = parse_policy(policies)
    settings = settings_from(settings_file, master, conf)
    progress = open_progress(quiet)
    order = IngestOrder(feed, inputs, out, policy, datetime.now(UTC), append, static, settings.rejected.warn_share)
    check_inputs(inputs, static)
    with held_output(out, "ingest"), running_spark(settings, "foresail ingest", progress, is_little(inputs)) as spark:
        result = ingest(spark, order, progress)
    if as_json:
        write_summary(asdict(result))
    else:
        show_result(result, out)
    warn_of_rejected(result.warnings)
    if too_many_rejected(result.rejected_share, settings):
        raise SystemExit(FAILED)
    if exit_code and not result.files_read:
        raise SystemExit(NOTHING_NEW)


def _is_there(given: str) -> bool:
    path = Path(given)
    return path.exists() or any(path.parent.glob(path.name))


def _tell_empty(inputs: tuple[str, ...], as_json: bool) -> None:
    from foresail.pipeline.progress import write_summary

    click.echo(f"foresail: {', '.join(inputs)}: nothing came; nothing is changed", err=True)
    if as_json:
        nothing: dict[str, int] = dict.fromkeys(("rows_in", "rows_out", "rejected", "duplicates"), 0)
        write_summary({**nothing, "reasons": {}, "seconds": 0.0})


def show_feeds(console: Console | None = None) -> None:
    """Print every feed and every choice of the cleaning."""
    from foresail.pipeline.sources.feeds import FEEDS, MAPPED
    from foresail.pipeline.stages.policy import Policy

    console = console or Console()
    feeds = Table("feed", "what it reads", title="feeds (--from)", title_justify="left", box=None)
    for name, feed in FEEDS.items():
        feeds.add_row(name, feed.says)
    feeds.add_row(MAPPED, "any CSV, JSON or Parquet, with a --mapping of its columns")
    console.print(feeds)
    choices = Table("key", "default", "what it decides", title="\nchoices (--policy)", title_justify="left", box=None)
    for key, field in Policy.model_fields.items():
        choices.add_row(key, str(field.default), field.description)
    console.print(choices)


def show_result(result: "IngestResult", out: Path, console: Console | None = None) -> None:
    """Print the balance of the rows, why rows were set aside, and what was mended."""
    from foresail.pipeline.reports.page import count_of
    from foresail.pipeline.sources.repairs import REPAIRS
    from foresail.pipeline.stages.clean import REASONS
    from foresail.pipeline.stages.tracks import DUPLICATES

    console = console or Console()
    table = Table(
        "",
        "rows",
        "",
        title=f"{result.feed}: {count_of(len(result.files_read), 'file')}",
        title_justify="left",
        box=None,
    )
    table.columns[1].justify = "right"
    table.add_row("rows in", f"{result.rows_in:,}", "")
    table.add_row(
        "positions", f"{result.rows_out:,}", f"in {count_of(result.tracks, 'track')}, {result.rows_stored:,} in all"
    )
    table.add_row("rejected", f"{result.rejected:,}", "")
    for reason, rows in result.reasons.items():
        table.add_row(f"  {reason}", f"{rows:,}", REASONS.get(reason, ""))
    table.add_row("duplicates", f"{result.duplicates:,}", "")
    for kind, rows in result.duplicate_kinds.items():
        table.add_row(f"  {kind}", f"{rows:,}", DUPLICATES.get(kind, ""))
    table.add_row("out of order", f"{result.out_of_order:,}", "sorted by time")
    for kind, rows in result.repairs.items():
        table.add_row(f"  {kind}", f"{rows:,}", REPAIRS[kind])
    console.print(table)
    for note in notes_on(result):
        console.print(f"note: {note}", markup=False, highlight=False)
    console.print(f"{result.seconds:.1f} s; positions in {out}/events, report in {out}/quality.html", markup=False)


def notes_on(result: "IngestResult") -> list[str]:
    """What a user should know beyond the numbers."""
    notes = [f"{name} was taken in before and is skipped." for name in result.files_skipped]
    notes += [f"{name} is not of this feed: its lines are in rejected." for name in result.files_strange]
    notes += [f"{name} is damaged: read as far as it goes." for name in result.files_truncated]
    if result.files_read and not result.rows_in:
        notes.append("the input has no rows.")
    if result.repairs.get("time_from_file"):
        notes.append(
            f"{result.repairs['time_from_file']:,} messages carry no time and are dated from their file; "
            "give --policy received_at=TIME if you know better."
        )
    return notes
