"""The recent positions of a bucket where late ones are taken after all: what these and later ones should have been.

A late position changes what is derived for the one after it, and since when a status holds. So every position of the
track from the late one on is made anew and sent once more, to be read in place of what was sent before.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foresail.pipeline.stages.derive import DEFAULT_GAP_US
from foresail.pipeline.stages.track_memory import decode_memory, empty_memory, encode_memory, meet


@dataclass(slots=True, eq=False)
class RecentPositions:
    """`memory` of the tracks as it was before `rows`."""

    rerun_us: int
    memory: pd.DataFrame
    rows: pd.DataFrame | None = None
    gap_us: int = DEFAULT_GAP_US

    @classmethod
    def stored(cls, rerun_us: int, memory: bytes, rows: bytes, gap_us: int = DEFAULT_GAP_US) -> "RecentPositions":
        """What `encoded` made bytes of; of nothing where there are none."""
        return cls(
            rerun_us,
            decode_memory(memory) if memory else empty_memory(),
            decode_memory(rows) if rows else None,
            gap_us,
        )

    def encoded(self) -> tuple[bytes, bytes]:
        """What to keep until the next micro-batch."""
        rows = encode_memory(self.rows) if self.rows is not None and len(self.rows) else b""
        return encode_memory(self.memory) if len(self.memory) else b"", rows

    def begin(self, memory: pd.DataFrame) -> None:
        """Begin with tracks that come back from rest, as they are remembered."""
        if self.rerun_us and len(memory):
            self.memory = pd.concat([self.memory, memory], ignore_index=True)

    def taken(self, arrived: pd.DataFrame, memory: pd.DataFrame) -> NDArray[np.bool_]:
        """Which of `arrived` are late but of a time that is kept, and the first of their instant."""
        last = memory.set_index("track")["time"].reindex(arrived["track"]).to_numpy(dtype="datetime64[us]")
        time = arrived["time"].to_numpy(dtype="datetime64[us]")
        if not self.rerun_us or self.rows is None or not len(self.rows):
            return np.zeros(len(arrived), dtype=np.bool_)
        near: NDArray[np.bool_] = (time < last) & (time >= last - np.timedelta64(self.rerun_us, "us"))
        began = self.memory.set_index("track")["time"].reindex(arrived["track"]).to_numpy(dtype="datetime64[us]")
        near &= arrived["track"].isin(self.rows["track"]).to_numpy() & ~(time <= began)
        mine = _instants(arrived)
        first: NDArray[np.bool_] = near & ~mine.isin(_instants(self.rows)) & ~mine.duplicated()
        return first

    def again(self, late: pd.DataFrame, memory: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The positions from each late one on beside those before them, and the memory after all of them."""
        assert self.rows is not None
        mine = self.rows["track"].isin(late["track"])
        self.rows = pd.concat([self.rows, late], ignore_index=True)
        met = meet(
            pd.concat([self.rows[: len(mine)][mine], late], ignore_index=True),
            self.memory[self.memory["track"].isin(late["track"])],
            gap_us=self.gap_us,
        )
        first = late.groupby("track")["time"].min().reindex(met.positions["track"]).to_numpy()
        changed = met.positions[met.positions["time"].to_numpy() >= first]
        others = memory[~memory["track"].isin(late["track"])]
        return changed, pd.concat([others, met.memory], ignore_index=True)

    def note(self, rows: pd.DataFrame, memory: pd.DataFrame) -> None:
        """Keep positions that were sent; let those go that are too old, or whose track is not in `memory` any more."""
        if not self.rerun_us:
            return
        there = self.rows is not None and len(self.rows)
        held: pd.DataFrame = pd.concat([self.rows, rows], ignore_index=True) if there else rows.reset_index(drop=True)
        last = memory.set_index("track")["time"].reindex(held["track"]).to_numpy(dtype="datetime64[us]")
        gone = np.isnat(last)
        leaving = ~gone & (held["time"].to_numpy(dtype="datetime64[us]") < last - np.timedelta64(self.rerun_us, "us"))
        if leaving.any():
            self.memory = meet(held[leaving], self.memory, gap_us=self.gap_us).memory
        self.rows = held[~(leaving | gone)].reset_index(drop=True)
        self.memory = self.memory[self.memory["track"].isin(memory["track"])].reset_index(drop=True)


def _instants(rows: pd.DataFrame) -> Any:
    return pd.MultiIndex.from_arrays([rows["track"].to_numpy(dtype=object), rows["time"].to_numpy("datetime64[us]")])
