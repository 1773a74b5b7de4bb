"""The options of a query, where the publication leaves a choice or contradicts itself; first values are defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_type_hints

from foresail.patterns.errors import PatternError, nearest


@dataclass(frozen=True, slots=True)
class Options:
    """How a query is read."""

    windows: Literal["tumbling", "per_run"] = "tumbling"
    """Windows side by side from `start`, or one that begins with each run."""
    start_us: int | None = None
    """When the query was issued; the first event if None."""
    kleene: Literal["last", "formal"] = "last"
    """Variables of an iteration: those of the last one, or all iterations must agree."""
    stn: Literal["set", "per_mapping"] = "set"
    """What an event that joins one mapping of a run takes from skip-till-next: the whole run, or that mapping."""
    distinct: Literal["trace", "bindings"] = "trace"
    """Results that differ in their events are two, or one where time and bindings are equal."""
    half_open: bool = False
    """A window without its last instant."""
    merge_same_tau: bool = False
    """A second graph of a stream at one instant is merged with the first instead of rejected."""


NAMES = tuple(field.name for field in fields(Options) if field.name != "start_us")
_CHOICES = {name: get_args(hint) for name, hint in get_type_hints(Options).items() if name != "start_us"}


def options_of(said: Mapping[str, Any], where: str, start_us: int | None = None) -> Options:
    """The options of an entry; `where` names it in errors."""
    for name, value in said.items():
        if name not in NAMES:
            msg = f"{where}: unknown option '{name}'. {nearest(name, NAMES)}Known options: {', '.join(NAMES)}."
            raise PatternError(msg)
        allowed = _CHOICES[name] or (False, True)
        if not any(value is one or (isinstance(one, str) and value == one) for one in allowed):
            listed = " or ".join(str(one).lower() for one in allowed)
            msg = f"{where}: {name} cannot be '{value}'. Write {listed}."
            raise PatternError(msg)
    return Options(start_us=start_us, **said)
