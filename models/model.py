"""A trained model: what it was trained on, its chain, its waiting times, and what it says in each state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from models.chain import Chain
from models.counts.table import Counts
from models.decisions import Decisions
from models.identity import Identity
from models.kinds import Kind
from models.suffix_tree import LearnSettings
from patterns.compiler import CompiledPattern
from patterns.conditions.syntax import Condition
from patterns.spec import PatternSpec

Emission: TypeAlias = Literal["all", "positive", "changes"]
"""Which forecasts are told: every one, the positive ones, or only where positive begins or ends."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How a model is learned and what it forecasts."""

    learn: LearnSettings = field(default_factory=LearnSettings)
    horizon: int = 60
    kind: Kind = "within"
    within: int | None = None
    """For the kind `within`: how many events ahead a match counts; the horizon when not given."""
    threshold: float = 0.2
    """Least probability of a positive forecast; rare events need a low one, which training chooses."""
    forecast_in_accepting: bool = False

    @property
    def events_ahead(self) -> int:
        """How many events ahead a match counts for the kind `within`."""
        return self.within or self.horizon


@dataclass(frozen=True, slots=True)
class Training:
    """What a model was trained on."""

    events: float
    tracks: float
    matches: float
    first_us: int | None
    last_us: int | None
    data: str
    """A fingerprint of the counts."""


@dataclass(frozen=True, slots=True)
class Header:
    """All of a model that is not an array."""

    model_version: str
    identity: Identity
    spec: PatternSpec
    condition_names: tuple[str, ...]
    condition_texts: tuple[str, ...]
    settings: ModelSettings
    max_order: int
    """How many symbols of history a track keeps, so that a model of another order can take over."""
    training: Training
    sampling_step_s: float | None
    constant_step_s: float | None
    scores: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A model, ready to forecast. Two of the same content have the same version but for the serial number."""

    header: Header
    conditions: tuple[Condition, ...]
    codes: NDArray[np.uint64]
    """The alphabet: the combination of conditions of each symbol."""
    contexts: NDArray[np.int32]
    """The kept contexts as in `SuffixTree.contexts`."""
    delta: NDArray[np.int32]
    """`delta[automaton state, symbol]`, with the rule for what follows a match."""
    accepting: NDArray[np.bool_]
    """Per automaton state."""
    chain: Chain
    waiting: NDArray[np.float32]
    """Per chain state and number of events the probability that the next match comes then."""
    seconds: NDArray[np.float32] | None
    """Per chain state and number of events the mean seconds; None when the time between events is constant."""
    decisions: Decisions

    @property
    def pattern(self) -> str:
        """The pattern's name."""
        return self.header.identity.pattern

    @property
    def version(self) -> str:
        """The model version, such as `port_entry-v1-0003-ab12cd`."""
        return self.header.model_version

    @property
    def settings(self) -> ModelSettings:
        """How it was learned and what it forecasts."""
        return self.header.settings

    @property
    def max_gap_us(self) -> int | None:
        """The silence after which history restarts."""
        return self.header.spec.max_gap_us

    def check(self, pattern: CompiledPattern) -> None:
        """Refuse to serve a pattern that this model was not trained for."""
        raise NotImplementedError

    def with_settings(
        self,
        *,
        threshold: float | None = None,
        horizon: int | None = None,
        within: int | None = None,
        kind: Kind | None = None,
        forecast_in_accepting: bool | None = None,
    ) -> "Model":
        """The same model with other decisions, read anew from the stored distributions; nothing is learned."""
        raise NotImplementedError

    def with_scores(self, scores: Mapping[str, float]) -> "Model":
        """The same model with what an evaluation found."""
        raise NotImplementedError

    def with_serial(self, serial: int) -> "Model":
        """The same model under the serial number that a store gives it."""
        raise NotImplementedError


def build(pattern: CompiledPattern, counts: Counts, settings: ModelSettings) -> Model:
    """The model of `pattern` from its counts; without a match in them it is built, says so, and forecasts zero."""
    raise NotImplementedError
