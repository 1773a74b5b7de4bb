"""Options that many commands share, and what they turn into."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from pipeline.errors import SettingsError
from pipeline.settings import Settings, read_settings

Command = TypeVar("Command", bound=Callable[..., Any])


def settings_options(command: Command) -> Command:
    """Add --settings, --master and --conf; the command receives them as `settings_file`, `master`, `conf`."""
    for option in (
        click.option("--conf", multiple=True, metavar="KEY=VALUE", help="Further Spark configuration; repeatable."),
        click.option("--master", help="Where Spark runs; local[2] when not given."),
        click.option("--settings", "settings_file", type=click.Path(path_type=Path), help="A YAML file of settings."),
    ):
        command = option(command)
    return command


def output_options(command: Command) -> Command:
    """Add --json and --quiet; the command receives them as `as_json` and `quiet`."""
    for option in (
        click.option("--quiet", "-q", is_flag=True, help="Show no progress."),
        click.option("--json", "as_json", is_flag=True, help="End standard output with one line of JSON."),
    ):
        command = option(command)
    return command


def time_unit_option(command: Command) -> Command:
    """Add --time-unit, of every command that reads tables."""
    return click.option(
        "--time-unit", type=click.Choice(["s", "ms", "us", "ns"]), help="Unit of epoch times; told from them if absent."
    )(command)


def settings_from(settings_file: Path | None, master: str | None = None, conf: tuple[str, ...] = ()) -> Settings:
    """The settings that these options, the environment and the file give together."""
    settings = read_settings(settings_file, options={"spark.master": master})
    if not conf:
        return settings
    further = dict(_pair(entry) for entry in conf)
    spark = settings.spark.model_copy(update={"conf": {**settings.spark.conf, **further}})
    return settings.model_copy(update={"spark": spark})


def _pair(entry: str) -> tuple[str, str]:
    key, sign, value = entry.partition("=")
    if not sign or not key.startswith("spark."):
        msg = f"--conf {entry}: not a Spark setting. Write --conf spark.some.key=value."
        raise SettingsError(msg)
    return key, value
