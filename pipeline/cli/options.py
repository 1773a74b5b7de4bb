"""Options that many commands share, and what they turn into."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from pipeline.cli.groups import quiet_option
from pipeline.errors import OptionError
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
        quiet_option,
        click.option("--json", "as_json", is_flag=True, help="End standard output with one line of JSON."),
    ):
        command = option(command)
    return command


def settings_from(settings_file: Path | None, master: str | None = None, conf: tuple[str, ...] = ()) -> Settings:
    """The settings that these options, the environment and the file give together."""
    settings = read_settings(settings_file, options={"spark.master": master})
    if not conf:
        return settings
    further = dict(_pair(entry) for entry in conf)
    spark = settings.spark.model_copy(update={"conf": {**settings.spark.conf, **further}})
    return settings.model_copy(update={"spark": spark})


def types_of(types: str | None) -> dict[str, str] | None:
    """The types of columns that --types names."""
    return dict(map(_type, types.split(","))) if types else None


def overrides_of(sets: tuple[str, ...]) -> dict[str, str]:
    """The values of parameters that --set gives."""
    from patterns.catalog.nodes import CatalogError
    from patterns.catalog.overrides import parse_override

    try:
        return dict(map(parse_override, sets))
    except CatalogError as error:
        raise OptionError(str(error)) from None


def _type(entry: str) -> tuple[str, str]:
    from patterns.errors import nearest
    from pipeline.sources.table import TYPES

    name, sign, kind = (part.strip() for part in entry.partition("="))
    if not sign or not name:
        msg = f"--types {entry}: not of the form COLUMN=TYPE. Write for example --types code=string,depth=double."
        raise OptionError(msg)
    if kind not in TYPES:
        msg = f"--types {name}={kind}: unknown type. {nearest(kind, TYPES)}Types: {', '.join(TYPES)}."
        raise OptionError(msg)
    return name, kind


def _pair(entry: str) -> tuple[str, str]:
    key, sign, value = entry.partition("=")
    if not sign or not key.startswith("spark."):
        msg = f"--conf {entry}: not a Spark setting. Write --conf spark.some.key=value."
        raise OptionError(msg)
    return key, value
