"""Events put in order before they are read: kept until the watermark passes them, then released by track and time.

An event is late when its track has already been read beyond its time: only then can nothing put it in order any more.
It waits until its own track, or the clock of the bucket, is far enough ahead of it; and that clock is moved by several
tracks, never by one alone. So a vessel with a wrong clock spoils its own order at most, never that of others.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

LATE, SAME_TIME = "late", "same_time"
LEAST_AGREEING, SHARE_AHEAD = 2, 0.05
"""How many tracks must have come as far as the clock of their bucket says; what share of those at hand may be ahead."""


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """Rows by track and time, ready to be read, and the tracks they belong to."""

    rows: pd.DataFrame
    tracks: NDArray[np.object_]
    first_of: NDArray[np.int64]
    """The first row of each track, and the end."""


def together(arrived: pd.DataFrame, waiting: pd.DataFrame | None) -> pd.DataFrame:
    """The rows that waited, then those that have arrived."""
    return arrived if waiting is None or not len(waiting) else pd.concat([waiting, arrived], ignore_index=True)


def agreed_us(rows: pd.DataFrame, tracks: NDArray[np.object_], last_time: NDArray[np.int64]) -> int | None:
    """The time that several tracks have reached, by `rows` or by what was read of those at hand; None without any.

    One track alone may have a clock that is ahead. It is believed only where there is no other track.
    """
    heard = rows.groupby("track", sort=False)["time_us"].max()
    place = pd.Index(tracks, dtype=object).get_indexer(heard.index)
    newest, known = last_time.copy(), place >= 0
    times = heard.to_numpy(dtype=np.int64)
    newest[place[known]] = np.maximum(newest[place[known]], times[known])
    newest = np.concatenate([newest, times[~known]])
    if not len(newest):
        return None
    agreeing = min(len(newest), max(LEAST_AGREEING, int(SHARE_AHEAD * len(newest)) + 1))
    return int(np.partition(newest, -agreeing)[-agreeing])


def due(rows: pd.DataFrame, until_us: int, out_of_order_us: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows that wait no more, up to the watermark or far behind the newest of their own track; and the others."""
    time = rows["time_us"].to_numpy()
    now = time <= until_us
    if not now.all():
        own = rows.groupby("track", sort=False)["time_us"].transform("max").to_numpy()
        now |= time <= own - out_of_order_us
    return (rows, rows.iloc[:0]) if now.all() else (rows[now], rows[~now])


def in_order(rows: pd.DataFrame) -> Ordered:
    """`rows` sorted by track, time and offset (and the order in which they came)."""
    codes, tracks = pd.factorize(rows["track"].to_numpy(dtype=object))
    order = np.lexsort((rows["offset"].to_numpy(), rows["time_us"].to_numpy(), codes))
    return _ordered(rows.take(order), codes[order], tracks)


def without_late(
    ordered: Ordered, last_time: NDArray[np.int64], keep_same_time: bool
) -> tuple[Ordered, pd.DataFrame, NDArray[np.int64]]:
    """The rows that can be read, those that came too late with a `reason`, and the places of the tracks that stay.

    `last_time` is the time up to which each track has been read; a second event of the same instant is set aside too
    unless `keep_same_time`.
    """
    slots = np.repeat(np.arange(len(ordered.tracks)), np.diff(ordered.first_of))
    time = ordered.rows["time_us"].to_numpy()
    read_until = last_time[slots]
    late = time < read_until
    same = np.zeros(len(time), dtype=np.bool_)
    if not keep_same_time and len(time):
        again = np.r_[False, (time[1:] == time[:-1]) & (slots[1:] == slots[:-1])]
        same = ~late & (again | (time == read_until))
    out = late | same
    if not out.any():
        return ordered, ordered.rows.iloc[:0], np.arange(len(ordered.tracks))
    behind = ordered.rows[out].assign(reason=np.where(late[out], LATE, SAME_TIME))
    staying, codes = np.unique(slots[~out], return_inverse=True)
    return _ordered(ordered.rows[~out], codes, ordered.tracks[staying]), behind, staying


def _ordered(rows: pd.DataFrame, codes: NDArray[np.int64], tracks: NDArray[np.object_]) -> Ordered:
    counts = np.bincount(codes, minlength=len(tracks)) if len(codes) else np.zeros(len(tracks), dtype=np.int64)
    return Ordered(rows, np.asarray(tracks, dtype=object), np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
