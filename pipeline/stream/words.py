"""The condition words of events: those that Spark has computed, and further ones computed here with the same result."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from patterns.conditions.evaluate import ArrayColumn, evaluate
from patterns.conditions.inspection import attributes_of
from patterns.conditions.syntax import TIME, Condition
from patterns.conditions.typing import AttributeType
from pipeline.arrow_columns import array_columns

WORD_BITS = 64


def words_for(conditions: int) -> int:
    """How many words hold so many conditions."""
    return max(1, -(-conditions // WORD_BITS))


def packed(rows: pd.DataFrame, name: str, count: int) -> NDArray[np.int64]:
    """The word columns of that name as one array."""
    columns = [rows[f"{name}_{n}"].to_numpy(dtype=np.int64) for n in range(count)]
    return np.ascontiguousarray(columns[0].reshape(-1, 1) if count == 1 else np.column_stack(columns))


def words_of(rows: pd.DataFrame, crossed: Sequence[Condition], wanted: Sequence[Condition]) -> NDArray[np.int64]:
    """The words of all `wanted` conditions, of which the first ones are those that crossed."""
    words = packed(rows, "word", words_for(len(crossed)))
    further = list(wanted[len(crossed) :])
    if not further:
        return words
    out = np.zeros((len(rows), words_for(len(wanted))), dtype=np.int64)
    out[:, : words.shape[1]] = words
    names = {a.name for condition in further for a in attributes_of(condition)}
    table = pa.Table.from_pandas(rows[[name for name in rows.columns if name in names - {TIME}]], preserve_index=False)
    columns = array_columns(table)
    if TIME in names:
        columns[TIME] = ArrayColumn(rows["time_us"].to_numpy(dtype=np.int64), None, AttributeType.TIMESTAMP)
    for place, condition in enumerate(further, start=len(crossed)):
        bit = np.uint64(1) << np.uint64(place % WORD_BITS)
        held = np.where(evaluate(condition, columns, len(rows)), bit, np.uint64(0)).view(np.int64)
        out[:, place // WORD_BITS] |= held
    return out
