"""Pairs in a stream: Spark's state store remembers each track's last position, and who was where of late.

Both memories are kept by buckets, so that one Python call serves many tracks or cubes. The arithmetic is that of a
batch (`geo.proximity`), so a stream finds the pairs that a batch finds, each as soon as the later of its two tracks has
passed the time. A stage that already has the position before each one needs no second memory: `legs_of_previous`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from foresail.geo.bucket_memory import with_memory
from foresail.geo.errors import AttributeClashError
from foresail.geo.proximity import (
    AXES,
    BEFORE,
    LEG_COLUMNS,
    PairSettings,
    in_common_cubes,
    known_positions,
    pairs_of_cubes,
)

DEFAULT_BUCKETS = 8
PREVIOUS = ("previous_time", "previous_lon", "previous_lat")
CUBE = ["time", *(f"c{axis}" for axis in AXES)]
CLOCK_AHEAD = pd.Timedelta(days=1)
"""How far a track's clock may be ahead without others being forgotten for it."""


@dataclass(frozen=True, slots=True)
class Met:
    """The rows that new ones give when they meet what is remembered, and what is remembered after them."""

    rows: pd.DataFrame
    memory: pd.DataFrame


def pairs_of_stream(
    events: DataFrame, settings: PairSettings | None = None, buckets: int = DEFAULT_BUCKETS
) -> DataFrame:
    """Pairs of a stream of positions: the rows and columns of `pairs`."""
    settings = settings or PairSettings()
    return pairs_of_streamed_legs(legs_of_stream(events, settings, buckets), settings, buckets)


def legs_of_stream(events: DataFrame, settings: PairSettings, buckets: int = DEFAULT_BUCKETS) -> DataFrame:
    """Legs of a stream: one that comes after a later position of its track has no leg, and is left out."""
    keyed = known_positions(events, settings).withColumn("bucket", F.pmod(F.hash("track"), F.lit(buckets)))
    forget_after = pd.Timedelta(seconds=settings.max_gap_s + settings.lateness_s)

    def advance(arrived: pd.DataFrame, memory: pd.DataFrame | None) -> tuple[pd.DataFrame, pd.DataFrame]:
        met = meet_track(arrived, memory, forget_after)
        return met.rows, met.memory

    schema = T.StructType([*keyed.schema.fields, *_before_fields(keyed.schema)])
    return with_memory(keyed, "bucket", advance, schema).drop("bucket")


def legs_of_previous(events: DataFrame) -> DataFrame:
    """Legs of events, batch or stream, that carry the position before them as `previous_*`."""
    missing = [name for name in PREVIOUS if name not in events.columns]
    if missing:
        msg = f"events: no column '{missing[0]}'. Legs need {', '.join(PREVIOUS)}; `legs_of_stream` finds them itself."
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


def meet_track(arrived: pd.DataFrame, memory: pd.DataFrame | None, forget_after: pd.Timedelta) -> Met:
    """`arrived` in time order, each beside the one before it; what is not after the last of its track is left out."""
    order = [name for name in ("track", "time", "offset") if name in arrived]
    both = arrived.sort_values(order, kind="stable", ignore_index=True).assign(stored=False)
    if memory is not None:
        last = memory.set_index("track")["time"].reindex(both["track"]).to_numpy()
        both = pd.concat([memory.assign(stored=True), both[~(both["time"].to_numpy() <= last)]], ignore_index=True)
        both = both.sort_values(["track", "time"], kind="stable", ignore_index=True)
    track = both["track"].to_numpy(dtype=object)
    follows = np.r_[False, track[1:] == track[:-1]][: len(track)].astype(bool)
    for name, before in zip(LEG_COLUMNS[1:], BEFORE, strict=True):
        both[before] = both[name].shift(1).where(follows)
    last_ones = both.loc[~np.r_[follows[1:], False][: len(both)], list(LEG_COLUMNS)]
    fresh = both[~both["stored"].to_numpy(dtype=bool)].drop(columns="stored")
    return Met(fresh, _recent(last_ones, forget_after))


def meet_others(arrived: pd.DataFrame, memory: pd.DataFrame | None, forget_after: pd.Timedelta) -> Met:
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
    return Met(pd.concat(rows, axis=1), _recent_places(both, forget_after))


def _recent_places(rows: pd.DataFrame, forget_after: pd.Timedelta) -> pd.DataFrame:
    """What may yet be met: by the time that two tracks have reached, for one alone may have a clock that is ahead."""
    reached = rows.groupby("track")["time"].max().nlargest(2)
    if not len(reached):
        return rows
    agreed = max(reached.iloc[-1], reached.iloc[0] - CLOCK_AHEAD)
    recent: pd.DataFrame = rows[rows["time"] >= agreed - forget_after]
    return recent.reset_index(drop=True)


def _recent(rows: pd.DataFrame, forget_after: pd.Timedelta) -> pd.DataFrame:
    recent: pd.DataFrame = rows[rows["time"] >= rows["time"].max() - forget_after]
    return recent.reset_index(drop=True)


def _before_fields(schema: T.StructType) -> Iterator[Any]:
    for name, before in zip(LEG_COLUMNS[1:], BEFORE, strict=True):
        yield T.StructField(before, schema[name].dataType)
