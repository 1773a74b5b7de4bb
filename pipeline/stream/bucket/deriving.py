"""Derived attributes and condition words of positions in order, in arrays: what Spark makes of the same columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foresail.patterns.conditions.packing import Packer
from foresail.patterns.conditions.syntax import Condition
from foresail.pipeline.conditions.arrow import array_columns
from foresail.pipeline.stages.array_functions import Nullable
from foresail.pipeline.stages.derive import PREVIOUS_COLUMNS, READ_COLUMNS, SPEEDS, DeriveOptions, derived_arrays
from foresail.pipeline.stream.bucket.line_spec import LineSpec
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.bucket.words import carried

KEYS = ("track", "offset", "arrived_us")


@dataclass(frozen=True, slots=True)
class Deriving:
    """How a bucket puts positions in order, and what it derives of them."""

    options: DeriveOptions
    rules: BucketRules
    spec: LineSpec
    """Its conditions are evaluated, and the attributes that it knows are kept."""

    def __call__(self, positions: pd.DataFrame) -> pd.DataFrame:
        """Events as a bucket reads them, of positions beside the ones before them (`PREVIOUS_COLUMNS`)."""
        made = plain_columns(derived_arrays(nullable_columns(positions), self.options), len(positions))
        shown = [name for name in dict.fromkeys(("lon", "lat", *self.spec.types)) if name not in KEYS]
        events = pd.DataFrame(
            {
                **{name: positions[name].to_numpy() for name in KEYS},
                "time_us": positions["time"].to_numpy("datetime64[us]").astype(np.int64),
                **{name: positions[name].to_numpy() for name in shown if name in positions.columns},
                **{name: made[name] for name in shown if name in made},
            },
            copy=False,
        )
        attributes = array_columns(carried(events, self.spec.conditions, self.spec.types))
        words = _packer(self.spec.conditions).words(attributes, len(events))
        return events.assign(**{f"word_{n}": words[:, n] for n in range(words.shape[1])})


@lru_cache(maxsize=8)
def _packer(conditions: tuple[Condition, ...]) -> Packer:
    return Packer(conditions)


def nullable_columns(positions: pd.DataFrame) -> dict[str, Nullable]:
    """The columns that the rules read, unknown where there is none of that name; speeds only where there are some."""
    names = [*READ_COLUMNS, *(name for name in SPEEDS["fleet"] if name in positions.columns), *PREVIOUS_COLUMNS]
    return {name: _nullable(positions, name) for name in dict.fromkeys(names)}


def _nullable(positions: pd.DataFrame, name: str) -> Nullable:
    if name not in positions.columns:
        return Nullable(np.zeros(len(positions)), np.zeros(len(positions), dtype=np.bool_))
    values = positions[name].to_numpy()
    if values.dtype.kind == "M":
        return Nullable(values.astype("datetime64[us]").astype(np.int64), ~np.isnat(values))
    if values.dtype.kind != "O":
        return Nullable.of(values)
    known = ~pd.isna(values)
    # texts are asked for nothing but whether they are known
    return Nullable(np.where(known, values, False).astype(np.bool_) if name == "accelerating" else values, known)


def plain_columns(columns: Mapping[str, Nullable], rows: int) -> dict[str, NDArray[Any]]:
    """The same as a data frame holds them: NaN or None where a value is not known."""
    return {name: _plain(column, rows) for name, column in columns.items()}


def _plain(column: Nullable, rows: int) -> NDArray[Any]:
    values, known = np.broadcast_to(column.values, rows), np.broadcast_to(column.known, rows)
    if values.dtype.kind != "b":
        numbers: NDArray[Any] = np.where(known, values, np.nan)
        return numbers
    if known.all():
        return values
    truths = values.astype(object)
    truths[~known] = None
    return truths
