"""`foresail look`: what a file looks like, and the mapping by which `foresail ingest` reads it. Needs no Java."""

from pathlib import Path
from typing import Literal

import click

from foresail.pipeline.cli.faults import FAILED


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--mapping", "mapping_file", type=click.Path(path_type=Path), help="Write the mapping to this YAML file.")
@click.option("--force", is_flag=True, help="Replace the mapping file if it is there.")
@click.option("--domain", type=click.Choice(["maritime", "fleet"]), help="Vessels or vehicles, where no column tells.")
@click.option(
    "--day-first/--month-first",
    "day_first",
    default=True,
    help="How to read dates such as 03/04/2024 that may be both.",
)
@click.option("--json", "as_json", is_flag=True, help="End standard output with one line of JSON.")
def command(
    file: Path,
    mapping_file: Path | None,
    force: bool,
    domain: Literal["maritime", "fleet"] | None,
    day_first: bool,
    as_json: bool,
) -> None:
    """Say what FILE looks like: its form, its columns and units, ten rows as parsed, and what is doubtful.

    FILE is CSV with any delimiter, JSON messages, Parquet, NMEA or a known feed, also in gzip or zip. Only its first
    megabyte is read. The exit code is 1 where `foresail ingest` cannot read it as it is.
    """
    from foresail.pipeline.cli.look_tables import show_look, summary_of
    from foresail.pipeline.look import look_at
    from foresail.pipeline.progress import write_summary

    look = look_at(file, domain=domain, month_first=not day_first)
    written = _write(look.mapping_text, mapping_file, force, look.faults) if mapping_file else None
    if as_json:
        write_summary(summary_of(look, written))
    else:
        show_look(look, written)
    if not look.readable:
        raise SystemExit(FAILED)


def _write(text: str | None, file: Path, force: bool, faults: tuple[str, ...]) -> Path | None:
    """Write the mapping; another file of that name stays unless it may go."""
    from foresail.pipeline.errors import InputError, OutputError

    if text is None:
        msg = f"{file}: is not written, as there is no mapping ({'; '.join(faults) or 'the feed needs none'})."
        raise InputError(msg)
    if file.exists() and not force and file.read_text(encoding="utf-8", errors="replace") != text:
        msg = f"{file}: is there already. Name another file, or replace it with --force."
        raise OutputError(msg)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file
