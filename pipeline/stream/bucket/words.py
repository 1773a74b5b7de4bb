"""The condition words of events: those that Spark has computed, and further ones computed here with the same result."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.conditions.evaluate import evaluate
from foresail.patterns.conditions.inspection import attributes_of
from foresail.patterns.conditions.syntax import TIME, Condition
from foresail.patterns.conditions.typing import AttributeType
from foresail.pipeline.conditions.arrow import array_columns

WORD_BITS = 64
_ARROW = {
    AttributeType.NUMBER: pa.float64(),
    AttributeType.INTEGER: pa.int64(),
    AttributeType.STRING: pa.string(),
    AttributeType.BOOLEAN: pa.bool_(),
    AttributeType.TIMESTAMP: pa.timestamp("us"),
}


def words_for(conditions: int) -> int:
    """How many words hold so many conditions."""
    return max(1, -(-conditions // WORD_BITS))


def packed(rows: pd.DataFrame, name: str, count: int) -> NDArray[np.int64]:
    """The word columns of that name as one array."""
    columns = [rows[f"{name}_{n}"].to_numpy(dtype=np.int64) for n in range(count)]
    return np.ascontiguousarray(columns[0].reshape(-1, 1) if count == 1 else np.column_stack(columns))


def carried(rows: pd.DataFrame, conditions: Sequence[Condition], types: Mapping[str, AttributeType]) -> pa.Table:
    """The attributes of these conditions, null where the rows do not have them."""
    columns = {}
    for name in dict.fromkeys(a.name for condition in conditions for a in attributes_of(condition)):
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
