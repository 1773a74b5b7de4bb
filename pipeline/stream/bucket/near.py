"""Which features of a layer an event is near, as one text column: written by Spark, read by the kernel's side.

A text per event keeps one row per event, so that an event and what is near it wait, are late and are read together.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.families import Near

FEATURE_END, FIELD_END = "\x1e", "\x1f"


def near_of(texts: NDArray[np.object_], words: int, features: dict[str, None]) -> Near:
    """The rows of `Near` from a text per event; features that are met for the first time get the next number."""
    counts = np.zeros(len(texts), dtype=np.int64)
    some = [n for n, text in enumerate(texts) if text]
    lists = [texts[n].split(FEATURE_END) for n in some]
    counts[some] = [len(items) for items in lists]
    fields = [item.split(FIELD_END) for items in lists for item in items]
    for row in fields:
        features.setdefault(row[0], None)
    numbers = {name: n for n, name in enumerate(features)}
    feature = np.array([numbers[row[0]] for row in fields], dtype=np.int32)
    values = np.array([[int(word) for word in row[1 : words + 1]] for row in fields], dtype=np.int64)
    at = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Near(at, feature, values.reshape(len(fields), words))


def text_of(near: Sequence[tuple[str, Sequence[int]]]) -> str | None:
    """The text of an event's near features, as Spark writes it; for tests and for reading."""
    return FEATURE_END.join(FIELD_END.join([name, *map(str, words)]) for name, words in near) or None
