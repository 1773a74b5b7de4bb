"""Matches of patterns as events of rules: `types: {Trawling: match of trawling}`."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.catalog.loader import Catalog, built_in_catalog, catalog_of
from foresail.patterns.errors import nearest
from foresail.patterns.tesla.entry import TeslaEntry
from foresail.pipeline.errors import InputError
from foresail.pipeline.fitting import OF_COMMANDS
from foresail.pipeline.languages.tesla.events import NO_PLACE, EventTable, EventTables
from foresail.pipeline.local.frames import ArrowFrame, Frame
from foresail.pipeline.local.layers import no_layers
from foresail.pipeline.local.runner import find_matches
from foresail.pipeline.local.search import prepare_search
from foresail.pipeline.local.sorted_events import Named, sort_events

LATER = ("updated", "closed", "retracted")
"""Rows that tell more of a match that is an event already."""


def match_events(
    sets: Sequence[TeslaEntry], catalog: Catalog, tables: EventTables, named: Named
) -> dict[str, list[EventTable]]:
    """By pattern its matches in all tables that have tracks; an episode is an event when it opens."""
    wanted = tuple(dict.fromkeys(name for entry in sets for name in entry.reads_patterns()))
    if not wanted:
        return {}
    patterns = catalog_of([_pattern(name, sets, catalog) for name in wanted])
    found: dict[str, list[EventTable]] = {name: [] for name in wanted}
    for table in tables.tables:
        if named.track in table.frame.columns:
            matches = _matches(patterns, table.frame, named)
            for name in wanted:
                own = matches.filter(pc.equal(matches.column("pattern"), name))
                times = np.asarray(own.column("time").cast(pa.int64()))
                found[name].append(EventTable(ArrowFrame(own), NO_PLACE, times, np.arange(len(times)), name))
    if not any(found.values()):
        columns = ", ".join(tables.columns)
        msg = (
            f"events: there is no column '{named.track}', and matches of '{wanted[0]}' are of tracks. "
            f"Say which it is with --track-column. Columns: {columns}."
        )
        raise InputError(msg)
    return found


def _pattern(name: str, sets: Sequence[TeslaEntry], catalog: Catalog) -> PatternEntry:
    there = {entry.name: entry for entry in (*built_in_catalog().entries, *catalog.entries)}
    if name in there:
        return there[name]
    entry, own = next((e, kind) for e in sets for kind, pattern in e.matched().items() if pattern == name)
    msg = (
        f"{entry.placed('types', own).place}: there is no pattern '{name}'. {nearest(name, there)}"
        "Name a built-in one, or give its file with --patterns too."
    )
    raise InputError(msg)


def _matches(patterns: Catalog, frame: Frame, named: Named) -> pa.Table:
    events = sort_events(frame, named, _unit_is_told)
    prepared = prepare_search(patterns, events, no_layers(), ways_out=OF_COMMANDS)
    matches = find_matches(prepared.sought, events, events.has_places)
    for place, column in enumerate(matches.schema):
        if pa.types.is_dictionary(column.type):
            matches = matches.set_column(place, column.name, matches.column(place).cast(pa.string()))
    later = pc.fill_null(pc.is_in(matches.column("status"), pa.array(LATER)), False)
    return matches.filter(pc.invert(later))


def _unit_is_told(unit: str) -> None:
    """What numbers are was said when the table was read."""
