"""A rule set over events in order: the driver of the kernel, which makes room and takes composites away."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.tesla import kernel_rules as k
from foresail.patterns.tesla.compilation import advance_kernel, compact_kernel, needed_kernel, scratch_of
from foresail.patterns.tesla.lowering import Lowered
from foresail.patterns.tesla.resolved import Compute
from foresail.patterns.tesla.state import (
    COMPOSITES,
    CURSOR,
    DEAD,
    LOG,
    NEXT,
    OUT,
    QUEUE,
    SLOTS,
    Scratch,
    State,
    fresh_rows,
    fresh_state,
)
from foresail.patterns.tesla.values import BEYOND, Dictionary, text_codes, text_values

ROWS_AT_ONCE = 1 << 16
FIRST_ROOM = 1 << 10
FEW_TEXTS = 1 << 10
"""So many texts are not worth looking through."""


@dataclass(frozen=True, slots=True, eq=False)
class Notifications:
    """Events in order: types and times, where each comes from, and which row of `values` holds its attributes."""

    types: NDArray[np.int64]
    times: NDArray[np.int64]
    sources: NDArray[np.int64]
    at: NDArray[np.int64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.types)

    def slice(self, begin: int, end: int) -> "Notifications":
        """The events from place `begin` up to `end`."""
        return Notifications(
            self.types[begin:end], self.times[begin:end], self.sources[begin:end], self.at[begin:end], self.values
        )


@dataclass(frozen=True, slots=True, eq=False)
class Composites:
    """Composite events in the order in which they came about; slot 0 is the terminator."""

    rule: NDArray[np.int64]
    values: NDArray[np.float64]
    sources: NDArray[np.int64]
    """Per slot the source of the event; below zero ~ the number of a composite."""
    times: NDArray[np.int64]
    first: int
    """The number of the first of them."""

    def __len__(self) -> int:
        return len(self.rule)


def joined(parts: Sequence[Composites]) -> Composites:
    """Composites of consecutive batches."""
    return Composites(
        np.concatenate([part.rule for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.sources for part in parts]),
        np.concatenate([part.times for part in parts]),
        parts[0].first,
    )


class Session:
    """A rule set under way: what it remembers, and the texts that it has met."""

    def __init__(self, lowered: Lowered, state: State | None = None, texts: Sequence[str] | None = None) -> None:
        self.lowered = lowered
        self.dictionary = Dictionary(tuple(lowered.texts if texts is None else texts))
        self.state = state or fresh_state(len(lowered.attributes), len(lowered.rules))
        self._rows = fresh_rows(FIRST_ROOM, lowered.most_values, lowered.most_slots)
        self._scratch = self._fresh_scratch(FIRST_ROOM)
        self._stuck = (-1, -1)

    def _fresh_scratch(self, chosen: int) -> Scratch:
        lowered = self.lowered
        temporaries = sum(isinstance(step, Compute) for rule in lowered.rules for step in rule.steps)
        return scratch_of(
            lowered.most_slots, temporaries, lowered.most_stack, lowered.most_steps, chosen, len(lowered.rules),
            len(lowered.tables.columns), lowered.memos, lowered.computed_memos,
        )  # fmt: skip

    def advance(self, events: Notifications) -> Composites:
        """The composites that some further events bring about."""
        tables = self.lowered.tables._replace(ranks=self.dictionary.ranks())
        self.state.counters[NEXT] = 0
        first = int(self.state.counters[COMPOSITES])
        parts: list[Composites] = []
        run = advance_kernel()
        while True:
            lacks = run(
                tables, self.state, self._scratch, self._rows, events.types, events.times, events.sources, events.at,
                events.values, ROWS_AT_ONCE,
            )  # fmt: skip
            if lacks in (k.DONE, k.TAKE_ROWS):
                parts.append(self._taken(first))
                if lacks == k.DONE:
                    return joined(parts)
            else:
                self._make_room(lacks, tables)

    def _taken(self, first: int) -> Composites:
        counters, rows = self.state.counters, self._rows
        count = int(counters[OUT])
        counters[OUT] = counters[QUEUE] = 0
        return Composites(
            rows.rule[:count].copy(), rows.values[:count].copy(), rows.sources[:count].copy(),
            rows.times[:count].copy(), first,
        )  # fmt: skip

    def _make_room(self, lacks: int, tables: object) -> None:
        if lacks == k.MORE_ROWS:
            bigger = fresh_rows(2 * len(self._rows.rule), self.lowered.most_values, self.lowered.most_slots)
            for old, new in zip(self._rows, bigger, strict=True):
                new[: len(old)] = old
            self._rows = bigger
        elif lacks == k.MORE_CHOSEN:
            scratch = self._scratch
            self._scratch = scratch._replace(chosen=np.zeros(2 * len(scratch.chosen), dtype=np.int64))
        else:
            self._compact(lacks, tables)

    def _compact(self, lacks: int, tables: object) -> None:
        """Forget what no window reaches; the rest gets twice the room that it takes."""
        state = self.state
        slots, pool, first = needed_kernel()(tables, state)
        place = (int(state.counters[NEXT]), int(state.counters[CURSOR]))
        marks = len(state.dead)
        if lacks == k.MORE_DEAD and (place == self._stuck or 4 * state.counters[DEAD] > marks):
            marks *= 2
        self._stuck = place if lacks == k.MORE_DEAD else (-1, -1)
        kept = int(state.counters[LOG]) - first
        target = State(
            np.zeros_like(state.counters),
            np.zeros((_room(kept), 2), dtype=np.int64),
            np.zeros((_room(kept), state.log_values.shape[1])),
            np.zeros(4 * _room(slots), dtype=np.int64),
            np.zeros((_room(slots), state.slots.shape[1]), dtype=np.int64),
            np.zeros((_room(slots), state.slot_keys.shape[1])),
            np.zeros((_room(slots), 3)),
            np.zeros((2 * _room(pool), 2), dtype=np.int64),
            np.zeros((2 * _room(pool), 3)),
            np.zeros(marks, dtype=np.int64),
            np.zeros_like(state.limited),
        )
        compact_kernel()(tables, state, target, first)
        self.state = target

    def limited(self) -> dict[int, int]:
        """Per rule for how many terminators rows were left out, as there were too many of them."""
        return {n: int(count) for n, count in enumerate(self.state.limited) if count}

    def forget_texts(self) -> None:
        """Forget the texts that nothing holds any more, between two batches, where they are most of them."""
        texts, own = self.dictionary.texts, len(self.lowered.texts)
        if len(texts) < FEW_TEXTS:
            return
        state = self.pruned()
        held = [state.log_values[: state.counters[LOG]], state.slot_keys[: state.counters[SLOTS]]]
        used = np.unique(np.concatenate([text_codes(values[values >= BEYOND]) for values in held]))
        used = used[used >= own]
        if len(texts) < 2 * (own + len(used)):
            return
        codes = np.arange(len(texts))
        codes[used] = own + np.arange(len(used))
        for values in held:
            is_text = values >= BEYOND
            values[is_text] = text_values(codes[text_codes(values[is_text])])
        self.dictionary = Dictionary((*texts[:own], *(texts[code] for code in used)))
        self._compact(k.MORE_LOG, self.lowered.tables)

    def pruned(self) -> State:
        """The memory without what no window reaches any more, between two batches."""
        self._compact(k.MORE_LOG, self.lowered.tables)
        return self.state


def _room(size: int) -> int:
    """A power of two that is at least twice the size."""
    return max(64, 1 << (2 * size - 1).bit_length() if size else 64)
