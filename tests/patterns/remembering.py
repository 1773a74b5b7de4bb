"""Small ways to run patterns with registers on tracks written in a test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.patterns.conditions.packing import Packer
from foresail.patterns.conditions.relations import value_columns
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.matches import STATUS, Matches
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.recognition.register_recogniser import RegisterRecogniser, kept_columns

SCHEMA = {
    "x": AttributeType.INTEGER,
    "v": AttributeType.NUMBER,
    "k": AttributeType.STRING,
    "time": AttributeType.TIMESTAMP,
}
Track = Sequence[Mapping[str, Any]]
"""Events with the attributes of SCHEMA; one that is left out or None is null."""


@dataclass(frozen=True)
class Found:
    """One row of a result, as a test reads it."""

    track: int
    status: str
    index: int
    start_time: int
    first_start_time: int
    count: int
    omitted: int
    events: tuple[int, ...]
    registers: tuple[int, ...]
    register_times: tuple[int, ...]
    identity: tuple[int, int]


def recogniser_of(patterns: Sequence[CompiledPattern], **limits: int) -> PatternRecogniser | RegisterRecogniser:
    """What runs patterns that all read registers, or none of which does."""
    if patterns[0].memory is None:
        return PatternRecogniser(patterns)
    return RegisterRecogniser(patterns, **limits)


def batch_of(patterns: Sequence[CompiledPattern], conditions: Sequence[Any], tracks: Sequence[Track]) -> EventBatch:
    """The events of all tracks, one track after the other, with what these patterns read."""
    events = [event for track in tracks for event in track]
    columns = {name: column_of(name, kind, events) for name, kind in SCHEMA.items()}
    return EventBatch(
        Packer(conditions).words(columns, len(events)),
        np.array([event["time"] for event in events], dtype=np.int64),
        np.cumsum([0, *map(len, tracks)]).astype(np.int64),
        None,
        value_columns(kept_columns(patterns), columns, len(events)),
    )


def column_of(name: str, kind: AttributeType, events: Sequence[Mapping[str, Any]]) -> ArrayColumn:
    """One attribute of some events as conditions read it."""
    values = [event.get(name) for event in events]
    valid = np.array([value is not None for value in values], dtype=np.bool_)
    if kind is AttributeType.STRING:
        words = tuple(sorted({value for value in values if value is not None}))
        codes = np.array([words.index(value) if value is not None else 0 for value in values], dtype=np.int32)
        return ArrayColumn(codes, valid, kind, words or ("",))
    if kind is AttributeType.NUMBER:
        return ArrayColumn(np.array([np.nan if v is None else v for v in values], dtype=np.float64), valid, kind)
    return ArrayColumn(np.array([v or 0 for v in values], dtype=np.int64), valid, kind)


def run(pattern: CompiledPattern, tracks: Sequence[Track], cuts: Sequence[int] = (), **limits: int) -> list[Found]:
    """All findings; with `cuts` the state is carried over to the rest of the tracks at these places."""
    recogniser = recogniser_of([pattern], **limits)
    state, begin, rows = recogniser.fresh(len(tracks)), 0, list[Found]()
    for end in (*cuts, max(map(len, tracks), default=0)):
        batch = batch_of([pattern], recogniser.conditions, [track[begin:end] for track in tracks])
        matches, state = recogniser.advance(batch, state)
        rows += found_in(matches, batch)
        begin = end
    return sorted(rows, key=lambda f: (f.track, f.index, f.status, f.events))


def found_in(matches: Matches, batch: EventBatch) -> list[Found]:
    """The rows of `matches` as values."""
    ends = np.concatenate([[0], matches.members_end])
    return [
        Found(
            int(batch.keys_at(matches.event[i : i + 1])[0]),
            STATUS[matches.status[i]],
            *(int(getattr(matches, n)[i]) for n in ("index", "start_time", "first_start_time", "count", "omitted")),
            tuple(matches.members[ends[i] : ends[i + 1]].tolist()),
            tuple(matches.register_index[i].tolist()),
            tuple(matches.register_time[i].tolist()),
            (int(matches.id_time[i]), int(matches.id_tie[i])),
        )
        for i in range(len(matches))
    ]
