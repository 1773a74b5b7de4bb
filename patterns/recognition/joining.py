"""Track states of several origins in one table: what recognisers and forecasters remember, row after row.

Works on the named tuples of arrays that the kernels use. Some have rows of their own per track, found by offsets
(`rows_at`); those are cut to what is filled, so that a joined state is also the smallest one to save.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.sets import SetStates
from foresail.patterns.recognition.starts import Begun
from foresail.patterns.recognition.track_state import TrackStates


@dataclass(frozen=True, slots=True)
class RecogniserState:
    """What a recogniser of plain patterns remembers of a number of tracks."""

    detecting: TrackStates
    begun: Begun
    """Of the patterns that are detected within a window, all starts that it still allows."""
    counting: tuple[SetStates, ...]


def joined(parts: Sequence[Any]) -> Any:
    """The tracks of all parts, one part after the other; the parts are states of one kind."""
    first = parts[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if isinstance(first, RecogniserState):
        detecting = joined([part.detecting for part in parts])
        begun = joined([part.begun for part in parts])
        counting = tuple(joined(list(some)) for some in zip(*(part.counting for part in parts), strict=True))
        return RecogniserState(detecting, begun, counting)
    if isinstance(first, SetStates):
        return _joined_sets(parts)
    if "rows_at" in getattr(first, "_fields", ()):
        return _joined_rows(parts)
    if "at" in getattr(first, "_fields", ()):  # rows of their own per track, which name each other within the track
        rest = [joined(list(some)) for some in zip(*(part[1:] for part in parts), strict=True)]
        return type(first)(_offsets([part.at for part in parts]), *rest)
    values = [joined(list(some)) for some in zip(*parts, strict=True)]
    return type(first)(*values) if hasattr(first, "_fields") else tuple(values)


def _offsets(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The offsets of all parts as one list."""
    ends = np.cumsum([0, *(part[-1] for part in parts)])
    return np.concatenate([[0], *(part[1:] + end for part, end in zip(parts, ends, strict=False))]).astype(np.int64)


def _joined_rows(parts: Sequence[Any]) -> Any:
    """States that have rows of their own per track."""
    tracks = [len(part.rows_at) - 1 for part in parts]
    filled = [int(part.rows_at[-1]) for part in parts]
    per_track = ("seen", "last_time", "length")
    values = []
    for name in parts[0]._fields:
        some = [getattr(part, name) for part in parts]
        if name == "rows_at":
            values.append(_offsets(some))
            continue
        counts = tracks if name in per_track else filled
        values.append(joined([_first(value, count) for value, count in zip(some, counts, strict=True)]))
    return type(parts[0])(*values)


def _joined_sets(parts: Sequence[SetStates]) -> SetStates:
    def filled(part: SetStates, name: str, at: str) -> Any:
        return _first(getattr(part, name), int(getattr(part, at)[-1]))

    configurations = _with_size([filled(part, "configurations", "configurations_at") for part in parts])
    graph = _with_size([filled(part, "graph", "nodes_at") for part in parts])
    return SetStates(
        seen=np.concatenate([part.seen for part in parts]),
        last_time=np.concatenate([part.last_time for part in parts]),
        tie=np.concatenate([part.tie for part in parts]),
        configurations_at=_offsets([part.configurations_at for part in parts]),
        configurations=configurations,
        nodes_at=_offsets([part.nodes_at for part in parts]),
        graph=graph,
    )


def _with_size(parts: Sequence[Any]) -> Any:
    """Tables whose field `size` tells how many rows are filled: here, all of them."""
    names = [name for name in parts[0]._fields if name != "size"]
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    size = np.array([len(columns[names[0]])], dtype=np.int64)
    return type(parts[0])(**columns, size=size)


def _first(value: Any, count: int) -> Any:
    """The first `count` rows of an array, or of every array of a tuple of them."""
    if isinstance(value, np.ndarray):
        return value[:count]
    if isinstance(value, Begun):  # its rows have starts of their own, and all of them are filled
        return value
    return type(value)(*(field if name == "size" else _first(field, count) for name, field in _named(value)))


def _named(value: Any) -> list[tuple[str, Any]]:
    return list(zip(value._fields, value, strict=True))
