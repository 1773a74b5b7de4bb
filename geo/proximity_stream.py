"""Pairs in a stream: Spark's state store remembers who was where of late.

The memory is kept by buckets, so that one Python call serves many cubes. The arithmetic is that of a batch
(`geo.proximity`), so a stream finds the pairs that a batch finds, each as soon as the later of its two tracks has
passed the time.

Rows that meet what Spark's state store remembers of their bucket: a table in, a table out, a table remembered.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from foresail.arrow_bytes import table_from_bytes, table_to_bytes
from foresail.geo.errors import AttributeClashError
from foresail.geo.proximity import (
    AXES,
    BEFORE,
    PairSettings,
    in_common_cubes,
    pairs_of_cubes,
)

Advance = Callable[[pd.DataFrame, pd.DataFrame | None], tuple[pd.DataFrame, pd.DataFrame]]
"""From the rows of a micro-batch and the memory (none at first): the rows to give out, and the memory after them."""

MEMORY_SCHEMA = T.StructType([T.StructField("memory", T.BinaryType())])


class BucketMemory(StatefulProcessor):
    """Spark's side: loads the memory of a bucket, calls `advance`, saves it."""

    def __init__(self, advance: Advance, columns: list[str]) -> None:
        self._advance = advance
        self._columns = columns

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Find the bucket's value in the state store."""
        self._stored = handle.getValueState("memory", MEMORY_SCHEMA)

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: ARG002, N802, N803 - Spark's names
        """The rows that those of one micro-batch give."""
        stored = self._stored.get()
        memory = None if stored is None else decoded(stored[0])
        out, memory = self._advance(pd.concat(list(rows), ignore_index=True), memory)
        self._stored.update((encoded(memory),))
        yield out.reindex(columns=self._columns)

    def close(self) -> None:
        """Nothing is held open."""


def with_memory(rows: DataFrame, key: str, advance: Advance, schema: T.StructType) -> DataFrame:
    """A stream of what `advance` makes of `rows`, which carry their bucket in the column `key`."""
    memory = BucketMemory(advance, schema.fieldNames())
    return rows.groupBy(key).transformWithStateInPandas(memory, schema, "Append", "None")


def encoded(memory: pd.DataFrame) -> bytes:
    """A table as bytes of the state store."""
    return table_to_bytes(pa.Table.from_pandas(memory, preserve_index=False))


def decoded(stored: bytes) -> pd.DataFrame:
    """What `encoded` made bytes of."""
    memory: pd.DataFrame = table_from_bytes(stored).to_pandas()
    return memory


DEFAULT_BUCKETS = 8
PREVIOUS = ("previous_time", "previous_lon", "previous_lat")
CUBE = ["time", *(f"c{axis}" for axis in AXES)]
CLOCK_AHEAD = pd.Timedelta(days=1)
"""How far a track's clock may be ahead without others being forgotten for it."""


@dataclass(frozen=True, slots=True)
class Encounters:
    """The rows that new ones give when they meet what is remembered, and what is remembered after them."""

    rows: pd.DataFrame
    memory: pd.DataFrame


def legs_of_previous(events: DataFrame) -> DataFrame:
    """Legs of events, batch or stream, that carry the position before them as `previous_*`."""
    missing = [name for name in PREVIOUS if name not in events.columns]
    if missing:
        msg = f"events: no column '{missing[0]}'. Legs need {', '.join(PREVIOUS)}."
        raise AttributeClashError(msg)
    return events.withColumnsRenamed(dict(zip(PREVIOUS, BEFORE, strict=True)))


def pairs_of_streamed_legs(legs: DataFrame, settings: PairSettings, buckets: int = DEFAULT_BUCKETS) -> DataFrame:
    """Pairs from a stream of legs; a track may be `lateness_s` behind the other at most."""
    kept = [name for name in settings.attributes if name in legs.columns]
    cubes = in_common_cubes(legs, kept, settings)
    keyed = cubes.withColumn("bucket", F.pmod(F.hash(*CUBE[1:]), F.lit(buckets)))
    forget_after = pd.Timedelta(seconds=settings.lateness_s)

    def advance(arrived: pd.DataFrame, memory: pd.DataFrame | None) -> tuple[pd.DataFrame, pd.DataFrame]:
        met = meet_others(arrived.drop(columns="bucket"), memory, forget_after)
        return met.rows, met.memory

    sided = [T.StructField(f"{f.name}_{side}", f.dataType) for side in "ab" for f in cubes.schema.fields]
    return pairs_of_cubes(with_memory(keyed, "bucket", advance, T.StructType(sided)), kept, settings)


def meet_others(arrived: pd.DataFrame, memory: pd.DataFrame | None, forget_after: pd.Timedelta) -> Encounters:
    """Each pair of tracks in one cube at one time, of which at least one has just arrived, as columns `_a` and `_b`."""
    both = arrived if memory is None else pd.concat([memory, arrived], ignore_index=True)
    fresh = np.arange(len(both)) >= len(both) - len(arrived)
    numbered = both[[*CUBE, "track"]].assign(number=np.arange(len(both)))
    met = numbered[fresh].merge(numbered, on=CUBE, suffixes=("", "_other"))
    met = met[met["track"] != met["track_other"]]
    # two that have just arrived meet each other twice
    met = met[(met["track"] < met["track_other"]) | ~fresh[met["number_other"].to_numpy()]]
    first = met["track"] < met["track_other"]
    sides = {"a": met["number"].where(first, met["number_other"]), "b": met["number_other"].where(first, met["number"])}
    rows = [both.iloc[number].reset_index(drop=True).add_suffix(f"_{side}") for side, number in sides.items()]
    return Encounters(pd.concat(rows, axis=1), _recent_places(both, forget_after))


def _recent_places(rows: pd.DataFrame, forget_after: pd.Timedelta) -> pd.DataFrame:
    """What may yet be met: by the time that two tracks have reached, for one alone may have a clock that is ahead."""
    reached = rows.groupby("track")["time"].max().nlargest(2)
    if not len(reached):
        return rows
    agreed = max(reached.iloc[-1], reached.iloc[0] - CLOCK_AHEAD)
    recent: pd.DataFrame = rows[rows["time"] >= agreed - forget_after]
    return recent.reset_index(drop=True)
