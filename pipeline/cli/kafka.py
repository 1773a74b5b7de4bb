"""`foresail kafka`: a real single-node broker for development and tests."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from foresail.pipeline.cli.groups import Commands, quiet_option
from foresail.pipeline.cli.options import settings_from
from foresail.pipeline.progress import open_progress, write_summary

Command = TypeVar("Command", bound=Callable[..., Any])


def _place_options(command: Command) -> Command:
    for option in (
        click.option("--settings", "settings_file", type=click.Path(path_type=Path), help="A YAML file of settings."),
        click.option("--json", "as_json", is_flag=True, help="End standard output with one line of JSON."),
        click.option(
            "--dir", "directory", type=click.Path(path_type=Path), help="Its folder; kafka.directory if not given."
        ),
    ):
        command = option(command)
    return command


@click.group(cls=Commands)
def command() -> None:
    """A real single-node Kafka broker (KRaft) on the loopback address, for development and tests."""


@command.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Port for clients; kafka.port if not given.")
@_place_options
@quiet_option
def start(port: int | None, directory: Path | None, as_json: bool, settings_file: Path | None, quiet: bool) -> None:
    """Start the broker in the background; it is ready when the command returns."""
    from foresail.pipeline.kafka import start_broker

    settings = settings_from(settings_file)
    status = start_broker(
        directory or settings.kafka.directory,
        port or settings.kafka.port,
        settings.jars.directory,
        open_progress(quiet),
    )
    _tell(as_json, status.summary, f"Kafka runs at {status.address} (process {status.pid}, folder {status.directory})")


@command.command()
@_place_options
@quiet_option
def stop(directory: Path | None, as_json: bool, settings_file: Path | None, quiet: bool) -> None:
    """Stop the broker; its topics and records are kept for the next start."""
    from foresail.pipeline.kafka import status_of, stop_broker

    directory = directory or settings_from(settings_file).kafka.directory
    with open_progress(quiet).step("stopping Kafka"):
        was = stop_broker(directory)
    _tell(as_json, status_of(directory).summary, f"Kafka (process {was.pid}) has stopped")


@command.command()
@_place_options
def status(directory: Path | None, as_json: bool, settings_file: Path | None) -> None:
    """Tell whether the broker runs, and where; exit code 1 when it does not."""
    from foresail.pipeline.kafka import status_of

    now = status_of(directory or settings_from(settings_file).kafka.directory)
    if now.running:
        sentence = f"Kafka runs at {now.address} (process {now.pid}, folder {now.directory})"
    else:
        sentence = f"Kafka does not run in {now.directory}" + (" (its pid file is stale)" if now.stale else "")
    _tell(as_json, now.summary, sentence)
    sys.exit(0 if now.running else 1)


def _tell(as_json: bool, summary: dict[str, object], sentence: str) -> None:
    if as_json:
        write_summary(summary)
    else:
        click.echo(sentence)
