"""Events that waited in a checkpoint while the patterns of the line became others: their condition words made anew.

An event waits with the words of the conditions of then. Those that are still asked for are kept; new ones are computed
from the attributes that the event carries, and are unknown where it carries none of them.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foresail.patterns.conditions.evaluate import evaluate
from foresail.patterns.conditions.text import text_of
from foresail.pipeline.conditions.arrow import array_columns
from foresail.pipeline.stream.bucket.line_spec import PLAIN, LineSpec
from foresail.pipeline.stream.bucket.words import WORD_BITS, carried, packed, words_for
from foresail.pipeline.stream.state.codec import StateFormatError


def recrossed(rows: pd.DataFrame, crossed: Mapping[str, Sequence[str]], spec: LineSpec) -> pd.DataFrame:
    """`rows`, whose words are of the conditions `crossed`, with the words that the line of `spec` reads."""
    if crossed == spec.crossed:
        return rows
    layers = [name for name in crossed if name != PLAIN]
    changed = [f.layer for f in spec.families if crossed.get(f.layer) != spec.crossed[f.layer]]
    if changed:
        msg = (
            f"checkpoint: {len(rows)} events wait in it that do not say what holds near features of '{changed[0]}' for "
            "these patterns. Start the line with the patterns it had and send `foresail configure --flush` first, or "
            "name a new folder in stream.checkpoint."
        )
        raise StateFormatError(msg)
    words = _words(rows, crossed[PLAIN], spec)
    out = rows.drop(columns=[name for name in rows.columns if name.startswith(("word_", "family_", "near_"))])
    out = out.assign(**{f"word_{n}": words[:, n] for n in range(words.shape[1])})
    for n, family in enumerate(spec.families):
        was = layers.index(family.layer)
        held = {f"family_{n}_{k}": f"family_{was}_{k}" for k in range(words_for(len(family.conditions)))}
        held[f"near_{n}"] = f"near_{was}"
        out = out.assign(**{name: rows[before] for name, before in held.items()})
    return out


def _words(rows: pd.DataFrame, texts: Sequence[str], spec: LineSpec) -> NDArray[np.int64]:
    before = packed(rows, "word", words_for(len(texts)))
    place = {text: n for n, text in enumerate(texts)}
    new = [condition for condition in spec.conditions if text_of(condition) not in place]
    columns = array_columns(carried(rows, new, spec.types)) if new else {}
    out = np.zeros((len(rows), words_for(len(spec.conditions))), dtype=np.uint64)
    for n, condition in enumerate(spec.conditions):
        old = place.get(text_of(condition))
        held = evaluate(condition, columns, len(rows)) if old is None else _bit(before, old)
        out[:, n // WORD_BITS] |= np.where(held, np.uint64(1) << np.uint64(n % WORD_BITS), np.uint64(0))
    return out.view(np.int64)


def _bit(words: NDArray[np.int64], place: int) -> NDArray[np.bool_]:
    shifted = words[:, place // WORD_BITS].view(np.uint64) >> np.uint64(place % WORD_BITS)
    return (shifted & np.uint64(1)).astype(np.bool_)
