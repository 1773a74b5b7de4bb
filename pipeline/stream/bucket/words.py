"""The condition words of events: those that came with them, and further ones computed here with the same result.

Events that wait in a checkpoint have the words of the conditions of then. Where the patterns of the line have become
others, those that are still asked for are kept; new ones are computed from the attributes that the event carries, and
are unknown where it carries none of them.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.conditions.evaluate import evaluate
from foresail.patterns.conditions.packing import WORD_BITS, words_for
from foresail.patterns.conditions.syntax import TIME, Condition, Value
from foresail.patterns.conditions.text import attributes_of, text_of
from foresail.patterns.conditions.typing import AttributeType
from foresail.pipeline.conditions.arrow import array_columns
from foresail.pipeline.stream.bucket.line_spec import PLAIN, LineSpec
from foresail.pipeline.stream.bucket.near import near_columns
from foresail.pipeline.stream.state.codec import StateFormatError

WORD_COLUMNS = ("word_", "family_", "near_")
"""How the names of columns begin that belong to conditions."""
_ARROW = {
    AttributeType.NUMBER: pa.float64(),
    AttributeType.INTEGER: pa.int64(),
    AttributeType.STRING: pa.string(),
    AttributeType.BOOLEAN: pa.bool_(),
    AttributeType.TIMESTAMP: pa.timestamp("us"),
}


def packed(rows: pd.DataFrame, name: str, count: int) -> NDArray[np.int64]:
    """The word columns of that name as one array."""
    columns = [rows[f"{name}_{n}"].to_numpy(dtype=np.int64) for n in range(count)]
    return np.ascontiguousarray(columns[0].reshape(-1, 1) if count == 1 else np.column_stack(columns))


def carried(rows: pd.DataFrame, read: Sequence[Condition | Value], types: Mapping[str, AttributeType]) -> pa.Table:
    """The attributes of these conditions and values, null where the rows do not have them."""
    return carried_attributes(rows, dict.fromkeys(a.name for some in read for a in attributes_of(some)), types)


def carried_attributes(rows: pd.DataFrame, names: Iterable[str], types: Mapping[str, AttributeType]) -> pa.Table:
    """The named attributes, null where the rows do not have them."""
    columns = {}
    for name in names:
        if name == TIME:
            columns[name] = pa.array(rows["time_us"].to_numpy(), pa.timestamp("us"))
        elif name in rows.columns:
            columns[name] = pa.array(rows[name], _ARROW[types[name]], from_pandas=True)
        else:
            columns[name] = pa.nulls(len(rows), _ARROW[types[name]])
    return pa.table(columns)


def words_of(
    rows: pd.DataFrame,
    crossed: Sequence[Condition],
    wanted: Sequence[Condition],
    types: Mapping[str, AttributeType],
) -> NDArray[np.int64]:
    """The words of all `wanted` conditions, of which the first ones are those that crossed."""
    words = packed(rows, "word", words_for(len(crossed)))
    further = list(wanted[len(crossed) :])
    if not further:
        return words
    out = np.zeros((len(rows), words_for(len(wanted))), dtype=np.int64)
    out[:, : words.shape[1]] = words
    columns = array_columns(carried(rows, further, types))
    for place, condition in enumerate(further, start=len(crossed)):
        bit = np.uint64(1) << np.uint64(place % WORD_BITS)
        held = np.where(evaluate(condition, columns, len(rows)), bit, np.uint64(0)).view(np.int64)
        out[:, place // WORD_BITS] |= held
    return out


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
    out = rows.drop(columns=[name for name in rows.columns if name.startswith(WORD_COLUMNS)])
    out = out.assign(**{f"word_{n}": words[:, n] for n in range(words.shape[1])})
    for n, family in enumerate(spec.families):
        was = layers.index(family.layer)
        words_of_family = words_for(len(family.conditions))
        held = {f"family_{n}_{k}": f"family_{was}_{k}" for k in range(words_of_family)}
        held |= dict(zip(near_columns(n, words_of_family), near_columns(was, words_of_family), strict=True))
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
