"""What `foresail ingest` prints: the feeds it knows, and what became of the rows."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from foresail.pipeline.jobs.ingest import IngestResult


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
    from foresail.pipeline.reports.words import count_of
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
