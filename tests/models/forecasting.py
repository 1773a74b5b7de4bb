"""Models of small patterns over letters, and batches to forecast on, for the tests of this folder."""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresail.models.counts import count
from foresail.models.forecasts import Forecasts
from foresail.models.kernels.decisions import Decisions
from foresail.models.model import Model, ModelSettings, build
from foresail.models.suffix_tree import LearnSettings
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.events import EventBatch
from tests.models.letters import MINUTE, joined, symbols_of


def random_text(random: Random, length: int, letters: str = "abx") -> str:
    """Letters that come in short runs."""
    text = ""
    while len(text) < length:
        text += random.choice(letters) * random.choice([1, 1, 2, 3])
    return text[:length]


def model_of(
    pattern: CompiledPattern,
    texts: Sequence[str],
    order: int = 2,
    max_order: int = 4,
    step: int = MINUTE,
    smoothing: float = 0.001,
    **chosen: Any,
) -> Model:
    """A model of `pattern` trained on tracks written as letters."""
    symbols, first_of = joined([symbols_of(pattern, text) for text in texts])
    times = np.concatenate([np.arange(len(text), dtype=np.int64) * step for text in texts])
    settings = ModelSettings(
        learn=LearnSettings(order=order, min_context_probability=0.01, smoothing=smoothing), **chosen
    )
    return build(pattern, count(symbols, times, first_of, pattern, max_order), settings)


def batch_of(words: Sequence[NDArray[np.int64]], times: Sequence[NDArray[np.int64]]) -> EventBatch:
    """Tracks one after the other."""
    first_of = np.cumsum([0, *(len(track) for track in words)]).astype(np.int64)
    return EventBatch(np.concatenate(words), np.concatenate(times).astype(np.int64), first_of)


def rows_of(forecasts: Forecasts, first: int = 0) -> list[tuple[Any, ...]]:
    """The rows as tuples, sorted; events are counted from `first`. NaN is None, so that rows can be compared."""
    columns = [forecasts.event + first, forecasts.model, forecasts.index, forecasts.feature]
    columns += [getattr(forecasts, name) for name in Decisions._fields if name not in ("emitted", "model")]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return sorted(tuple(None if value != value else value for value in row) for row in rows)  # noqa: PLR0124
