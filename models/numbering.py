"""The combinations of condition bits that a forecaster meets, numbered once, with their symbols for every model."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from foresail.models.kernels.compilation import entering_kernel, numbering_kernel
from foresail.models.kernels.forecast import BAD_EVENT, DONE, FULL, UNKNOWN, Alphabets, Numbers
from foresail.models.model import Model
from foresail.models.symbols import impossible_symbol, symbol_codes
from foresail.patterns.conditions.packing import words_for
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.conditions.text import text_of

_FIRST_ROOM = 1024
_MOST_KEPT = 1 << 18
"""With more combinations than this the memo starts over at the next batch."""


def shared_conditions(models: Sequence[Model]) -> tuple[Condition, ...]:
    """Every condition that some model needs, once."""
    return tuple({text_of(condition): condition for model in models for condition in model.conditions}.values())


class Numbering:
    """A memo from condition words to numbers; `symbols[number, model]` is the symbol."""

    def __init__(self, models: Sequence[Model], conditions: Sequence[Condition]) -> None:
        self._models = tuple(models)
        self.words = words_for(len(conditions))
        self._codes = [symbol_codes(m.pattern, m.conditions, m.codes, conditions) for m in models]
        self._alphabets = Alphabets(
            bits=np.concatenate([np.empty(0, np.int32), *(codes.bits for codes in self._codes)]),
            bits_at=np.cumsum([0, *(len(codes.bits) for codes in self._codes)]).astype(np.int64),
            codes=np.concatenate([np.empty(0, np.uint64), *(codes.codes for codes in self._codes)]),
            codes_at=np.cumsum([0, *(len(codes.codes) for codes in self._codes)]).astype(np.int64),
        )
        self._numbers = self._empty(_FIRST_ROOM)

    @property
    def symbols(self) -> NDArray[np.int32]:
        """Per number the symbol for each model; read it after numbering, which may make it anew."""
        return self._numbers.symbol

    def start_batch(self) -> None:
        """Forget everything when it has become too much; numbers hold until this is called."""
        if self._numbers.size[0] > _MOST_KEPT:
            self._numbers = self._empty(_FIRST_ROOM)

    def numbers(self, words: NDArray[np.int64]) -> NDArray[np.int32]:
        """The number of each event."""
        found = np.empty(len(words), dtype=np.int32)
        at, code = 0, FULL
        while code != DONE:
            at, code = numbering_kernel()(self._alphabets, self._numbers, words, found, at)
            if code == BAD_EVENT:
                raise self._fault(words[at])
            if code == FULL:
                self._widen()
        return found

    def _empty(self, room: int) -> Numbers:
        return Numbers(
            size=np.zeros(1, dtype=np.int64),
            key=np.zeros((room, self.words), dtype=np.int64),
            slot=np.full(4 * room, UNKNOWN, dtype=np.int32),
            symbol=np.zeros((room, len(self._models)), dtype=np.int32),
        )

    def _widen(self) -> None:
        old, count = self._numbers, int(self._numbers.size[0])
        self._numbers = self._empty(2 * len(old.key))
        self._numbers.size[0] = count
        self._numbers.key[:count] = old.key
        self._numbers.symbol[:count] = old.symbol
        entering_kernel()(self._numbers)

    def _fault(self, words: NDArray[np.int64]) -> Exception:
        for model, codes in zip(self._models, self._codes, strict=True):
            held = sum((int(words[b >> 6]) >> int(b & 63) & 1) << n for n, b in enumerate(codes.bits))
            if held not in model.codes:
                return impossible_symbol(model.pattern, model.header.condition_names, codes, words)
        return AssertionError("the kernel refused an event that every alphabet has")
