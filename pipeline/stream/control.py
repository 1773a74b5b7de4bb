"""Control messages: what may be asked of a running line, how it is checked, and what it changes.

A message is a JSON object. It is checked here, in every bucket alike, and either changes the bucket's configuration or
is refused with a reason; it never stops the line.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from models.errors import ModelError
from patterns.errors import PatternError
from pipeline.stream.configuration import Configuration
from pipeline.stream.line_spec import UnfitError

KNOBS = ("threshold", "horizon", "within", "kind", "model_version", "enabled")


class ControlMessage(BaseModel):
    """What `foresail configure` sends."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1, max_length=200, description="By which the reply is known.")
    pattern: str | None = Field(None, description="The pattern that is meant.")
    threshold: float | None = Field(None, ge=0, le=1, description="Least probability of a positive forecast.")
    horizon: int | None = Field(None, ge=1, le=10_000, description="How many events ahead a forecast may look.")
    within: int | None = Field(None, ge=1, le=10_000, description="How many events ahead a match counts.")
    kind: Literal["within", "interval", "most_likely"] | None = Field(None, description="What a forecast says.")
    model_version: str | None = Field(None, description="The model that is to serve, by its version in the store.")
    order: int | None = Field(None, ge=0, le=12, description="The order of that model, as it was asked for.")
    enabled: bool | None = Field(None, description="Whether the pattern is told.")
    catalog: str | None = Field(None, description="The catalog that is to be used, by its version in the store.")
    layers: str | None = Field(None, description="Layers were published anew; names their version.")
    flush: bool | None = Field(None, description="Release every event that waits to be put in order.")

    @model_validator(mode="after")
    def _says_something(self) -> "ControlMessage":
        knobs = [name for name in KNOBS if getattr(self, name) is not None]
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


@dataclass(frozen=True, slots=True)
class Known:
    """What a message may name: the patterns of the line, and those that are forecast."""

    patterns: tuple[str, ...]
    forecast: tuple[str, ...]


def parse_control(text: str | None) -> ControlMessage | Refusal:
    """The message of a text, or why it is none."""
    try:
        held = json.loads(text or "")
    except ValueError as error:
        return Refusal(None, f"not JSON ({error})")
    identity = held.get("id") if isinstance(held, dict) else None
    try:
        return ControlMessage.model_validate(held)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"])) or "message"
        return Refusal(identity if isinstance(identity, str) else None, f"{where}: {fault['msg']}")


def changed(configuration: Configuration, message: ControlMessage, known: Known) -> Configuration | Refusal:
    """The configuration after the message, or why it cannot be."""
    after = configuration
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


def tried(message: ControlMessage, attempt: Callable[[], Any]) -> Refusal | None:
    """Carry out a change; why it failed, if it did."""
    try:
        attempt()
    except (ModelError, PatternError, UnfitError, OSError, ValueError, KeyError) as error:
        return Refusal(message.id, str(error) or type(error).__name__)
    return None
