"""A trained model: what it was trained on, its chain, its waiting times, and what it says in each state."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foresail.models.automaton import SymbolAutomaton, distances, symbol_automaton
from foresail.models.chain import Chain, merged
from foresail.models.counts.table import Counts
from foresail.models.decisions import KINDS, Kind, Rule, decided
from foresail.models.errors import ModelSettingError
from foresail.models.identity import Identity, content_hash, identity_of, numbered, with_content
from foresail.models.kernels.decisions import Decisions
from foresail.models.suffix_tree import MOST_SMOOTHED, LearnSettings, learn, least_probability
from foresail.models.trees.part import TreePart
from foresail.models.waiting import check_cells, expected_seconds, waiting_times
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.conditions.text import text_of
from foresail.patterns.spec import PatternSpec

MOST_AHEAD = 10_000
"""Events that a forecast may look ahead."""
Emission: TypeAlias = Literal["all", "positive", "changes"]
"""Which forecasts are emitted: every one, the positive ones, or only where positive begins or ends."""


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

    def __post_init__(self) -> None:
        if self.horizon > MOST_AHEAD:
            msg = f"horizon is {self.horizon} events; {MOST_AHEAD} are the limit. Choose fewer."
            raise ModelSettingError(msg)
        if self.horizon < 1:
            msg = f"horizon is {self.horizon} events. A forecast looks at least one event ahead: choose 1 or more."
            raise ModelSettingError(msg)
        if self.kind not in KINDS:
            msg = f"kind is '{self.kind}'. Choose one of {', '.join(KINDS)}."
            raise ModelSettingError(msg)
        if self.within is not None and not 1 <= self.within <= self.horizon:
            msg = f"within is {self.within} events, the horizon {self.horizon}. Choose 1 to {self.horizon}."
            raise ModelSettingError(msg)
        if not 0 <= self.threshold <= 1:
            msg = f"threshold is {self.threshold}. Choose a probability from 0 to 1."
            raise ModelSettingError(msg)

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
    """The time between events where it is always the same; a number of events is then a time."""
    mean_seconds: tuple[float, ...]
    """Per symbol the mean seconds before an event with it."""
    scores: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A model, ready to forecast.

    Its version names what was learned; threshold, horizon and kind may change at run time under the same version.
    """

    header: Header
    conditions: tuple[Condition, ...]
    codes: NDArray[np.uint64]
    """The alphabet: the combination of conditions of each symbol."""
    contexts: NDArray[np.int32]
    """The kept contexts as in `SuffixTree.contexts`."""
    automaton: SymbolAutomaton
    chain: Chain
    waiting: NDArray[np.float32]
    """Per chain state and number of events the probability that the next match comes then."""
    seconds: NDArray[np.float32] | None
    """Per chain state and number of events the mean seconds; None when the time between events is constant."""
    decisions: Decisions
    trees: TreePart | None = None
    """Of a model `hazard` or `forest`, what says how probable a match is; its chain follows the automaton."""

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
    def kind(self) -> str:
        """`chain`, `hazard` or `forest`."""
        return "chain" if self.trees is None else self.trees.kind

    @property
    def rule(self) -> Rule:
        """What makes a forecast positive."""
        return rule_of(self.settings)

    @property
    def max_gap_us(self) -> int | None:
        """The silence after which history restarts."""
        return self.header.spec.max_gap_us

    @property
    def distances(self) -> NDArray[np.int32]:
        """Per automaton state the least number of events to a match; -1 where none can come."""
        return distances(self.automaton)

    def check(self, pattern: CompiledPattern) -> None:
        """Refuse to serve a pattern that this model was not trained for."""
        identity_of(pattern).check_same(self.header.identity, f"model {self.version}")

    def with_settings(
        self,
        *,
        threshold: float | None = None,
        horizon: int | None = None,
        within: int | None = None,
        kind: Kind | None = None,
        forecast_in_accepting: bool | None = None,
    ) -> "Model":
        """The same model with other decisions, read anew from the stored distributions; nothing is learned.

        A horizon beyond the stored one extends the waiting times from the chain. A shorter one brings `within` with it.
        """
        old = self.settings
        horizon = old.horizon if horizon is None else horizon
        held = old.within if old.within is None else min(old.within, max(horizon, 1))
        settings = ModelSettings(
            learn=old.learn,
            horizon=horizon,
            kind=old.kind if kind is None else kind,
            within=held if within is None else within,
            threshold=old.threshold if threshold is None else threshold,
            forecast_in_accepting=(
                old.forecast_in_accepting if forecast_in_accepting is None else forecast_in_accepting
            ),
        )
        changed = finished(
            replace(self.header, settings=settings),
            self.conditions,
            self.codes,
            self.contexts,
            self.automaton,
            self.chain,
            self.waiting,
            self.seconds,
        )
        return replace(changed, trees=self.trees)

    def with_scores(self, scores: Mapping[str, float]) -> "Model":
        """The same model with what an evaluation found."""
        return replace(self, header=replace(self.header, scores=dict(scores)))

    def with_notes(self, notes: tuple[str, ...]) -> "Model":
        """The same model with further notes."""
        return replace(self, header=replace(self.header, notes=(*self.header.notes, *notes))) if notes else self

    def with_trees(self, trees: TreePart) -> "Model":
        """The model whose forecasts these trees make; another one, so its version is another."""
        content = content_hash(self.version, trees.fingerprint())
        version = with_content(self.version, content)
        return replace(self, header=replace(self.header, model_version=version), trees=trees)

    def with_serial(self, serial: int) -> "Model":
        """The same model under the serial number that a store gives it."""
        return replace(self, header=replace(self.header, model_version=numbered(self.version, serial)))


