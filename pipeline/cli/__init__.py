"""The command `foresail`. Each subcommand lives in a file of its own, imported only when it is called."""

import sys
from importlib import import_module

import click

from patterns.errors import PatternError
from pipeline.errors import PipelineError

COMMANDS = {
    "demo": "The main job on simulated data, with embedded defaults.",
    "ingest": "Read a feed into canonical positions, laid out by track; nothing is lost.",
    "enrich": "Add what layers say of each position: zones, nearest features, distances.",
    "recognise": "Find the patterns of a catalog in any table of events.",
    "catalog": "The catalog of patterns: list, show, check, draw, import.",
    "jars": "Fetch the jars that Spark needs, once.",
}


class LazyCommands(click.Group):
    """Knows its commands by name; loads one when it is called, so that --help does not import Spark."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Every command, in the order of the line of data."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"pipeline.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands for --help, from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="foresail")
def foresail() -> None:
    """Foresail recognises and forecasts complex events in the tracks of vessels and vehicles, on Spark."""


def main() -> None:
    """Run the command; a fault the user can mend is one line and exit code 1."""
    try:
        foresail()
    except (PipelineError, PatternError) as error:
        click.echo(f"foresail: {error}", err=True)
        sys.exit(1)
