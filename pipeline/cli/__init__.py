"""The command `foresail`. Each subcommand lives in a file of its own, imported only when it is called."""

import logging
import sys
from importlib import import_module

import click

from foresail.pipeline.cli.faults import FAILED, INTERRUPTED, sentence_of, show_log_lines
from foresail.pipeline.cli.groups import Commands, with_quiet
from foresail.pipeline.runtime.interruption import has_been_interrupted, notice_interruption

COMMANDS = {
    "demo": "The main job on simulated data, with embedded defaults.",
    "doctor": "Check this machine: Java, Spark, Sedona, Kafka, disk, memory.",
    "simulate": "A simulated fleet with a table of what is true of it.",
    "look": "What a file looks like: form, columns, units, doubts; writes a mapping for ingest.",
    "ingest": "Read a feed into canonical positions, laid out by track; nothing is lost.",
    "enrich": "Add what layers say of each position: zones, nearest features, distances.",
    "new-pattern": "An entry to start from, with the columns of a file of events.",
    "try": "Find patterns in a file of events, here and now: no Java, an answer in about a second.",
    "why": "Why a pattern matched on a track, or did not: event by event.",
    "recognise": "Find the patterns of a catalog in any table of events.",
    "train": "Learn from events when patterns come: one model per pattern.",
    "forecast": "Say for every event how soon a pattern will come.",
    "evaluate": "Judge forecasts on held-out events, next to simpler and other models.",
    "stream": "The live line: recognise, forecast and alert on events as they come.",
    "console": "The live map of a line as a web page: tracks, alerts, forecasts, what was done.",
    "replay": "A recorded stream into Kafka, at a multiple of real time or as fast as possible.",
    "configure": "Turn a knob of a running line: threshold, order, patterns on and off.",
    "catalog": "The catalog of patterns: list, show, check, draw, import.",
    "models": "The model store: list, show, compare, promote, rollback, prune.",
    "airflow": "The schedules for Apache Airflow: where they lie.",
    "kafka": "A single-node Kafka broker for development: start, stop, status.",
    "kernels": "Compile the recognition kernels for this machine, once.",
    "jars": "Fetch the jars that Spark needs, once.",
}
MODULES = {"new-pattern": "new_pattern", "try": "try_patterns"}
"""The files of commands whose names are none for a module."""


class LazyCommands(Commands):
    """Knows its commands by name; loads one when it is called, so that --help does not import Spark."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Every command, in the order of the line of data."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        module = MODULES.get(cmd_name, cmd_name)
        command: click.Command = import_module(f"foresail.pipeline.cli.{module}").command
        return with_quiet(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands for --help, from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="foresail")
@click.option("--verbose", "-v", is_flag=True, help="Show log lines, and the whole trace of a fault.")
def foresail(verbose: bool) -> None:
    """Foresail recognises and forecasts complex events in the tracks of vessels and vehicles, on Spark."""
    show_log_lines(verbose)


def main() -> None:
    """Run the command; a fault the user can mend is one line and exit code 1 or 2, an interruption is quiet."""
    notice_interruption()
    try:
        code = foresail.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except Exception as error:
        if has_been_interrupted():
            sys.exit(INTERRUPTED)
        sentence = sentence_of(error)
        if sentence is None or logging.getLogger("foresail").isEnabledFor(logging.INFO):
            raise
        click.echo(f"foresail: {sentence}", err=True)
        sys.exit(getattr(error, "exit_code", FAILED))
    sys.exit(code if isinstance(code, int) else 0)
