"""Why a forecast says what it says: the context and the automaton state in words, and the waiting-time curve."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.models.decisions import NONE
from foresail.models.features.words import in_words, is_learned
from foresail.models.model import Model


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """One forecast, explained."""

    sentence: str
    context: tuple[str, ...]
    """What the events of the context were, oldest first; empty where the model looked at none."""
    state: int
    """The automaton state."""
    progress: str
    """How far the pattern has come, in words."""
    events: NDArray[np.int64]
    """1 to the horizon: the curve's horizontal axis."""
    probability: NDArray[np.float64]
    """The probability that the match comes with that event."""
    seconds: NDArray[np.float64]
    """The mean seconds until then; NaN where unknown."""


def explain(model: Model, chain_state: int) -> Explanation:
    """The forecast of `model` in one of its chain states (the column `chain` of `Forecasts`)."""
    row = model.contexts[model.chain.context[chain_state]]
    context = tuple(symbol_text(model, int(symbol)) for symbol in row if symbol >= 0)
    state = int(model.chain.state[chain_state])
    progress = _progress(model, state)
    horizon = model.settings.horizon
    return Explanation(
        sentence=f"{_said(model, chain_state)}, because {progress} and {_seen(context)}.",
        context=context,
        state=state,
        progress=progress,
        events=np.arange(1, horizon + 1),
        probability=model.waiting[chain_state, :horizon].astype(np.float64),
        seconds=_seconds(model, chain_state),
    )


def symbol_text(model: Model, symbol: int) -> str:
    """The conditions that hold in a symbol, learned ones in words; `none of inside, fast` where none does."""
    header, code = model.header, int(model.codes[symbol])
    named = list(zip(header.condition_names, header.condition_texts, strict=True))
    held = [_called(name, text) for n, (name, text) in enumerate(named) if code >> n & 1]
    own = [name for name in header.condition_names if not is_learned(name)]
    return " and ".join(held) or f"none of {', '.join(own)}"


def _called(name: str, text: str) -> str:
    return in_words(text) if is_learned(name) else name


def _said(model: Model, chain_state: int) -> str:
    settings, decisions = model.settings, model.decisions
    share = f"{decisions.probability[chain_state]:.0%}"
    if not decisions.emitted[chain_state]:
        return f"{model.pattern} has just matched: no forecast is made here"
    if settings.kind == "within":
        return f"{model.pattern} is expected within {settings.events_ahead} events with a probability of {share}"
    if settings.kind == "most_likely":
        point = decisions.most_likely[chain_state]
        if point == NONE:
            return f"{model.pattern} is not expected within {settings.horizon} events"
        return f"{model.pattern} is expected in {point} events, the likeliest number, with a probability of {share}"
    if decisions.earliest[chain_state] == NONE:
        return f"no interval within {settings.horizon} events reaches {settings.threshold:.0%} for {model.pattern}"
    first, last = decisions.earliest[chain_state], decisions.latest[chain_state]
    taken = _minutes(float(decisions.earliest_s[chain_state]), float(decisions.latest_s[chain_state]))
    return f"{model.pattern} is expected in {first} to {last} events{taken} with a probability of {share}"


def _minutes(earliest_s: float, latest_s: float) -> str:
    if not np.isfinite(earliest_s + latest_s):
        return ""
    return f" ({earliest_s / 60:.0f} to {latest_s / 60:.0f} min)"


def _progress(model: Model, state: int) -> str:
    distance = int(model.distances[state])
    if state == 0:
        return f"nothing of the pattern has been seen yet (at least {distance} events to go)"
    if distance == 0:
        return "the pattern has just been completed"
    if distance < 0:
        return "the pattern can no longer be completed"
    return f"the pattern is under way (at least {distance} event{'s' if distance > 1 else ''} to go)"


def _seen(context: tuple[str, ...]) -> str:
    if not context:
        return "the events before it tell nothing more"
    if len(context) == 1:
        return f"the last event was {context[0]}"
    return f"the last {len(context)} events were {', then '.join(context)}"


def _seconds(model: Model, chain_state: int) -> NDArray[np.float64]:
    horizon = model.settings.horizon
    if model.seconds is not None:
        held = model.seconds[chain_state, :horizon].astype(np.float64)
        return np.asarray(np.where(held > 0, held, np.nan), dtype=np.float64)
    step_s = model.header.constant_step_s
    return np.asarray(np.arange(1, horizon + 1) * (np.nan if step_s is None else step_s), dtype=np.float64)
