"""Options that many commands share, and what they turn into."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from foresail.pipeline.cli.groups import quiet_option
from foresail.pipeline.errors import OptionError
from foresail.pipeline.settings import Settings, read_settings

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


def warn_of_rejected(warnings: Iterable[str]) -> None:
    """Say on standard error, also to a quiet user, that most rows were set aside."""
    for warning in warnings:
        click.secho(f"foresail: WARNING: {warning}", fg="red", bold=True, err=True)


def told_of_rejected(good: int, rejected: int, paths: Sequence[str], where: Path, settings: Settings) -> dict[str, Any]:
    """What the summary of a job on tables says of rejected rows, once the user has been warned where they are many."""
    rows = good + rejected
    share = rejected / rows if rows else 0.0
    warnings: list[str] = []
    if rejected and share >= settings.rejected.warn_share:
        from foresail.pipeline.quality.rejection import table_warning

        warnings.append(table_warning(rows, rejected, paths, str(where)))
    warn_of_rejected(warnings)
    return {"rejected_share": round(share, 4), "rejected_warnings": warnings}


def too_many_rejected(share: float, settings: Settings) -> bool:
    """Whether so large a share of the rows was rejected that the job counts as failed."""
    limit = settings.rejected.fail_share
    return limit is not None and share >= limit


def types_of(types: str | None) -> dict[str, str] | None:
    """The types of columns that --types names."""
    return dict(map(_type, types.split(","))) if types else None


def overrides_of(sets: tuple[str, ...]) -> dict[str, str]:
    """The values of parameters that --set gives."""
    from foresail.patterns.catalog.nodes import CatalogError
    from foresail.patterns.catalog.overrides import parse_override

    try:
        return dict(map(parse_override, sets))
    except CatalogError as error:
        raise OptionError(str(error)) from None


def _type(entry: str) -> tuple[str, str]:
    from foresail.patterns.errors import nearest
    from foresail.pipeline.sources.table import TYPES

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
