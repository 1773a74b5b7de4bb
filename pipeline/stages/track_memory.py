"""What a stream remembers of each track, and how new positions meet it: plain arrays, no Spark.

The memory of a bucket of tracks is one table with a row for each track: its last position, since when its status holds
and since when it has been heard without a gap. `meet` moves values about and computes nothing but whole microseconds,
so a stream's attributes are exactly a batch's.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from foresail.arrow_bytes import table_from_bytes, table_to_bytes
from foresail.pipeline.stages.derive import DEFAULT_GAP_US, REMEMBERED

MEMORY_COLUMNS = ("track", *REMEMBERED, "status", "status_since", "heard_since")


@dataclass(frozen=True, slots=True)
class ChainedPositions:
    """Positions with what came before each, and the memory after them."""

    positions: pd.DataFrame
    memory: pd.DataFrame


def empty_memory() -> pd.DataFrame:
    """The memory of a bucket that has seen nothing."""
    times = dict.fromkeys(("time", "status_since", "heard_since"), "datetime64[ns]")
    kinds = {**times, "track": "object", "status": "object"}
    return pd.DataFrame({name: pd.Series(dtype=kinds.get(name, "float64")) for name in MEMORY_COLUMNS})


def encode_memory(memory: pd.DataFrame) -> bytes:
    """`memory` as bytes for Spark's state store."""
    table = pa.Table.from_pandas(memory, preserve_index=False)
    return table_to_bytes(table)


def decode_memory(stored: bytes) -> pd.DataFrame:
    """What `encode_memory` made bytes of."""
    memory: pd.DataFrame = table_from_bytes(stored).to_pandas()
    if "status_since" in memory.columns and "heard_since" not in memory.columns:
        memory = memory.assign(heard_since=memory["time"])  # remembered by an earlier release
    return memory


def meet(arrived: pd.DataFrame, memory: pd.DataFrame, gap_us: int = DEFAULT_GAP_US) -> ChainedPositions:
    """`arrived` (with a `status`) in time order, each beside the one before it; the late ones marked and left out.

    A position that is not after the last one of its track is `late`, one at the same instant is `same_time`: neither
    is given attributes, and neither is remembered.
    """
    arrived = arrived.sort_values(["track", "time", "offset"], kind="stable", ignore_index=True)
    known = memory.set_index("track")["time"].reindex(arrived["track"]).to_numpy()
    time = arrived["time"].to_numpy()
    again = _same_as_before(arrived["track"]) & np.r_[False, time[1:] == time[:-1]][: len(time)]
    late, repeated = time < known, again | (time == known)
    arrived["late_reason"] = pd.Series(
        np.select([late, repeated], ["late", "same_time"], default=""), index=arrived.index, dtype="object"
    ).where(late | repeated, None)
    behind = arrived[late | repeated]
    chained = _chain(arrived[~(late | repeated)], memory, gap_us)
    positions = pd.concat([chained.positions, behind], ignore_index=True) if len(behind) else chained.positions
    return ChainedPositions(positions, chained.memory)


def _chain(fresh: pd.DataFrame, memory: pd.DataFrame, gap_us: int) -> ChainedPositions:
    meets = memory["track"].isin(fresh["track"])
    stored_rows = memory[meets].assign(stored=True)
    fresh_rows = fresh.assign(stored=False, status_since=fresh["time"], heard_since=fresh["time"])
    both: pd.DataFrame = pd.concat([stored_rows, fresh_rows], ignore_index=True)
    both = both.sort_values(["track", "time"], kind="stable", ignore_index=True)
    stored = both["stored"].to_numpy(dtype=bool)
    follows = _same_as_before(both["track"])
    for name in REMEMBERED:
        both[f"previous_{name}"] = both[name].shift(1).where(follows)
    both["status_since"] = _since(both["status_since"], follows & _same_status(both))
    both["heard_since"] = _since(both["heard_since"], follows & ~_after_gap(both["time"], gap_us))
    last = ~np.r_[follows[1:], False][: len(both)]
    after: pd.DataFrame = pd.concat([memory[~meets], both.loc[last, list(MEMORY_COLUMNS)]], ignore_index=True)
    return ChainedPositions(both[~stored].drop(columns="stored"), after)


def _since(began: "pd.Series[Any]", goes_on: NDArray[np.bool_]) -> NDArray[np.datetime64]:
    """When that began which each row is in: at the row where it last began, or as was stored."""
    begins = np.where(goes_on, 0, np.arange(len(began)))
    since: NDArray[np.datetime64] = began.to_numpy()[np.maximum.accumulate(begins)]
    return since


def _same_status(both: pd.DataFrame) -> NDArray[np.bool_]:
    status = both["status"].to_numpy(dtype=object)
    unknown = pd.isna(status)
    same: NDArray[np.bool_] = np.r_[False, (status[1:] == status[:-1]) | (unknown[1:] & unknown[:-1])].astype(bool)
    return same[: len(both)]


def _after_gap(time: "pd.Series[Any]", gap_us: int) -> NDArray[np.bool_]:
    micros = time.to_numpy(dtype="datetime64[us]").astype(np.int64)
    after: NDArray[np.bool_] = np.r_[False, np.diff(micros) > gap_us][: len(micros)]
    return after


def _same_as_before(track: "pd.Series[str]") -> NDArray[np.bool_]:
    """Whether each row is of the same track as the one above it."""
    names = track.to_numpy(dtype=object)
    same: NDArray[np.bool_] = np.r_[False, names[1:] == names[:-1]][: len(names)].astype(bool)
    return same
