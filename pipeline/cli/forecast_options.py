"""What train, forecast and evaluate share: which events, patterns and layers, the settings, and a job on Spark."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from foresail.pipeline.cli.options import (
    output_options,
    overrides_of,
    settings_from,
    settings_options,
    time_unit_option,
    types_of,
)
from foresail.pipeline.progress import open_progress

if TYPE_CHECKING:
    from foresail.patterns.catalog.loader import Catalog
    from foresail.pipeline.settings import Settings

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Asked:
    """What the shared options say."""

    events: tuple[str, ...]
    patterns: tuple[str, ...]
    domain: str | None
    layers: Path | None
    types: str | None
    time_unit: str | None
    sets: tuple[str, ...]
    settings_file: Path | None
    master: str | None
    conf: tuple[str, ...]
    as_json: bool
    quiet: bool

    def settings(self) -> "Settings":
        """The settings with what the options change."""
        return settings_from(self.settings_file, self.master, self.conf)

    def input(self, settings: "Settings") -> dict[str, Any]:
        """The part of a request that says what is read."""
        return {
            "events": self.events,
            "catalog": catalog_of(self.patterns, self.domain, self.sets),
            "types": types_of(self.types),
            "time_unit": self.time_unit,
            "layers": self.layers,
            "layer_cache": settings.layers.directory,
            "skip_unfit": not self.patterns,
        }

    def run(
        self,
        name: str,
        settings: "Settings",
        job: Callable[..., dict[str, Any]],
        request: Any,
        out: Path | None = None,
    ) -> dict[str, Any]:
        """The summary of a job on a Spark of its own, which alone writes to `out`."""
        from foresail.pipeline.jobs.enrich import events_folder
        from foresail.pipeline.preflight import check_request
        from foresail.pipeline.runtime.session import running_spark
        from foresail.pipeline.sinks.holding import held_output

        paths = [events_folder(path) for path in request.events]
        check_request(paths, request.catalog, request.layers, must_fit=not request.skip_unfit)
        progress = open_progress(self.quiet)
        with (
            held_output(out, name) if out else nullcontext(),
            running_spark(settings, f"foresail {name}", progress) as spark,
        ):
            return job(spark, request, progress)


def shared_options(function: Function) -> Callable[..., Any]:
    """Add the shared options; the command receives them together as `asked`."""

    @wraps(function)
    def command(**options: Any) -> Any:
        shared = {field.name: options.pop(field.name) for field in fields(Asked)}
        return function(asked=Asked(**shared), **options)

    return _input_options(settings_options(output_options(command)))


def _input_options(function: Function) -> Function:
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
            time_unit_option,
            click.option(
                "--set", "sets", multiple=True, metavar="PATTERN.PARAMETER=VALUE", help="Use this value of a parameter."
            ),
        )
    ):
        function = option(function)
    return function


def per_option(function: Function) -> Function:
    """--per, of train and evaluate."""
    return click.option(
        "--per",
        metavar="ATTRIBUTE",
        help="Also a model for each value of this attribute of tracks, such as vessel_type, or for each `track`.",
    )(function)


def catalog_of(patterns: tuple[str, ...], domain: str | None, sets: tuple[str, ...]) -> "Catalog":
    """The patterns that the options name."""
    from foresail.pipeline.catalogs import catalog_named

    if not patterns and not domain:
        msg = "name what to forecast: --patterns PATH or --domain maritime."
        raise click.UsageError(msg)
    return catalog_named(patterns, domain, overrides_of(sets))
