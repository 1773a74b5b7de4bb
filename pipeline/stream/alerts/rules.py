"""When a match or a forecast of each pattern becomes an alert: as the catalog says, else as the settings say."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from foresail.models.model import Emission
from foresail.patterns.catalog.entry import Alert, PatternEntry
from foresail.patterns.durations import parse_duration
from foresail.pipeline.stream.alerts.kernel import FOREVER_US, Limits

MATCH, FORECAST, MODEL_DEGRADED = "match", "forecast", "model_degraded"
KINDS = (MATCH, FORECAST)
"""The kinds that are made of rows; a rule stands at the place `2 * pattern + kind`."""


class AlertChoices(Protocol):
    """What the settings decide; `foresail.pipeline.settings.AlertSettings` is one."""

    @property
    def raise_events(self) -> int: ...  # noqa: D102
    @property
    def clear_events(self) -> int: ...  # noqa: D102
    @property
    def clear_ratio(self) -> float: ...  # noqa: D102
    @property
    def close_after_s(self) -> float: ...  # noqa: D102
    @property
    def expire_after_s(self) -> float: ...  # noqa: D102
    @property
    def update_every_s(self) -> float: ...  # noqa: D102
    @property
    def pattern_link(self) -> str: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class PatternRule:
    """What an alert of one pattern says of the pattern."""

    name: str
    severity: str
    says: str
    link: str


@dataclass(frozen=True, slots=True, eq=False)
class AlertRules:
    """The rules of all patterns of a line; `limits` has a row for each pattern and kind."""

    patterns: tuple[PatternRule, ...]
    numbers: Mapping[str, int]
    limits: Limits
    clear_ratio: float
    """A forecast below this share of its threshold ends the alert at once."""

    @classmethod
    def of(cls, entries: Iterable[PatternEntry], choices: AlertChoices, emission: Emission = "changes") -> "AlertRules":
        """The rules for `entries`; `emission` is that of the forecasts which will be shown to them."""
        listed = list(entries)
        rules = tuple(_rule(entry, choices) for entry in listed)
        rows = [_limits(entry, kind, choices, emission) for entry in listed for kind in KINDS]
        limits = Limits(*(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))) if rows else _none()
        return cls(rules, {rule.name: n for n, rule in enumerate(rules)}, limits, choices.clear_ratio)


def _rule(entry: PatternEntry, choices: AlertChoices) -> PatternRule:
    severity = (entry.alert or Alert()).severity
    return PatternRule(entry.name, severity, entry.says, choices.pattern_link.format(pattern=entry.name))


def _limits(entry: PatternEntry, kind: str, choices: AlertChoices, emission: Emission) -> tuple[int, ...]:
    alert = entry.alert or Alert()
    forecast, changes = kind == FORECAST, emission == "changes"
    # Ends of episodes are emitted, and so are changes of forecasts: there, silence means that nothing has changed.
    emitted_when_over = entry.report == "episodes" if not forecast else changes
    close_after = _us(choices.close_after_s)
    return Limits(
        min_dwell=0 if forecast else _duration(alert.min_dwell),
        cool_down=_duration(alert.cool_down),
        hold=_us(choices.expire_after_s) if emitted_when_over else close_after,
        below=close_after,
        raise_events=1 if not forecast or changes else choices.raise_events,
        clear_events=choices.clear_events,
        update_every=_us(choices.update_every_s),
        sparse=int(forecast and emission == "positive"),
    )


def _duration(text: str | None) -> int:
    return parse_duration(text) if text else 0


def _us(seconds: float) -> int:
    return min(round(seconds * 1e6), FOREVER_US)


def _none() -> Limits:
    return Limits(*(np.empty(0, dtype=np.int64) for _ in Limits._fields))
