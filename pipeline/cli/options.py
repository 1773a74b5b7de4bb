"""Options that many commands share, and what they turn into.

What train, forecast and evaluate share: which events, patterns and layers, the settings, and a job on Spark.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from foresail.pipeline.cli.faults import FAILED
from foresail.pipeline.cli.groups import quiet_option
from foresail.pipeline.errors import OptionError
from foresail.pipeline.progress import open_progress

if TYPE_CHECKING:
    from foresail.patterns.catalog.loader import Catalog
    from foresail.pipeline.settings import Settings


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


def engine_option(command: Command) -> Command:
    """Add --engine, of the commands that need no Spark."""
    return click.option(
        "--engine", type=click.Choice(["spark", "local"]), help="local: plain processes of this machine, without Java."
    )(command)


def time_unit_option(command: Command) -> Command:
    """Add --time-unit, of every command that reads tables."""
    return click.option(
        "--time-unit", type=click.Choice(["s", "ms", "us", "ns"]), help="Unit of epoch times; told from them if absent."
    )(command)


def settings_from(settings_file: Path | None, master: str | None = None, conf: tuple[str, ...] = ()) -> "Settings":
    """The settings that these options, the environment and the file give together."""
    from foresail.pipeline.settings import read_settings

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


def rejected_warning(
    good: int, rejected: int, paths: Sequence[str], where: Path, settings: "Settings"
) -> dict[str, Any]:
    """What the summary of a job on tables says of rejected rows, once the user has been warned where they are many."""
    from foresail.pipeline.quality.measure import table_warning

    rows = good + rejected
    return _warned(rows, rejected, settings, lambda: table_warning(rows, rejected, paths, str(where)))


def reasons_warning(summary: Mapping[str, Any], paths: Sequence[str], settings: "Settings") -> dict[str, Any]:
    """The same of a job that writes no rejected rows, but whose summary says why they were rejected."""
    from foresail.pipeline.quality.measure import reasons_warning

    return _warned(summary["rows_read"], summary["rejected"], settings, lambda: reasons_warning(summary, paths))


def _warned(rows: int, rejected: int, settings: "Settings", warning: Callable[[], str]) -> dict[str, Any]:
    share = rejected / rows if rows else 0.0
    warnings = [warning()] if rejected and share >= settings.rejected.warn_share else []
    warn_of_rejected(warnings)
    return {"rejected_share": round(share, 4), "rejected_warnings": warnings}


def end_failed_if_rejected(summary: Mapping[str, Any], settings: "Settings") -> None:
    """End with exit code 1 where too large a share of the rows was rejected."""
    if too_many_rejected(summary.get("rejected_share", 0.0), settings):
        raise SystemExit(FAILED)


def too_many_rejected(share: float, settings: "Settings") -> bool:
    """Whether so large a share of the rows was rejected that the job counts as failed."""
    limit = settings.rejected.fail_share
    return limit is not None and share >= limit


def types_of(types: str | None) -> dict[str, str] | None:
    """The types of columns that --types names."""
    return dict(map(_type, types.split(","))) if types else None


def overrides_of(sets: tuple[str, ...]) -> dict[str, str]:
    """The values of parameters that --set gives."""
    from foresail.patterns.catalog.loader import parse_override
    from foresail.patterns.catalog.nodes import CatalogError

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


Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class SharedOptions:
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
        from foresail.pipeline.preflight import check_request
        from foresail.pipeline.runtime.session import running_spark
        from foresail.pipeline.sinks.output_folder import held_output
        from foresail.pipeline.sources.parquet_files import events_folder

        paths = [events_folder(path) for path in request.events]
        check_request(paths, request.catalog, request.layers, must_fit=not request.skip_unfit)
        progress = open_progress(self.quiet)
        with (
            held_output(out, name) if out else nullcontext(),
            running_spark(settings, f"foresail {name}", progress) as spark,
        ):
            summary = job(spark, request, progress)
        return summary | reasons_warning(summary, paths, settings) if "rows_read" in summary else summary

    def run_here(
        self, name: str, settings: "Settings", job: Callable[..., dict[str, Any]], request: Any, out: Path
    ) -> dict[str, Any]:
        """The summary of a job in plain processes of this machine, which alone writes to `out`."""
        from foresail.pipeline.runtime.light_start import start_light
        from foresail.pipeline.sinks.output_folder import held_output

        if self.master:
            msg = "--master: names a Spark. Leave --engine local out, or the option."
            raise OptionError(msg)
        start_light()
        with held_output(out, name):
            summary = job(request, open_progress(self.quiet))
        return summary | reasons_warning(summary, list(request.events), settings)


def shared_options(function: Function) -> Callable[..., Any]:
    """Add the shared options; the command receives them together as `asked`."""

    @wraps(function)
    def command(**options: Any) -> Any:
        shared = {field.name: options.pop(field.name) for field in fields(SharedOptions)}
        return function(asked=SharedOptions(**shared), **options)

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
