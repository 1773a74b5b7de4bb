"""Control messages: what may be asked of a running line, how it is checked, and what it changes.

A message is a JSON object. It is checked here, in every bucket alike, and either changes the bucket's configuration or
is refused with a reason; it never stops the line, whatever it holds: how long and how deep it is, is looked at before
it is parsed.

What can be turned while the line runs, as it stands in the state of every bucket.
"""

import json
import re
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from foresail.models.store.manifest import LONGEST, is_name


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


MOST_CHARACTERS = 10_000
MOST_DEPTH = 8
SHOWN_CHARACTERS = 1_000
"""Of a refused message in its reply and its dead letter; the whole stays in the topic, at its offset."""
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)
KNOBS = ("threshold", "horizon", "within", "kind", "model_version", "enabled")


def _of_store(name: str) -> str:
    if not is_name(name):
        msg = "not a name but a path, or too long. Name what is in the store"
        raise ValueError(msg)
    return name


StoreName = Annotated[str, AfterValidator(_of_store)]


class ControlMessage(BaseModel):
    """What `foresail configure` sends."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1, max_length=LONGEST, description="By which the reply is known.")
    pattern: str | None = Field(None, max_length=LONGEST, description="The pattern that is meant.")
    threshold: float | None = Field(None, ge=0, le=1, description="Least probability of a positive forecast.")
    horizon: int | None = Field(None, ge=1, le=10_000, description="How many events ahead a forecast may look.")
    within: int | None = Field(None, ge=1, le=10_000, description="How many events ahead a match counts.")
    kind: Literal["within", "interval", "most_likely"] | None = Field(None, description="What a forecast says.")
    model_version: StoreName | None = Field(
        None, description="The model that is to serve, by its version in the store."
    )
    order: int | None = Field(None, ge=0, le=12, description="The order of that model, as it was asked for.")
    enabled: bool | None = Field(None, description="Whether the pattern is told.")
    catalog: StoreName | None = Field(None, description="The catalog that is to be used, by its version in the store.")
    layers: str | None = Field(None, description="Layers were published anew; names their version.")
    rules: str | None = Field(
        None, min_length=1, description="Of a line of rules: the rules that the set `pattern` has from now on."
    )
    flush: bool | None = Field(None, description="Release every event that waits to be put in order.")

    @model_validator(mode="after")
    def _says_something(self) -> "ControlMessage":
        knobs = [name for name in (*KNOBS, "rules") if getattr(self, name) is not None]
        if knobs and not self.pattern:
            msg = f"{knobs[0]} needs a pattern"
            raise ValueError(msg)
        if not knobs and self.catalog is None and self.layers is None and not self.flush:
            msg = f"nothing to do: name one of {', '.join((*KNOBS, 'catalog', 'layers', 'flush'))}"
            raise ValueError(msg)
        return self


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a message is not obeyed."""

    id: str | None
    reason: str

    @classmethod
    def of(cls, identity: str | None, error: BaseException) -> "Refusal":
        """What was raised, as one line."""
        said = " ".join(str(error).split()) or type(error).__name__
        return cls(identity, said[:SHOWN_CHARACTERS])


@dataclass(frozen=True, slots=True)
class KnownNames:
    """What a message may name: the patterns of the line, and those that are forecast."""

    patterns: tuple[str, ...]
    forecast: tuple[str, ...]


def parse_control(text: object) -> ControlMessage | Refusal:
    """The message of a text, or why it is none; pandas has NaN where a message has no text."""
    try:
        held = _bounded_json(text if isinstance(text, str) else "")
    except (ValueError, RecursionError) as error:
        return Refusal.of(None, error)
    identity = held.get("id") if isinstance(held, dict) else None
    known_by = identity[:LONGEST] if isinstance(identity, str) else None
    try:
        return ControlMessage.model_validate(held)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))[:LONGEST] or "message"
        return Refusal(known_by, f"{where}: {fault['msg'].removeprefix('Value error, ')}"[:SHOWN_CHARACTERS])


def _bounded_json(text: str) -> Any:
    """The value of a JSON text that is neither too long nor too deep to be a message."""
    if len(text) > MOST_CHARACTERS:
        msg = f"longer than {MOST_CHARACTERS:,} characters, which is the limit of a message"
        raise ValueError(msg)
    depth = 0
    for found in _BRACKETS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        if depth > MOST_DEPTH:
            msg = f"nested deeper than {MOST_DEPTH} levels, which is the limit of a message"
            raise ValueError(msg)
    try:
        return json.loads(text)
    except ValueError as error:
        msg = f"not JSON ({error})"
        raise ValueError(msg) from None


def shown(text: object) -> str | None:
    """What a reply repeats of a refused message."""
    return text[:SHOWN_CHARACTERS] if isinstance(text, str) else None


def changed(configuration: Configuration, message: ControlMessage, known: KnownNames) -> Configuration | Refusal:
    """The configuration after the message, or why it cannot be."""
    after = configuration
    if message.rules is not None:
        return Refusal(message.id, "this line runs patterns and takes no rules. Name a rule set in stream.patterns")
    if message.pattern is not None:
        if message.pattern not in known.patterns:
            return Refusal(message.id, f"unknown pattern '{message.pattern}'. There are: {', '.join(known.patterns)}")
        knobs = {
            name: getattr(message, name)
            for name in ("threshold", "horizon", "within", "kind", "model_version")
            if getattr(message, name) is not None
        }
        if knobs and message.pattern not in known.forecast:
            return Refusal(message.id, f"'{message.pattern}' is not forecast by this line. Train a model of it first")
        if knobs:
            after = after.with_turned(message.pattern, **knobs)
        if message.enabled is not None:
            after = after.switched(message.pattern, message.enabled)
    if message.catalog is not None:
        after = replace(after, catalog=message.catalog)
    if message.layers is not None:
        after = replace(after, layers=message.layers)
    return after
