"""`foresail new-pattern`: a commented entry to start from, with the columns of a file of events."""

from pathlib import Path

import click

from foresail.pipeline.cli.event_options import EventsGiven, event_options
from foresail.pipeline.errors import OutputError


@click.command("new-pattern")
@click.argument("name")
@event_options
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The file to write; NAME.yaml when not given.")
def command(name: str, events: EventsGiven, out: Path | None) -> None:
    """Write an entry for the pattern NAME to start from, with the columns of a file, and say how to try it."""
    from foresail.pipeline.runtime.light_start import start_light

    start_light()
    from foresail.pipeline.local.drafting import draft_entry
    from foresail.pipeline.local.trying import read_source

    file = out or Path(f"{name}.yaml")
    if file.exists():
        msg = f"{file}: is there already. Name another file with --out."
        raise OutputError(msg)
    text = draft_entry(name, read_source(events.source()).events)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"{file}: cannot be written ({error.strerror}). Choose another place."
        raise OutputError(msg) from None
    click.echo(f"{file}: written. Change it, and try it:")
    click.echo(f"  foresail try --patterns {file} {events.as_typed}")
