"""Positions of the kept past in columns: 36 bytes each, appended as they come, asked by time or by track."""

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresail.pipeline.console.rows import Position

CHUNK = 65_536
KEPT = ("speed", "course", "heading")
_COLUMNS = np.dtype(
    [("track", "i4"), ("time", "i8"), ("lon", "f4"), ("lat", "f4"), *((name, "f4") for name in KEPT), ("status", "i4")]
)


@dataclass(slots=True)
class _Chunk:
    rows: NDArray[Any]
    used: int = 0
    first_us: int = np.iinfo(np.int64).max
    last_us: int = np.iinfo(np.int64).min


@dataclass(slots=True)
class History:
    """The past, oldest chunk first; the oldest is let go when there are more positions than may be kept."""

    most: int
    names: list[str] = field(default_factory=list)
    _codes: dict[str, int] = field(default_factory=dict)
    _chunks: list[_Chunk] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __len__(self) -> int:
        return sum(chunk.used for chunk in self._chunks)

    def add(self, position: Position) -> None:
        """Keep one more position."""
        with self._lock:
            code = self._codes.get(position.track)
            if code is None:
                code = self._codes[position.track] = len(self.names)
                self.names.append(position.track)
            if not self._chunks or self._chunks[-1].used == CHUNK:
                self._chunks.append(_Chunk(np.empty(CHUNK, _COLUMNS)))
                while len(self._chunks) > 1 and len(self) - self._chunks[0].used > self.most - CHUNK:
                    self._chunks.pop(0)
            chunk = self._chunks[-1]
            status = position.values.get("nav_status")
            chunk.rows[chunk.used] = (
                code, position.time_us, position.lon, position.lat, position.speed,
                position.number("course_deg"), position.number("heading_deg"), -1 if status is None else status,
            )  # fmt: skip
            chunk.used += 1
            chunk.first_us, chunk.last_us = (
                min(chunk.first_us, position.time_us),
                max(chunk.last_us, position.time_us),
            )

    def between(self, since_us: int, until_us: int, track: str | None = None) -> NDArray[Any]:
        """Rows of that span in order of time, of one track or of all; `names` tells which track a row is of."""
        code = None if track is None else self._codes.get(track, -1)
        with self._lock:
            chunks = [c for c in self._chunks if c.last_us >= since_us and c.first_us <= until_us]
            parts = [chunk.rows[: chunk.used] for chunk in chunks]
        found = []
        for rows in parts:
            inside = (rows["time"] >= since_us) & (rows["time"] <= until_us)
            found.append(rows[inside if code is None else inside & (rows["track"] == code)])
        together = np.concatenate(found) if found else np.empty(0, _COLUMNS)
        return together[np.argsort(together["time"], kind="stable")]

    def at(self, time_us: int, within_us: int) -> NDArray[Any]:
        """The last row of each track that was heard of within that time before."""
        rows = self.between(time_us - within_us, time_us)
        last = np.full(len(self.names), -1, dtype=np.int64)
        last[rows["track"]] = np.arange(len(rows))
        return rows[last[last >= 0]]

    def span(self) -> tuple[int, int] | None:
        """The first and the last time that is kept."""
        with self._lock:
            used = [chunk for chunk in self._chunks if chunk.used]
        return (min(c.first_us for c in used), max(c.last_us for c in used)) if used else None
