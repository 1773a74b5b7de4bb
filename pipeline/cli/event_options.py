"""The options of commands that look at events in this process: which patterns, which file, what its columns mean."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from foresail.pipeline.cli.options import overrides_of, time_unit_option, types_of

if TYPE_CHECKING:
    from foresail.patterns.catalog.loader import Catalog
    from foresail.pipeline.local.trying import EventSource

Command = TypeVar("Command", bound=Callable[..., Any])
UNNAMED = "pattern"
"""What a pattern of the command line is called."""


@dataclass(frozen=True, slots=True)
class PatternsGiven:
    """Patterns as the command line names them."""

    names: tuple[str, ...]
    domain: str | None
    texts: tuple[str, ...]
    where: tuple[str, ...]
    rules: dict[str, str | None]
    layers: Path | None
    sets: tuple[str, ...]

    @property
    def by_name(self) -> bool:
        """Whether each pattern was asked for by name, so that one that does not fit is an error."""
        return bool(self.names or self.texts)

    @property
    def files(self) -> list[Path]:
        """The files among them."""
        return [Path(name) for name in self.names if Path(name).exists()]

    def check(self) -> None:
        """Wrong usage where nothing is named."""
        if not self.names and not self.domain and not self.texts:
            msg = "name what to look for: --patterns FILE, --domain maritime, or --pattern TEXT --where 'NAME: TEXT'."
            raise click.UsageError(msg)

    def catalog(self, languages: bool = False) -> "Catalog":
        """The patterns, read anew; entries in other languages only where they can be run."""
        from foresail.patterns.catalog.loader import Catalog
        from foresail.pipeline.catalogs import catalog_named

        named = Catalog(())
        if self.names or self.domain:
            named = catalog_named(self.names, self.domain, overrides_of(self.sets), languages)
        return Catalog((*named.entries, *self._written()), named.others)

    def _written(self) -> list[Any]:
        if not self.texts:
            return []
        from foresail.pipeline.api.patterns import pattern

        where = dict(_condition(text) for text in self.where)
        names = [UNNAMED] if len(self.texts) == 1 else [f"{UNNAMED}_{n}" for n in range(1, len(self.texts) + 1)]
        used = [{name: text for name, text in where.items() if name in written} for written in self.texts]
        return [
            pattern(name, text, mine, **self.rules) for name, text, mine in zip(names, self.texts, used, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class EventsGiven:
    """Events as the command line names them."""

    paths: tuple[str, ...]
    track_column: str
    time_column: str
    types: str | None
    time_unit: str | None

    @property
    def files(self) -> list[Path]:
        """The files among them."""
        return [Path(path) for path in self.paths if path != "-"]

    @property
    def as_typed(self) -> str:
        """The option again."""
        return " ".join(f"--events {path}" for path in self.paths)

    def source(self) -> "EventSource":
        """What is to be read."""
        from foresail.pipeline.local.sorted_events import Named
        from foresail.pipeline.local.trying import EventSource

        named = Named(self.track_column, self.time_column, self.time_unit)
        return EventSource(self.paths, named, types_of(self.types) or {})


def pattern_options(command: Command) -> Command:
    """Add the options that name patterns; the command receives them as `patterns`."""

    def gathered(
        patterns: tuple[str, ...],
        domain: str | None,
        texts: tuple[str, ...],
        where: tuple[str, ...],
        window: str | None,
        max_gap: str | None,
        report: str | None,
        layers: Path | None,
        sets: tuple[str, ...],
        **rest: Any,
    ) -> Any:
        rules = {"window": window, "max_gap": max_gap, "report": report}
        return command(patterns=PatternsGiven(patterns, domain, texts, where, rules, layers, sets), **rest)

    return _with_options(
        command,
        gathered,
        click.option("--patterns", multiple=True, help="Catalog files or folders, or built-in names; repeatable."),
        click.option(
            "--domain", type=click.Choice(["maritime", "fleet"]), help="All built-in patterns of this domain."
        ),
        click.option(
            "--pattern", "texts", multiple=True, metavar="TEXT", help="A pattern, as in 'slow{3,}'; repeatable."
        ),
        click.option("--where", multiple=True, metavar="NAME: TEXT", help="A condition of it, 'slow: speed_kn < 1'."),
        click.option("--window", help="The longest a match of it may span: 2h, 30min, 100 events."),
        click.option("--max-gap", help="A longer silence of the track ends its runs: 30min."),
        click.option("--report", type=click.Choice(["each", "episodes"]), help="Each detection of it, or episodes."),
        click.option("--layers", type=click.Path(path_type=Path), help="The layers file that pattern families need."),
        click.option("--set", "sets", multiple=True, metavar="PATTERN.PARAMETER=VALUE", help="A value of a parameter."),
    )


def event_options(command: Command) -> Command:
    """Add the options that name events; the command receives them as `events`."""

    def gathered(
        events: tuple[str, ...],
        track_column: str,
        time_column: str,
        types: str | None,
        time_unit: str | None,
        **rest: Any,
    ) -> Any:
        return command(events=EventsGiven(events, track_column, time_column, types, time_unit), **rest)

    return _with_options(
        command,
        gathered,
        click.option("--events", multiple=True, required=True, help="CSV, JSON lines or Parquet; - is standard input."),
        click.option("--track-column", default="track", show_default=True, help="What the file calls the track."),
        click.option("--time-column", default="time", show_default=True, help="What the file calls the time."),
        click.option("--types", help="Types of columns: a=string,b=double (string, double, long, boolean, timestamp)."),
        time_unit_option,
    )


def _with_options(command: Command, gathered: Any, *options: Callable[[Any], Any]) -> Command:
    """`gathered` in the place of the command, with its help and the options that it has so far."""
    gathered.__name__, gathered.__doc__ = command.__name__, command.__doc__
    gathered.__click_params__ = list(getattr(command, "__click_params__", ()))
    for option in reversed(options):
        gathered = option(gathered)
    offered: Command = gathered
    return offered


def _condition(text: str) -> tuple[str, str]:
    name, sign, condition = text.partition(":")
    if not sign or not name.strip().isidentifier():
        from foresail.pipeline.errors import OptionError

        msg = f"--where '{text}': not of the form NAME: CONDITION. Write --where 'slow: speed_kn < 1'."
        raise OptionError(msg)
    return name.strip(), condition.strip()
