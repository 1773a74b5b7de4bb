"""What can be turned while the line runs, as it stands in the state of every bucket."""

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Overrides:
    """What was set for one pattern's forecasts; None leaves it as the model has it."""

    model_version: str | None = None
    threshold: float | None = None
    horizon: int | None = None
    within: int | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """What holds in a bucket: a catalog by its version, models and knobs by pattern, and what is switched off."""

    catalog: str | None = None
    """The version of the catalog in the store; None for the one that the line was started with."""
    turned: dict[str, Overrides] = field(default_factory=dict)
    disabled: tuple[str, ...] = ()
    layers: str | None = None

    def for_pattern(self, pattern: str) -> Overrides:
        """What was set for that pattern."""
        return self.turned.get(pattern, Overrides())

    def with_turned(self, pattern: str, **values: Any) -> "Configuration":
        """The same but for some knobs of a pattern."""
        return replace(self, turned={**self.turned, pattern: replace(self.for_pattern(pattern), **values)})

    def switched(self, pattern: str, enabled: bool) -> "Configuration":
        """The same with a pattern on or off."""
        others = tuple(name for name in self.disabled if name != pattern)
        return replace(self, disabled=others if enabled else tuple(sorted((*others, pattern))))

    def line_key(self) -> str:
        """What of it decides how the line is built: switching off a pattern does not."""
        return replace(self, disabled=(), layers=None).to_text()

    def to_text(self) -> str:
        """The configuration as text, the same for equal ones."""
        return json.dumps(asdict(self), sort_keys=True)


def configuration_from(text: str) -> Configuration:
    """What `to_text` wrote."""
    held = json.loads(text)
    turned = {name: Overrides(**values) for name, values in held["turned"].items()}
    return Configuration(held["catalog"], turned, tuple(held["disabled"]), held["layers"])
