"""Matches as columns: what every kernel's findings become before anyone else sees them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.rows import Rows
from foresail.patterns.recognition.set_graph import Listing
from foresail.patterns.recognition.sets import Detections
from foresail.patterns.spec import Output

STATUS = ("detected", "opened", "updated", "closed", "timed_out")
NOT_COUNTED = -1
NO_FEATURE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """What was found, a row per match, per counted detection, or per change of an episode."""

    kind: ClassVar[str] = "match"
    event: NDArray[np.int64]
    """Row of the batch on which it was found."""
    pattern: NDArray[np.int32]
    status: NDArray[np.uint8]
    """A position in STATUS."""
    index: NDArray[np.int64]
    """Position of the detecting event in its track, from 1; of an ended episode, of its last detection."""
    time: NDArray[np.int64]
    start_time: NDArray[np.int64]
    """When the match began, of several that end here the one that began last."""
    first_start_time: NDArray[np.int64]
    """When the earliest match that ends here began; of an episode, at its first detection."""
    id_time: NDArray[np.int64]
    """Together with `id_tie` names the detection (or an episode's first one) in the track, however it is cut."""
    id_tie: NDArray[np.int64]
    count: NDArray[np.int64]
    """How many sets of events the detection has, or NOT_COUNTED."""
    omitted: NDArray[np.int64]
    """How many sets of the detection are not listed because they are more than the limit."""
    feature: NDArray[np.int32]
    """Of a pattern family, the feature that the row belongs to; -1 otherwise."""
    members: NDArray[np.int64]
    """The listed events of all rows, one row after the other."""
    members_end: NDArray[np.int64]
    """Where the listed events of each row end."""
    register_index: NDArray[np.int64]
    """Of a pattern with registers the place in the track of the event that each holds, 0 for none; a row per match."""
    register_time: NDArray[np.int64]
    given_up: tuple[tuple[int, int], ...] = ()
    """Patterns of which runs were given up because a track had too many, and how many of them."""

    def __len__(self) -> int:
        return len(self.event)


def joined(parts: Sequence[Matches]) -> Matches:
    """All rows of `parts`, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    columns = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(Matches)
        if field.name not in ("members_end", "given_up")
    }
    offsets = np.cumsum([0, *(len(part.members) for part in parts)])
    ends = [part.members_end + offset for part, offset in zip(parts, offsets, strict=False)]
    given_up = tuple(some for part in parts for some in part.given_up)
    return Matches(**columns, members_end=np.concatenate(ends), given_up=given_up)


def without(matches: Matches, rows: NDArray[np.bool_]) -> Matches:
    """`matches` but for these rows."""
    if not rows.any():
        return matches
    kept = ~rows
    lengths = np.diff(np.concatenate([[0], matches.members_end]))
    columns = {
        field.name: getattr(matches, field.name)[kept]
        for field in fields(Matches)
        if field.name not in ("members", "members_end", "given_up")
    }
    members, ends = matches.members[np.repeat(kept, lengths)], np.cumsum(lengths[kept])
    return Matches(**columns, members=members, members_end=ends, given_up=matches.given_up)


def no_registers(rows: int) -> NDArray[np.int64]:
    """What registers hold where there are none."""
    return np.zeros((rows, 0), dtype=np.int64)


def from_rows(rows: Rows, numbers: NDArray[np.int32], feature: NDArray[np.int32] | None = None) -> Matches:
    """The detections and episodes of the detection kernels; `numbers` tells which pattern of the catalog each is."""
    n = int(rows.size[0])
    return Matches(
        event=rows.event[:n],
        pattern=numbers[rows.pattern[:n]],
        status=rows.status[:n],
        index=rows.position[:n],
        time=rows.time[:n],
        start_time=rows.start_time[:n],
        first_start_time=rows.first_start_time[:n],
        id_time=rows.id_time[:n],
        id_tie=rows.id_tie[:n],
        count=np.full(n, NOT_COUNTED, dtype=np.int64),
        omitted=np.zeros(n, dtype=np.int64),
        feature=np.full(n, NO_FEATURE, dtype=np.int32) if feature is None else feature[:n],
        members=np.empty(0, dtype=np.int64),
        members_end=np.zeros(n, dtype=np.int64),
        register_index=no_registers(n),
        register_time=no_registers(n),
    )


def from_detections(found: Detections, listing: Listing, number: int, pattern: CompiledPattern) -> Matches:
    """The findings of the set kernel: a row per detection when counted, a row per set when listed."""
    n = int(found.size[0])
    first = np.concatenate([[0], found.sets_end[:n]])[:-1] if n else np.empty(0, dtype=np.int64)
    listed = found.sets_end[:n] - first
    if pattern.spec.output is Output.COUNT:
        none = np.zeros(n, dtype=np.int64)
        return _rows(found, np.arange(n), number, found.start_time[:n], none, none[:0], none)
    sets = int(listing.sets[0])
    detection = np.repeat(np.arange(n), listed)
    omitted = (found.sets[:n] - listed)[detection]
    return _rows(
        found,
        detection,
        number,
        listing.start_time[:sets],
        omitted,
        listing.members[: listing.sets[1]],
        listing.ends[:sets],
    )


def _rows(
    found: Detections,
    detection: NDArray[np.int64],
    number: int,
    start_time: NDArray[np.int64],
    omitted: NDArray[np.int64],
    members: NDArray[np.int64],
    members_end: NDArray[np.int64],
) -> Matches:
    n = len(detection)
    return Matches(
        event=found.event[detection],
        pattern=np.full(n, number, dtype=np.int32),
        status=np.zeros(n, dtype=np.uint8),
        index=found.position[detection],
        time=found.time[detection],
        start_time=start_time,
        first_start_time=start_time,  # a set has one beginning, and of those that are counted the earliest is emitted
        id_time=found.time[detection],
        id_tie=found.tie[detection],
        count=found.sets[detection],
        omitted=omitted,
        feature=np.full(n, NO_FEATURE, dtype=np.int32),
        members=members,
        members_end=members_end,
        register_index=no_registers(n),
        register_time=no_registers(n),
    )