def build(pattern: CompiledPattern, counts: Counts, settings: ModelSettings, group: str | None = None) -> Model:
    """The model of `pattern` from its counts; without a match in them it is built, says so, and forecasts zero.

    Where they are the counts of a group of tracks, its version names the group.
    """
    identity = identity_of(pattern)
    identity.check_same(counts.identity, "counts")
    tree = learn(counts, settings.learn)
    automaton = symbol_automaton(pattern)
    content = content_hash(identity, counts.fingerprint(), settings.learn)
    header = Header(
        model_version=f"{pattern.name}-v{pattern.version}-0000-{content}" + (f"@{group}" if group else ""),
        identity=identity,
        spec=pattern.spec,
        condition_names=pattern.condition_names,
        condition_texts=tuple(text_of(condition) for condition in pattern.conditions),
        settings=settings,
        max_order=counts.max_order,
        training=Training(
            counts.events, counts.tracks, counts.matches, counts.first_us, counts.last_us, counts.fingerprint()
        ),
        sampling_step_s=counts.sampling_step_s(),
        constant_step_s=counts.constant_step_s(),
        mean_seconds=tuple(float(mean) for mean in np.nan_to_num(counts.mean_seconds())),
        notes=_notes(counts, settings),
    )
    chain = merged(tree, automaton, pattern.name)
    return finished(header, pattern.conditions, pattern.alphabet.codes, tree.contexts, automaton, chain)


def _notes(counts: Counts, settings: ModelSettings) -> tuple[str, ...]:
    notes = []
    if counts.matches <= 0:
        notes.append("no match in the training data: every forecast is zero until it is trained on one")
    if counts.windows(min(settings.learn.order, counts.max_order) + 1) == 0:
        notes.append(f"no track is as long as order {settings.learn.order} needs: shorter contexts are used")
    each = least_probability(settings.learn.smoothing, counts.symbols)
    if each < settings.learn.smoothing:
        notes.append(
            f"smoothing {settings.learn.smoothing:g} over {counts.symbols} symbols is capped: all of them together get "
            f"{MOST_SMOOTHED:g} of the probability, each {each:.3g}"
        )
    return tuple(notes)


def finished(
    header: Header,
    conditions: tuple[Condition, ...],
    codes: NDArray[np.uint64],
    contexts: NDArray[np.int32],
    automaton: SymbolAutomaton,
    chain: Chain,
    waiting: NDArray[np.float32] | None = None,
    seconds: NDArray[np.float32] | None = None,
) -> Model:
    """The model with its decisions; waiting times are computed where they are not given or end before the horizon."""
    settings = header.settings
    if waiting is None or waiting.shape[1] < settings.horizon:
        waiting, seconds = _distributions(chain, header, settings.horizon)
    decisions = decided(chain, waiting, seconds, header.constant_step_s, rule_of(settings))
    return Model(header, conditions, codes, contexts, automaton, chain, waiting, seconds, decisions)


def rule_of(settings: ModelSettings) -> Rule:
    """What makes a forecast positive under these settings."""
    return Rule(
        settings.kind,
        settings.events_ahead,
        settings.horizon,
        settings.threshold,
        settings.forecast_in_accepting,
    )


def _distributions(
    chain: Chain, header: Header, horizon: int
) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    """Waiting times, and seconds where the time between events varies, as they are stored."""
    check_cells(chain, horizon)
    if header.training.matches <= 0:
        return np.zeros((chain.states, horizon), dtype=np.float32), None
    waiting = waiting_times(chain, horizon)
    if header.constant_step_s is not None or header.sampling_step_s is None:
        return waiting.astype(np.float32, order="C"), None
    seconds = expected_seconds(chain, waiting, np.array(header.mean_seconds))
    return waiting.astype(np.float32, order="C"), seconds.astype(np.float32, order="C")
