"""`foresail look`: what a file looks like, and the mapping by which `foresail ingest` reads it. Needs no Java.

What `foresail look` prints: for people as tables, for programs as one object.
"""

import shlex
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import click
from rich.console import Console
from rich.table import Table

from foresail.pipeline.cli.faults import FAILED
from foresail.pipeline.look import Look


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


CELL_WIDTH = 28


def summary_of(look: Look, mapping_file: Path | None = None) -> dict[str, Any]:
    """The look as JSON can hold it."""
    head, table = look.head, look.table
    return {
        "file": str(head.path),
        "size_bytes": head.size_bytes,
        "bytes_looked_at": len(head.data),
        "whole": head.whole,
        "packed": list(head.packed),
        "member": head.member,
        "members": len(head.members),
        "files": head.files,
        "kind": look.kind,
        "says": look.says,
        "encoding": look.encoding,
        "delimiter": table.delimiter if table else None,
        "decimal": look.decimal,
        "header": table.header if table else None,
        "rows_looked_at": len(table.rows) if table else len(look.rows),
        "from": look.feed,
        "readable": look.readable,
        "domain": look.domain,
        "columns": [asdict(column) for column in look.columns],
        "rows": [{name: _plain(value) for name, value in row.items()} for row in look.rows],
        "lacking": list(look.lacking),
        "doubts": list(look.doubts),
        "faults": list(look.faults),
        "mapping": look.mapping,
        "mapping_file": str(mapping_file) if mapping_file else None,
        "next": next_command(look, mapping_file),
    }


def next_command(look: Look, mapping_file: Path | None = None) -> str | None:
    """The command that reads the file, as it can be typed."""
    if not look.readable or look.feed is None:
        return None
    mapped = look.feed == "mapped"
    name = (look.mapping or {}).get("name", look.head.path.name.partition(".")[0])
    feed = str(mapping_file or f"{name}.yaml") if mapped else look.feed
    place = shlex.quote(str(look.head.path))
    return f"foresail ingest --from {shlex.quote(feed)} --input {place} --out out/{name}/positions"


def show_look(look: Look, mapping_file: Path | None = None, console: Console | None = None) -> None:
    """Print the form, the columns, the rows, the doubts, the mapping and the next command."""
    console = console or Console()
    say = _sayer(console)
    say(f"{look.head.path}: {look.says}{_packing(look)}, {look.encoding or 'binary'}; {_extent(look)}")
    if look.feed and look.feed != "mapped":
        say(f"a known feed: --from {look.feed}; the rows below are parsed by the names of its columns alone")
    if look.columns:
        console.print(_columns(look))
    if look.rows:
        console.print(_rows(look))
    for fault in look.faults:
        say(f"cannot be read as it is: {fault}")
    for doubt in look.doubts:
        say(f"unsure: {doubt}")
    if look.mapping_text and look.feed in (None, "mapped") and mapping_file is None:
        say(f"\nthe mapping (--mapping FILE writes it):\n\n{look.mapping_text.rstrip()}")
    if mapping_file:
        say(f"\nthe mapping is in {mapping_file}")
    command = next_command(look, mapping_file)
    if command:
        say(f"\nnext: {command}")


def _sayer(console: Console) -> Any:
    return lambda text: console.print(text, markup=False, highlight=False, soft_wrap=True)


def _packing(look: Look) -> str:
    inside = f" in {' in '.join(reversed(look.head.packed))}" if look.head.packed else ""
    many = len(look.head.members)
    member = f" ({look.head.member}, the largest of {many} files inside)" if many > 1 else ""
    folder = f" (the first of {look.head.files} files)" if look.head.files > 1 else ""
    return inside + member + folder


def _extent(look: Look) -> str:
    rows = f"{len(look.table.rows):,} rows, " if look.table else ""
    how_much = "all of it" if look.head.whole else f"the first {len(look.head.data):,} bytes"
    return f"looked at {rows}{how_much}"


def _columns(look: Look) -> Table:
    shown = Table("column", "is", "type", "unit or format", "filled", "for example", box=None, title_justify="left")
    shown.columns[-1].no_wrap = True  # what is cut there is only an example
    for column in look.columns:
        shown.add_row(
            column.name,
            column.role or "-",
            column.type,
            column.format or column.unit or "",
            f"{column.filled:.0%}",
            _cut(", ".join(column.examples)),
        )
    return shown


def _rows(look: Look) -> Table:
    names = list(look.rows[0])
    shown = Table(*names, box=None, title="\nfirst rows as parsed", title_justify="left")
    for row in look.rows:
        shown.add_row(*("" if row.get(name) is None else _cut(str(_plain(row[name]))) for name in names))
    return shown


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return round(value, 6) if isinstance(value, float) else value


def _cut(text: str) -> str:
    return text if len(text) <= CELL_WIDTH else f"{text[: CELL_WIDTH - 1]}…"
