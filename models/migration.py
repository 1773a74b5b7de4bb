"""Tracks taken over by another model: what can be known of their chain states without reading their events again."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from foresail.models.model import Model
from foresail.patterns.recognition.forms import PartForm
from foresail.patterns.recognition.protocol import LoadModel

UNMAPPED = -1


class ModelRows(NamedTuple):
    """Per row the chain state, the length of the history and the history, as the new model has them."""

    chain: NDArray[np.int32]
    length: NDArray[np.uint8]
    history: NDArray[np.uint16]


class Followed(Protocol):
    """By which models tracks were followed: those of a forecaster, or what is left of them."""

    @property
    def models(self) -> Sequence[Model | None]:
        """In the order of the columns of its state; None for one that is not to be had any more."""

    @property
    def history_at(self) -> NDArray[np.int64]:
        """The places of each model in a row of history, and the end."""

    @property
    def keeps_past(self) -> Sequence[bool]:
        """Of each model whether a state has its recent past."""


class ModelsBefore:
    """The models of a saved form, as far as they are still to be had."""

    def __init__(self, form: PartForm, load: LoadModel) -> None:
        self.models: list[Model | None] = [load(model.pattern, model.version) for model in form.models]
        self.history_at = np.cumsum([0, *(model.places for model in form.models)]).astype(np.int64)
        self.keeps_past = [model.columns is not None for model in form.models]


class Predecessor(NamedTuple):
    """The model that followed the tracks before model `number` of those that follow them now."""

    number: int
    model: Model
    place: int
    """Its column in the state."""
    history: slice


def predecessors(models: Sequence[Model], before: Followed) -> Iterator[Predecessor]:
    """For each model the one for the same pattern before it, where there was one that can still be asked."""
    known = {model.pattern: (n, model) for n, model in enumerate(before.models) if model is not None}
    for number, model in enumerate(models):
        if model.pattern in known:
            place, old = known[model.pattern]
            history = slice(int(before.history_at[place]), int(before.history_at[place + 1]))
            yield Predecessor(number, old, place, history)


def migrated_rows(
    old: Model, new: Model, chain: NDArray[np.int32], length: NDArray[np.uint8], history: NDArray[np.uint16]
) -> ModelRows:
    """Rows of `old` as `new` would have them; the rule is that of `Forecaster.taken_over`."""
    symbols = translated_symbols(old, new)
    states = corresponding_states(old, new)
    known = _translated(history, length, symbols, new.header.max_order)
    if states is None:
        return ModelRows(_walked(new.chain.step, known), *known)
    node = _walked(new.chain.nodes, known)
    return ModelRows(_chain_states(new, states[old.chain.state[chain]], node), *known)


def translated_symbols(old: Model, new: Model) -> NDArray[np.int64] | None:
    """For each symbol of `old` the one of `new` that the same event has; None where the old conditions do not tell."""
    place = {text: n for n, text in enumerate(old.header.condition_texts)}
    if any(text not in place for text in new.header.condition_texts):
        return None
    codes = np.zeros(len(old.codes), dtype=np.uint64)
    for n, text in enumerate(new.header.condition_texts):
        codes |= ((old.codes >> np.uint64(place[text])) & np.uint64(1)) << np.uint64(n)
    at = np.minimum(np.searchsorted(new.codes, codes), len(new.codes) - 1)
    return at if (new.codes[at] == codes).all() else None


def corresponding_states(old: Model, new: Model) -> NDArray[np.int32] | None:
    """For each automaton state of `old` the one of `new` that every history leads to with it; None where they differ.

    Both automata are walked together over events that agree on the conditions that both know.
    """
    steps = _common_steps(old, new)
    found = np.full(len(old.automaton.delta), UNMAPPED, dtype=np.int32)
    found[0] = 0
    frontier = [0]
    while frontier:
        state = frontier.pop()
        for one, other in steps:
            target = int(old.automaton.delta[state, one])
            meets = int(new.automaton.delta[found[state], other])
            if found[target] == UNMAPPED:
                found[target] = meets
                frontier.append(target)
            if found[target] != meets or old.automaton.accepting[target] != new.automaton.accepting[meets]:
                return None
    return found


def _common_steps(old: Model, new: Model) -> list[tuple[int, int]]:
    """Pairs of an old and a new symbol that one event can have, one for each way both automata can step."""
    texts = [text for text in new.header.condition_texts if text in old.header.condition_texts]
    steps: dict[tuple[int, int], tuple[int, int]] = {}
    by_truth: dict[int, set[int]] = {}
    old_class, new_class = (
        np.unique(model.automaton.delta, axis=1, return_inverse=True)[1].reshape(-1) for model in (old, new)
    )
    for symbol, truth in enumerate(_truths(new, texts)):
        by_truth.setdefault(truth, set()).add(symbol)
    for one, truth in enumerate(_truths(old, texts)):
        for other in by_truth.get(truth, ()):
            steps.setdefault((int(old_class[one]), int(new_class[other])), (one, other))
    return list(steps.values())


def _truths(model: Model, texts: Sequence[str]) -> list[int]:
    """Per symbol which of the conditions hold, as bits."""
    place = {text: n for n, text in enumerate(model.header.condition_texts)}
    codes = [int(code) for code in model.codes]
    return [sum((code >> place[text] & 1) << n for n, text in enumerate(texts)) for code in codes]


def _translated(
    history: NDArray[np.uint16], length: NDArray[np.uint8], symbols: NDArray[np.int64] | None, places: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """The length of the history and the newest symbols in the new alphabet; none where there is no translation."""
    moved = np.zeros((len(history), places), dtype=np.uint16)
    kept = min(history.shape[1], places)
    if symbols is None or not kept:
        return np.zeros(len(history), dtype=np.uint8), moved
    lengths = np.minimum(length, kept).astype(np.uint8)
    mine = np.arange(kept) >= kept - lengths[:, None]
    moved[:, places - kept :] = np.where(mine, symbols[np.where(mine, history[:, -kept:], 0)], 0)
    return lengths, moved


def _walked(step: NDArray[np.int32], known: tuple[NDArray[np.uint8], NDArray[np.uint16]]) -> NDArray[np.int32]:
    """Where each history leads from 0."""
    length, history = known
    width = history.shape[1]
    at = np.zeros(len(history), dtype=np.int32)
    for place in range(width):
        at = np.where(width - place <= length, step[at, history[:, place]], at)
    return at


def _chain_states(new: Model, state: NDArray[np.int32], node: NDArray[np.int32]) -> NDArray[np.int32]:
    """The chain states of these pairs; where no history makes such a pair, the first with that automaton state."""
    nodes = np.int64(len(new.chain.nodes))
    pairs = new.chain.state * nodes + new.chain.node
    order = np.argsort(pairs)
    at = np.minimum(np.searchsorted(pairs[order], state * nodes + node), len(order) - 1)
    found = order[at]
    first = np.zeros(len(new.automaton.delta), dtype=np.int64)
    first[new.chain.state[::-1]] = np.arange(new.chain.states)[::-1]
    return np.where(pairs[found] == state * nodes + node, found, first[state]).astype(np.int32)
