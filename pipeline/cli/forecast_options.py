"""The options that train, forecast and evaluate share: which events, which patterns, which layers."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pipeline.errors import InputError

if TYPE_CHECKING:
    from patterns.catalog.loader import Catalog

Function = TypeVar("Function", bound=Callable[..., Any])


def input_options(function: Function) -> Function:
    """--events, --patterns, --domain, --layers, --types, --time-unit, --set."""
    for option in reversed(
        (
            click.option(
                "--events",
                multiple=True,
                required=True,
                help="CSV, JSON lines, Parquet, or a Spark table; repeatable.",
            ),
            click.option("--patterns", multiple=True, help="Catalog files or folders, or built-in names; repeatable."),
            click.option(
                "--domain", type=click.Choice(["maritime", "fleet"]), help="All built-in patterns of this domain."
            ),
            click.option(
                "--layers", type=click.Path(path_type=Path), help="The layers file that pattern families need."
            ),
            click.option("--types", help="Column types: a=string,b=double (string, double, long, boolean, timestamp)."),
            click.option(
                "--time-unit",
                type=click.Choice(["s", "ms", "us"]),
                help="Unit of epoch times; told from them if absent.",
            ),
            click.option(
                "--set", "sets", multiple=True, metavar="PATTERN.PARAMETER=VALUE", help="Use this value of a parameter."
            ),
        )
    ):
        function = option(function)
    return function


def catalog_of(patterns: tuple[str, ...], domain: str | None, sets: tuple[str, ...]) -> "Catalog":
    """The patterns that the options name."""
    from patterns.catalog.overrides import parse_override
    from pipeline.catalogs import catalog_named

    if not patterns and not domain:
        msg = "name what to forecast: --patterns PATH or --domain maritime."
        raise click.UsageError(msg)
    return catalog_named(patterns, domain, dict(map(parse_override, sets)))


def types_of(types: str | None) -> dict[str, str] | None:
    """The types of columns that --types names."""
    return dict(map(_type, types.split(","))) if types else None


def _type(entry: str) -> tuple[str, str]:
    name, sign, kind = entry.partition("=")
    if not sign or not name.strip():
        msg = f"--types {entry}: not of the form COLUMN=TYPE. Write for example --types code=string,depth=double."
        raise InputError(msg)
    return name.strip(), kind.strip()
