"""The events of the matches that a page lists: what each showed, and which conditions of its pattern held on it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa

from foresail.geo import Layer
from foresail.geo.nearby import near_lists
from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.evaluate import ArrayColumn, evaluate
from foresail.patterns.conditions.typing import AttributeType
from foresail.pipeline.conditions.arrow import array_columns
from foresail.pipeline.reports.found import Match

HEAD = TAIL = 5
"""Of a long match the first and the last events are shown."""
LARGEST_M = 1e7


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event: its number within the match, its time, its values and the conditions that hold."""

    number: int
    time: datetime
    values: tuple[Any, ...]
    holds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MatchEvents:
    """The events of a match that are shown, of `total`; `attributes` names their values."""

    attributes: tuple[str, ...]
    rows: tuple[EventRow, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Searched:
    """A pattern that was looked for: its entry, how it runs, and the layer whose features it has instances for."""

    entry: PatternEntry
    compiled: CompiledPattern
    layer: Layer | None = None

    @property
    def name(self) -> str:
        """The pattern's name."""
        return self.entry.name

    @property
    def attributes(self) -> tuple[str, ...]:
        """What its conditions read of an event itself, in the order of the text."""
        own = self.entry.for_each.as_ if self.entry.for_each else None
        return tuple(dict.fromkeys(a.key for a in self.compiled.attributes if a.owner != own or own is None))

    @property
    def distance(self) -> str | None:
        """The distance that a family reads, as its conditions call it."""
        return f"{self.entry.for_each.as_}.distance_m" if self.entry.for_each else None


def events_of_matches(
    table: pa.Table, matches: Sequence[Match], searched: Mapping[str, Searched]
) -> dict[str, MatchEvents]:
    """By match id, what `table` shows of each: a row for each event with `match_id`, `_number` and `_total`."""
    return {
        match_id: shown
        for pattern in dict.fromkeys(match.pattern for match in matches)
        for match_id, shown in _of_pattern(table, [m for m in matches if m.pattern == pattern], searched[pattern])
    }


def columns_read(searched: Iterable[Searched], columns: Iterable[str]) -> list[str]:
    """Of the columns of events those that patterns read, and those that say which event it is and where."""
    read = {name.partition(".")[0] for pattern in searched for name in pattern.attributes}
    return [name for name in columns if name in read | {"track", "time", "lon", "lat", "offset"}]


def _of_pattern(table: pa.Table, matches: Sequence[Match], pattern: Searched) -> Iterator[tuple[str, MatchEvents]]:
    ids = {match.match_id: match for match in matches}
    mine = table.filter(pa.compute.is_in(table["match_id"], pa.array(list(ids))))
    if not mine.num_rows:
        return
    columns = array_columns(mine, pattern.attributes)
    owners = [ids[match_id] for match_id in mine["match_id"].to_pylist()]
    shown: list[tuple[str, list[Any]]] = [(name, _values(mine, name)) for name in pattern.attributes]
    if pattern.distance:
        metres = _distances(mine, owners, pattern)
        columns[pattern.distance] = ArrayColumn(metres, None, AttributeType.NUMBER)
        shown.insert(0, (pattern.distance, [None if value >= LARGEST_M else value for value in metres.tolist()]))
    held = [evaluate(condition, columns, mine.num_rows) for condition in pattern.compiled.conditions]
    names = pattern.compiled.condition_names
    numbers, times, totals = (mine[name].to_pylist() for name in ("_number", "time", "_total"))
    rows: dict[str, list[EventRow]] = {}
    for n, match in enumerate(owners):
        holds = tuple(name for name, where in zip(names, held, strict=True) if where[n])
        rows.setdefault(match.match_id, []).append(
            EventRow(numbers[n], times[n], tuple(values[n] for _, values in shown), holds)
        )
    total = dict(zip(mine["match_id"].to_pylist(), totals, strict=True))
    for match_id, events in rows.items():
        yield match_id, MatchEvents(tuple(name for name, _ in shown), tuple(events), total[match_id])


def _values(table: pa.Table, name: str) -> list[Any]:
    owner, _, field = name.partition(".")
    if name in table.schema.names or not field:
        return list(table[name].to_pylist())
    return [None if held is None else held.get(field) for held in table[owner].to_pylist()]


def _distances(table: pa.Table, owners: Sequence[Match], pattern: Searched) -> np.ndarray:
    """How far each event is from the feature of its match, endlessly where that is out of reach."""
    metres = np.full(table.num_rows, inf)
    if pattern.layer is None or pattern.entry.for_each is None:
        return metres
    lon, lat = (table[name].to_numpy().astype(np.float64, copy=True) for name in ("lon", "lat"))
    reach = pattern.entry.for_each.radius_m or LARGEST_M
    near = near_lists(str(pattern.layer.folder), lon, lat, reach).to_pylist()
    for n, (features, match) in enumerate(zip(near, owners, strict=True)):
        found = [feature["distance_m"] for feature in features if _is_instance(feature, match.instance)]
        metres[n] = min(found, default=inf)
    return metres


def _is_instance(feature: Mapping[str, Any], instance: str | None) -> bool:
    """Whether the feature is the one that an instance is named after; where names repeat, its number is part of it."""
    name, number = feature["name"], f"#{feature['number']}"
    return instance in (name, f"{name} {number}" if name else number)
