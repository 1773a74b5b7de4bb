"""Which features of a layer each event is near: lists beside the event, so that both wait and are read together.

The names and each condition word of the near features are a column of lists, which Arrow turns into flat arrays.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.recognition.events import Near
from foresail.pipeline.stream.state.codec import StateFormatError

_TEXT_COLUMN = r"near_\d+"
"""Named so, a column held names and words as one text."""


def near_columns(group: int, words: int) -> list[str]:
    """The columns of a family group: the names of near features, then each of their words."""
    return [f"near_{group}_name", *(f"near_{group}_word_{n}" for n in range(words))]


def near_of(rows: pd.DataFrame, group: int, words: int, features: dict[str, None]) -> Near:
    """The near features of events; those that are met for the first time get the next number."""
    named, *worded = near_columns(group, words)
    names = _lists(rows, named, pa.string())
    met = names.flatten().dictionary_encode()
    for name in met.dictionary.to_pylist():
        features.setdefault(name, None)
    numbers = {name: n for n, name in enumerate(features)}
    number = np.array([numbers[name] for name in met.dictionary.to_pylist()], dtype=np.int32)
    at = np.concatenate([[0], np.cumsum(names.value_lengths().fill_null(0).to_numpy())]).astype(np.int64)
    columns = [_lists(rows, name, pa.int64()).flatten().to_numpy() for name in worded]
    return Near(at, _taken(number, met.indices.to_numpy()), np.ascontiguousarray(np.column_stack(columns)))


def _taken(numbers: NDArray[np.int32], places: NDArray[np.int32]) -> NDArray[np.int32]:
    return numbers[places] if len(numbers) else np.empty(0, dtype=np.int32)


def _lists(rows: pd.DataFrame, name: str, kind: pa.DataType) -> pa.ListArray:
    lists: pa.ListArray = pa.array(rows[name], pa.list_(kind), from_pandas=True)
    return lists


def check_near(rows: pd.DataFrame | None) -> None:
    """Refuse events of a checkpoint whose near features are in the format of an earlier foresail."""
    if rows is not None and rows.columns.str.fullmatch(_TEXT_COLUMN).any():
        msg = (
            f"checkpoint: {len(rows)} events are kept in it in the format of an earlier foresail. "
            "Name a new folder in stream.checkpoint."
        )
        raise StateFormatError(msg)
