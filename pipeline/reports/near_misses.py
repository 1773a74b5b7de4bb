"""Why a pattern was not found: on how many events each of its conditions holds, and how near tracks came to a match.

How near is told by the automaton: the least number of events that would still have been needed.

Patterns that were looked for and not found: which condition never held, and how near tracks came.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.geo.nearby import near_lists
from foresail.models.automaton import distances, symbol_automaton
from foresail.models.kernels.symbols import walk
from foresail.patterns.conditions.evaluate import ArrayColumn, evaluate
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.spec import PatternSpec
from foresail.pipeline.conditions.arrow import array_columns
from foresail.pipeline.local.explanation import Explanation
from foresail.pipeline.reports.map_view import Mark, MarkGroup
from foresail.pipeline.reports.match_events import LARGEST_M, Searched
from foresail.pipeline.reports.page import Column, Markup, count_of, joined, moment, share, span, table, tag, titled
from foresail.pipeline.reports.pattern_section import condition_text, definition, event_by_event
from foresail.pipeline.reports.plots import Sign

MOST_EVENTS = 1_000_000
"""More events than this are looked at in a sample of whole tracks."""
SHARES = 1000
LISTED = 3
"""Near-misses of a pattern that are shown."""
FOUND = pa.schema(
    [
        ("pattern", pa.string()),
        ("condition", pa.int32()),
        ("missing", pa.int32()),
        ("number", pa.int64()),
        ("track", pa.string()),
        ("time", pa.timestamp("us", tz="UTC")),
        ("lon", pa.float64()),
        ("lat", pa.float64()),
    ]
)
"""On how many events a condition holds; how many tracks came as near as `missing`; or where one did."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Where and when a track came nearest, and how many events were still missing then."""

    track: str
    time: datetime
    missing: int
    lon: float | None
    lat: float | None


@dataclass(frozen=True, slots=True)
class Sought:
    """What was seen of a pattern that was not found, on `events` events."""

    events: int
    holds: tuple[int, ...]
    """For each condition of the pattern, on how many events it holds."""
    needed: int | None
    """The least number of events of a match; None where it is not followed how near tracks came."""
    nearest: tuple[NearMiss, ...]
    tracks: int
    """How many tracks came as near as the nearest."""


def looked_at(patterns: Sequence[Searched], table: pa.Table) -> pa.RecordBatch:
    """What `table`, whole tracks in order, has to say of these patterns, as rows of `FOUND`."""
    rows = [row for pattern in patterns for row in seen(pattern, table)] if table.num_rows else []
    return pa.RecordBatch.from_pylist(rows, schema=FOUND)


def put_together(searched: Mapping[str, Searched], rows: Iterable[Mapping[str, Any]]) -> dict[str, Sought]:
    """What all parts of the events have said of each pattern."""
    mine: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        mine[row["pattern"]].append(row)
    return {name: _sought(pattern, mine[name]) for name, pattern in searched.items()}


