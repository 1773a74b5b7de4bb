"""Late events read after all: the recent past of each track is kept, and read again with them in their places.

A bucket that re-runs keeps, beside the state of its tracks, the state as it was some time ago and the events since. A
late event goes among those; the track is read again from there, once without it and once with it, and the difference is
emitted: rows that are new or changed, and the matches that no longer hold, as `retracted`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.recognition.monitor import Monitor, MonitorState
from foresail.patterns.recognition.protocol import NEVER_SEEN
from foresail.pipeline.results.match_batch import FOUND
from foresail.pipeline.stream.bucket.ordering import Ordered, in_order

RETRACTED = "retracted"

Read = Callable[[Ordered, MonitorState], tuple[list[pa.Table], MonitorState]]
"""What a monitor finds in events from a state on: rows of matches, and the state after."""


@dataclass(slots=True, eq=False)
class Past:
    """Tracks as they were before the events of `rows`; a track that is not among `tracks` began with them."""

    tracks: NDArray[np.object_]
    state: MonitorState
    rows: pd.DataFrame | None = None

    def before(self, monitor: Monitor, tracks: NDArray[np.object_]) -> MonitorState:
        """The states of these tracks before their recent events."""
        return monitor.rearranged(self.state, _places(self.tracks, tracks))

    def of(self, tracks: NDArray[np.object_]) -> pd.DataFrame:
        """The recent events of these tracks."""
        assert self.rows is not None, "only a track that was read can have a late event"
        return self.rows[self.rows["track"].isin(tracks)]

    def begin(self, monitor: Monitor, tracks: NDArray[np.object_], state: MonitorState) -> None:
        """Begin with tracks that come back from rest, as they are then."""
        self.tracks, self.state = np.concatenate([self.tracks, tracks]), monitor.joined([self.state, state])

    def reaches(self, rows: pd.DataFrame) -> NDArray[np.bool_]:
        """Which rows are of a time that is kept: after what their track had come to before its recent events."""
        if self.rows is None:
            return np.zeros(len(rows), dtype=np.bool_)
        places = _places(self.tracks, rows["track"].to_numpy(dtype=object))
        began = np.append(self.state.last_time, NEVER_SEEN)[places]
        known: NDArray[np.bool_] = rows["track"].isin(self.rows["track"]).to_numpy()
        return known & (rows["time_us"].to_numpy() > began)

    def note(self, rows: pd.DataFrame) -> None:
        """Keep events that were read."""
        there = self.rows is not None and len(self.rows)
        self.rows = pd.concat([self.rows, rows], ignore_index=True) if there else rows.reset_index(drop=True)

    def move_on(self, monitor: Monitor, newest: "pd.Series[int]", rerun_us: int, read: Read) -> None:
        """Let events leave that are more than `rerun_us` older than the newest of their track, and tracks not at hand.

        `newest` is the time up to which each track at hand has been read.
        """
        if self.rows is None or not len(self.rows):
            return
        until = newest.reindex(self.rows["track"]).to_numpy(dtype=np.float64)
        gone = np.isnan(until)
        leaving = ~gone & (self.rows["time_us"].to_numpy() < until - rerun_us)
        if leaving.any():
            ordered = in_order(self.rows[leaving])
            _, after = read(ordered, self.before(monitor, ordered.tracks))
            staying = np.flatnonzero(~np.isin(self.tracks, ordered.tracks))
            self.state = monitor.joined([monitor.rearranged(self.state, staying), after])
            self.tracks = np.concatenate([self.tracks[staying], ordered.tracks])
        self.rows = self.rows[~(leaving | gone)].reset_index(drop=True)
        there = np.flatnonzero(np.isin(self.tracks, newest.index.to_numpy(dtype=object)))
        if len(there) < len(self.tracks):
            self.tracks, self.state = self.tracks[there], monitor.rearranged(self.state, there)


@dataclass(frozen=True, slots=True, eq=False)
class Rerun:
    """What reading tracks again came to: the rows to be emitted, those of them that are new, and the states after."""

    emitted: list[pa.Table]
    new: list[pa.Table]
    tracks: NDArray[np.object_]
    state: MonitorState


def may_rerun(rows: pd.DataFrame, last_time: NDArray[np.int64], past: Past, rerun_us: int) -> NDArray[np.bool_]:
    """Which late rows can be read after all; `last_time` is that of their tracks. One instant is not read twice."""
    if past.rows is None or not len(past.rows):
        return np.zeros(len(rows), dtype=np.bool_)
    near: NDArray[np.bool_] = rows["time_us"].to_numpy() >= np.maximum(last_time, NEVER_SEEN + rerun_us) - rerun_us
    instants = pd.MultiIndex.from_frame(past.rows[["track", "time_us"]])
    mine = pd.MultiIndex.from_frame(rows[["track", "time_us"]])
    return near & past.reaches(rows) & ~mine.isin(instants) & ~mine.duplicated()


def rerun(monitor: Monitor, past: Past, rows: pd.DataFrame, read: Read) -> Rerun:
    """Read the tracks of `rows` again, with these events put in or in place of those of the same instant."""
    kept = past.of(rows["track"].unique())
    before, after = in_order(kept), in_order(pd.concat([_without(kept, rows), rows], ignore_index=True))
    old, _ = read(before, past.before(monitor, before.tracks))
    found, state = read(after, past.before(monitor, after.tracks))
    assert past.rows is not None
    past.rows = _without(past.rows, rows)
    past.note(rows)
    emitted, new = difference(old, found)
    return Rerun(emitted, new, after.tracks, state)


def difference(old: list[pa.Table], found: list[pa.Table]) -> tuple[list[pa.Table], list[pa.Table]]:
    """What has to be emitted so that `found` holds in place of `old`, and the part of it that is about other matches.

    A match of which some row no longer holds is `retracted` first, as it was at the first such row, then emitted as a
    whole if there still is one. What was emitted first is retracted first.
    """
    was = [row for table in old for row in table.to_pylist()]
    now = [row for table in found for row in table.to_pylist()]
    said, known, holds = map(
        set, ((_content(r) for r in was), (_identity(r) for r in was), (_identity(r) for r in now))
    )
    moments = {_moment(row) for row in now}
    gone: dict[tuple[object, ...], dict[str, object]] = {}
    for row in was:
        if _moment(row) not in moments:
            gone.setdefault(_identity(row), row)
    emitted, new = [], []
    for table in found:
        rows = table.to_pylist()
        emitted.append(table.filter([_content(row) not in said or _identity(row) in gone for row in rows]))
        new.append(table.filter([_identity(row) not in known for row in rows]))
    if gone:
        ended = pa.Table.from_pylist([{**row, "status": RETRACTED} for row in gone.values()], schema=old[0].schema)
        emitted.insert(0, ended)
        new.insert(0, ended.filter([identity not in holds for identity in gone]))
    return [table for table in emitted if table.num_rows], [table for table in new if table.num_rows]


def _moment(row: dict[str, object]) -> tuple[object, ...]:
    """A match, and what became of it when."""
    return (*_identity(row), row["status"], row["time_us"])


def _identity(row: dict[str, object]) -> tuple[object, ...]:
    """What the id of a match is made of."""
    events, index = row["events"], row["index"]
    relative = tuple(index - event for event in events) if isinstance(events, list) else ()
    return (
        *(row[name] for name in ("pattern", "pattern_version", "instance", "track", "id_time_us", "id_tie")),
        relative,
    )


def _content(row: dict[str, object]) -> tuple[object, ...]:
    return tuple(tuple(value) if isinstance(value := row[name], list) else value for name in FOUND.names)


def _places(among: NDArray[np.object_], tracks: NDArray[np.object_]) -> NDArray[np.int64]:
    if not len(among):
        return np.full(len(tracks), -1, dtype=np.int64)
    return np.asarray(pd.Index(among).get_indexer(pd.Index(tracks)), dtype=np.int64)


def _without(rows: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """`rows` but for those whose track and instant `others` have."""
    mine = pd.MultiIndex.from_frame(rows[["track", "time_us"]])
    return rows[~mine.isin(pd.MultiIndex.from_frame(others[["track", "time_us"]]))]
