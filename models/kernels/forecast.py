"""The event path of forecasting: events to numbers, numbers to chain states, chain states to rows.

Neighbouring events look alike and few combinations of conditions occur: each combination is numbered once, with its
symbol for every model. A model then costs one look-up per event.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.models.kernels.decisions import Decisions
from foresail.models.kernels.symbols import IMPOSSIBLE, symbol_at
from foresail.patterns.recognition.arrays import compiled, inlined
from foresail.patterns.recognition.joint import mixed

UNKNOWN = -1
DONE, FULL, BAD_EVENT = 0, 1, 2
ALL, POSITIVE, CHANGES = 0, 1, 2
NO_GAP = -1
"""Stands for a model without `max_gap`."""


class Alphabets(NamedTuple):
    """The alphabets of all models, one after the other."""

    bits: NDArray[np.int32]
    bits_at: NDArray[np.int64]
    codes: NDArray[np.uint64]
    codes_at: NDArray[np.int64]


class Numbers(NamedTuple):
    """The combinations of condition bits met so far. `slot` is a hash table with a power of two places."""

    size: NDArray[np.int64]
    key: NDArray[np.int64]
    slot: NDArray[np.int32]
    symbol: NDArray[np.int32]
    """Per combination the symbol for each model."""


class Histories(NamedTuple):
    """What is known of each track: one row per track, a column per model."""

    chain: NDArray[np.int32]
    length: NDArray[np.uint8]
    history: NDArray[np.uint16]


class Rows(NamedTuple):
    """Room for forecasts."""

    of: NDArray[np.int32]
    """The event after which it holds; for a family, the near row."""
    said: NDArray[np.int32]
    """The decision that it is."""


@compiled
def place_of(numbers: Numbers, words: NDArray[np.int64], row: int) -> int:
    """The place in the hash table where these words are, or where they belong."""
    key = np.uint64(0)
    for w in range(words.shape[1]):
        key = mixed(key, words[row, w])
    last = len(numbers.slot) - 1
    place = np.int64(key) & last
    while numbers.slot[place] != UNKNOWN:
        same = True
        for w in range(words.shape[1]):
            same = same and numbers.key[numbers.slot[place], w] == words[row, w]
        if same:
            break
        place = (place + 1) & last
    return place


@compiled
def number_events(
    alphabets: Alphabets, numbers: Numbers, words: NDArray[np.int64], found: NDArray[np.int32], first: int
) -> tuple[int, int]:
    """Write the number of each event from `first` on; where it stopped, and DONE, FULL or BAD_EVENT."""
    number = UNKNOWN
    for event in range(first, len(found)):
        same = number != UNKNOWN
        for w in range(words.shape[1]):
            same = same and words[event, w] == words[event - 1, w]
        if not same:
            place = place_of(numbers, words, event)
            number = numbers.slot[place]
        if number == UNKNOWN:
            number = numbers.size[0]
            if number == len(numbers.key):
                return event, FULL
            for m in range(len(alphabets.bits_at) - 1):
                symbol = symbol_at(
                    alphabets.bits,
                    alphabets.bits_at[m],
                    alphabets.bits_at[m + 1],
                    alphabets.codes,
                    alphabets.codes_at[m],
                    alphabets.codes_at[m + 1],
                    words,
                    event,
                )
                if symbol == IMPOSSIBLE:
                    return event, BAD_EVENT
                numbers.symbol[number, m] = symbol
            for w in range(words.shape[1]):
                numbers.key[number, w] = words[event, w]
            numbers.slot[place] = number
            numbers.size[0] = number + 1
        found[event] = number
    return len(found), DONE


@compiled
def enter_all(numbers: Numbers) -> None:
    """Fill an empty hash table with the combinations that are known."""
    for number in range(numbers.size[0]):
        numbers.slot[place_of(numbers, numbers.key, number)] = number


@compiled
def follow(
    step: NDArray[np.int32],
    start: NDArray[np.int32],
    max_gap: int,
    model: int,
    history_at: int,
    max_order: int,
    symbol: NDArray[np.int32],
    numbers: NDArray[np.int32],
    times: NDArray[np.int64],
    first_of: NDArray[np.int64],
    seen: NDArray[np.int64],
    last_time: NDArray[np.int64],
    histories: Histories,
    chains: NDArray[np.int32],
) -> None:
    """Write the chain state after each event, and leave each track's state and history as they are at its end.

    `start` gives for each chain state the one in which a track that it belongs to begins anew.
    """
    for track in range(len(first_of) - 1):
        first, end = first_of[track], first_of[track + 1]
        if first == end:
            continue
        x = histories.chain[track, model]
        begun, resting = UNKNOWN, UNKNOWN
        before = last_time[track] if seen[track] else times[first]
        for event in range(first, end):
            if max_gap != NO_GAP and times[event] - before > max_gap:
                x, begun, resting = start[x], event, UNKNOWN
            before = times[event]
            if numbers[event] != resting:
                was, x = x, step[x, symbol[numbers[event], model]]
                resting = numbers[event] if x == was else UNKNOWN  # more events like this one change nothing
            chains[event] = x
        histories.chain[track, model] = x
        remember(histories, track, model, history_at, max_order, symbol, numbers, first, end, begun)


@compiled
def remember(
    histories: Histories,
    track: int,
    model: int,
    history_at: int,
    max_order: int,
    symbol: NDArray[np.int32],
    numbers: NDArray[np.int32],
    first: int,
    end: int,
    begun: int,
) -> None:
    """Shift the last symbols of events `first..end` into the history; all before `begun` is forgotten."""
    old = histories.length[track, model] if begun == UNKNOWN else 0
    new = min(end - (first if begun == UNKNOWN else begun), max_order)
    kept = min(old, max_order - new)
    last = history_at + max_order
    for n in range(kept):
        source = last - kept + n
        histories.history[track, source - new] = histories.history[track, source]
    for n in range(history_at, last - new - kept):
        histories.history[track, n] = 0
    for n in range(new):
        histories.history[track, last - new + n] = symbol[numbers[end - new + n], model]
    histories.length[track, model] = kept + new


@inlined
def is_emitted(decisions: Decisions, how: int, now: int, before: int) -> bool:
    """Whether the forecast in chain state `now` is emitted after that in `before` (UNKNOWN where there was none)."""
    if not decisions.emitted[now]:
        return False
    if how == ALL:
        return True
    if how == POSITIVE:
        return decisions.positive[now] != 0
    was = before != UNKNOWN and decisions.emitted[before] and decisions.positive[before]
    return (decisions.positive[now] != 0) != was


@compiled
def tell(
    decisions: Decisions,
    first_decision: int,
    how: int,
    chains: NDArray[np.int32],
    first_of: NDArray[np.int64],
    seen: NDArray[np.int64],
    started: NDArray[np.int32],
    rows: Rows,
    at: int,
) -> int:
    """Write the forecasts that are emitted, from row `at` on, as decisions from a first one on; the next free row."""
    for track in range(len(first_of) - 1):
        before = started[track] if seen[track] else UNKNOWN
        for event in range(first_of[track], first_of[track + 1]):
            x = chains[event]
            if is_emitted(decisions, how, x, before):
                rows.of[at], rows.said[at] = event, first_decision + x
                at += 1
            before = x
    return at