def least_share(total: int) -> int:
    """Of `SHARES` shares of the tracks so many are looked at, so that there are not too many events."""
    return SHARES if total <= MOST_EVENTS else max(1, SHARES * MOST_EVENTS // total)


def seen(pattern: Searched, table: pa.Table) -> Iterator[dict[str, Any]]:
    """What `table`, whole tracks in order, has to say of one pattern, as rows of `FOUND`."""
    columns = array_columns(table, pattern.attributes)
    if pattern.distance:
        columns[pattern.distance] = ArrayColumn(_nearest_m(table, pattern), None, AttributeType.NUMBER)
    held = [evaluate(condition, columns, table.num_rows) for condition in pattern.compiled.conditions]
    yield {"pattern": pattern.name, "number": table.num_rows}
    for number, holds in enumerate(held):
        yield {"pattern": pattern.name, "condition": number, "number": int(np.count_nonzero(holds))}
    if _is_followed(pattern):
        yield from _near(pattern, table, held)


def _is_followed(pattern: Searched) -> bool:
    """Whether it is told how near tracks came: not of families, nor where registers decide."""
    return not pattern.distance and pattern.compiled.memory is None


def _near(pattern: Searched, table: pa.Table, held: Sequence[NDArray[np.bool_]]) -> Iterator[dict[str, Any]]:
    missing = _missing(pattern, table, held)
    first_of = _first_of(table["track"].combine_chunks())
    least = np.minimum.reduceat(missing, first_of)
    for distance, number in Counter(least.tolist()).items():
        yield {"pattern": pattern.name, "missing": distance, "number": number}
    for event in _nearest(missing, first_of, least, array_columns(table, ["time"])["time"].values):
        row = table.slice(event, 1).select([c for c in ("track", "time", "lon", "lat") if c in table.schema.names])
        yield {"pattern": pattern.name, "missing": int(missing[event]), **row.to_pylist()[0]}


def _nearest(
    missing: NDArray[np.int64], first_of: NDArray[np.int64], least: NDArray[np.int64], times: NDArray[Any]
) -> list[int]:
    """The event at which each of the few tracks came nearest that came nearest of all, the earliest first.

    They do not depend on how the tracks are shared among tables: each table gives its earliest.
    """
    counts = np.diff(np.append(first_of, len(missing)))
    at_least = np.flatnonzero(missing == np.repeat(np.where(least == least.min(), least, -1), counts))
    _, first = np.unique(np.searchsorted(first_of, at_least, side="right"), return_index=True)
    events = at_least[first]
    return [int(event) for event in events[np.argsort(times[events], kind="stable")][:LISTED]]


def _missing(pattern: Searched, table: pa.Table, held: Sequence[NDArray[np.bool_]]) -> NDArray[np.int64]:
    """For each event how many more a match would at least have needed after it."""
    compiled = pattern.compiled
    code = np.zeros(table.num_rows, dtype=np.uint64)
    for number, holds in enumerate(held):
        code |= holds.astype(np.uint64) << np.uint64(number)
    symbols = np.minimum(np.searchsorted(compiled.alphabet.codes, code), len(compiled.alphabet.codes) - 1)
    automaton = symbol_automaton(compiled)
    before = np.zeros(table.num_rows, dtype=np.int32)
    walk(automaton.delta, symbols.astype(np.int32), _age(table, compiled.spec.max_gap_us), before)
    after = automaton.delta[before, symbols]
    left = distances(automaton)[after].astype(np.int64)
    return np.where(left < 0, len(automaton.accepting), left)


def _age(table: pa.Table, max_gap_us: int | None) -> NDArray[np.int64]:
    """1 where a track begins, or begins anew after too long a silence; more everywhere else."""
    age = np.full(table.num_rows, 2, dtype=np.int64)
    if max_gap_us is not None:
        times = array_columns(table, ["time"])["time"].values.astype(np.int64)
        age[np.flatnonzero(np.diff(times, prepend=times[:1]) > max_gap_us)] = 1
    age[_first_of(table["track"].combine_chunks())] = 1
    return age


def _first_of(tracks: pa.Array) -> NDArray[np.int64]:
    """Where each track begins."""
    codes = tracks.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    return np.flatnonzero(np.diff(codes, prepend=codes[0] - 1)).astype(np.int64)


def _nearest_m(table: pa.Table, pattern: Searched) -> NDArray[np.float64]:
    """How far the nearest feature of a family is from each event."""
    if pattern.layer is None or pattern.entry.for_each is None:
        return np.full(table.num_rows, np.inf)
    lon, lat = (table[name].to_numpy().astype(np.float64, copy=True) for name in ("lon", "lat"))
    near = near_lists(str(pattern.layer.folder), lon, lat, pattern.entry.for_each.radius_m or LARGEST_M).to_pylist()
    return np.array([min((feature["distance_m"] for feature in features), default=np.inf) for features in near])


def _sought(pattern: Searched, rows: Sequence[Mapping[str, Any]]) -> Sought:
    holds: Counter[int] = Counter()
    tracks: Counter[int] = Counter()
    places, events = [], 0
    for row in rows:
        if row["condition"] is not None:
            holds[row["condition"]] += row["number"]
        elif row["track"] is not None:
            places.append(NearMiss(row["track"], row["time"], row["missing"], row["lon"], row["lat"]))
        elif row["missing"] is not None:
            tracks[row["missing"]] += row["number"]
        else:
            events += row["number"]
    needed = int(distances(symbol_automaton(pattern.compiled))[0]) if _is_followed(pattern) else None
    best = min(tracks, default=0)
    nearest = sorted((p for p in places if p.missing == best), key=lambda place: (place.time, place.track))
    began = needed is not None and best < needed
    return Sought(
        events,
        tuple(holds[number] for number in range(len(pattern.compiled.conditions))),
        needed,
        tuple(nearest[:LISTED]) if began else (),
        tracks[best] if began else 0,
    )


NEAR_MISSES = "near-misses"
SIGN = Sign(4, "diamond", open=True)


def absent_details(
    absent: Sequence[Searched],
    sought: Mapping[str, Sought],
    names: Mapping[str, str],
    whys: Mapping[str, Explanation],
) -> Markup:
    """Each pattern that was not found, folded."""
    return joined(_absent(pattern, sought.get(pattern.name), names, whys.get(pattern.name)) for pattern in absent)


def near_miss_group(sought: Mapping[str, Sought], names: Mapping[str, str]) -> MarkGroup | None:
    """The near-misses that have a place, as marks of the map."""
    marks = [
        _mark(near, pattern, near_key(pattern, place), names)
        for pattern, held in sought.items()
        for place, near in enumerate(held.nearest)
        if near.lon is not None and near.lat is not None
    ]
    return MarkGroup(NEAR_MISSES, "Near-misses", SIGN, tuple(marks), len(marks)) if marks else None


def _mark(near: NearMiss, pattern: str, ref: str, names: Mapping[str, str]) -> Mark:
    assert near.lon is not None, "only near-misses with a place are marked"
    assert near.lat is not None, "only near-misses with a place are marked"
    time = near.time.timestamp()
    who = names.get(near.track, near.track)
    lines = (f"{titled(pattern)}: {_left(near.missing)}", who, f"{moment(near.time, seconds=True)} UTC")
    return Mark(near.lon, near.lat, time, time, lines, ref, track=who)


def near_key(pattern: str, place: int) -> str:
    """The id of the element that tells of a near-miss."""
    return f"near-{pattern}-{place}"


def _absent(pattern: Searched, sought: Sought | None, names: Mapping[str, str], told: Explanation | None) -> Markup:
    summary = tag(
        "summary",
        tag("span"),
        tag("span", titled(pattern.name), class_="title"),
        tag("span", "not found", class_="found"),
        tag("span", pattern.entry.says, class_="says"),
    )
    why = (tag("h3", "Why not"), _why(pattern, sought, names), event_by_event(told, names)) if sought else ()
    inside = tag("div", *why, tag("h3", "How it is recognised"), definition(pattern), class_="inside")
    return tag("details", summary, inside, class_="pattern", id=f"pattern-{pattern.name}")


def _why(pattern: Searched, sought: Sought, names: Mapping[str, str]) -> Markup:
    rows = (
        (tag("code", name), condition_text(pattern, name), f"{held:,}", share(held / max(sought.events, 1)))
        for name, held in zip(pattern.compiled.condition_names, sought.holds, strict=True)
    )
    columns = (Column("condition"), Column("holds when"), Column("on events", True), Column("of all", True))
    listed = tag("ul", *(_near_miss(pattern, place, near, names) for place, near in enumerate(sought.nearest)))
    return (
        tag("p", in_short(pattern, sought)) + (listed if sought.nearest else Markup("")) + table(columns, rows, "dense")
    )


def in_short(pattern: Searched, sought: Sought) -> str:
    """The reason in a sentence or two."""
    looked = f"{count_of(sought.events, 'event')} {'was' if sought.events == 1 else 'were'} looked at. "
    names = pattern.compiled.condition_names
    never = [name for name, held in zip(names, sought.holds, strict=True) if not held]
    if never:
        looked += f"{_quoted(never)} never held. "
    if sought.needed is None:
        return looked + "Distances here are those to the nearest feature of its layer."
    if not sought.nearest:
        return looked + "Nothing of it was ever under way."
    missing = sought.nearest[0].missing
    came = count_of(sought.tracks, "track")
    if not missing:
        return looked + f"{came} did all of it in this order, but not {_limits(pattern.compiled.spec)}."
    return looked + f"{came} came as near as this: {_left(missing)} of at least {sought.needed}."


def _left(missing: int) -> str:
    return f"{count_of(missing, 'event')} {'was' if missing == 1 else 'were'} missing" if missing else "all was there"


def _quoted(names: Sequence[str]) -> str:
    return f"The condition {names[0]}" if len(names) == 1 else f"The conditions {', '.join(names)}"


def _limits(spec: PatternSpec) -> str:
    """What a pattern asks beside the order of events."""
    held = (
        f"within {span(spec.window_us / 1e6)}" if spec.window_us is not None else None,
        f"within {count_of(spec.window_events, 'event')}" if spec.window_events is not None else None,
        f"for as long as {span(spec.min_dwell_us / 1e6)}" if spec.min_dwell_us else None,
    )
    return " and ".join(filter(None, held)) or "as the pattern asks"


def _near_miss(pattern: Searched, place: int, near: NearMiss, names: Mapping[str, str]) -> Markup:
    key = near_key(pattern.name, place)
    said = f"{moment(near.time, seconds=True)}, {names.get(near.track, near.track)}: {_left(near.missing)}. "
    link = tag("button", "Show on the map", type="button", class_="plain", data_show=key)
    return tag("li", said, link if near.lon is not None else None, id=key)
