"""Values that a user sets from outside: `trawling.max_speed_kn=8` in place of the catalog's own."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from pydantic import ValidationError

from foresail.patterns.catalog.entry import Parameter, PatternEntry, did_you_mean
from foresail.patterns.catalog.nodes import CatalogError

SETTABLE = ("window", "max_gap", "min_dwell")
"""Fields of an entry, beside its parameters, that may be set; `none` takes them away."""


def parse_override(text: str) -> tuple[str, str]:
    """`pattern.parameter=value` as the name and the value."""
    name, sign, value = text.partition("=")
    if not sign or "." not in name or not value.strip():
        msg = f"--set {text}: not an override. Write pattern.parameter=value, such as trawling.max_speed_kn=8."
        raise CatalogError(msg)
    return name.strip(), value.strip()


def apply_overrides(entries: Sequence[PatternEntry], overrides: Mapping[str, Any]) -> tuple[PatternEntry, ...]:
    """The entries with these values in place; each value is read as the type of the one it replaces."""
    by_name = {entry.name: entry for entry in entries}
    for key, value in overrides.items():
        name, _, parameter = key.partition(".")
        if name not in by_name:
            msg = f"{key}={value}: unknown pattern '{name}'. {did_you_mean(name, by_name)}"
            raise CatalogError(msg)
        by_name[name] = _override(by_name[name], parameter, value, said=f"{key}={value}")
    return tuple(by_name.values())


def _override(entry: PatternEntry, parameter: str, value: Any, said: str) -> PatternEntry:
    if parameter in entry.parameters:
        typed = _like(entry.parameters[parameter], value, said)
        return entry.with_values(parameters={**entry.parameters, parameter: typed})
    if parameter not in SETTABLE:
        known = [*entry.parameters, *SETTABLE]
        msg = f"{said}: pattern '{entry.name}' has no parameter '{parameter}'. {did_you_mean(parameter, known)}"
        raise CatalogError(msg)
    try:
        return entry.with_values(**{parameter: None if str(value).lower() in ("none", "null", "never") else str(value)})
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        msg = f"{said}: {fault}"
        raise CatalogError(msg) from None


def _like(default: Parameter, value: Any, said: str) -> Parameter:
    """The value as the type of the default: a threshold stays a number, a switch stays a switch."""
    text = str(value).strip()
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            msg = f"{said}: '{text}' is neither true nor false. Write one of the two."
            raise CatalogError(msg)
        return text.lower() == "true"
    if isinstance(default, str):
        return text
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        msg = f"{said}: '{text}' is not a number. Write one such as {default}."
        raise CatalogError(msg)
    return int(number) if number.is_integer() and "." not in text else number
