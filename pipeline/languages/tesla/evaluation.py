"""Rule sets over the tables of an input: all of it in one session, or the share of one task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.tesla.entry import TeslaEntry
from foresail.patterns.tesla.keys import Group
from foresail.patterns.tesla.machine import Notifications, Session
from foresail.patterns.tesla.plan import RulePlan
from foresail.pipeline.languages.runner import Found, count_rows
from foresail.pipeline.languages.tesla.events import EventTables, notify
from foresail.pipeline.languages.tesla.match_events import match_events
from foresail.pipeline.languages.tesla.results import composite_table, joined, limit_notes, schema_of
from foresail.pipeline.local.sorted_events import Named

_MIXING = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Share:
    """What one of several tasks does: keyed rules for its keys, and every so many of the others."""

    task: int
    tasks: int


def evaluate_sets(catalog: Catalog, tables: EventTables, named: Named, share: Share | None = None) -> Found:
    """The composites of all rule sets of a catalog."""
    sets = rule_sets_of(catalog)
    matches = match_events(sets, catalog, tables, named)
    plans = [entry.plan() for entry in sets]
    schema = schema_of(plans)
    notes = list(tables.notes)
    limits: dict[str, int] = {}
    parts: list[pa.Table] = []
    turn = 0
    for entry, plan in zip(sets, plans, strict=True):
        for part, group in _parts(plan, share):
            turn += 1
            if share is not None and group is not None and group.keys is None and turn % share.tasks != share.task:
                continue
            session = Session(part.lowered)
            notified = notify(entry, part, tables, named, session.dictionary, matches)
            notes += notified.notes
            events = notified.notifications
            if share is not None and group is not None and group.keys is not None:
                events = _shared(events, part, group.keys, share)
            composites = session.advance(events)
            parts.append(composite_table(part, composites, session.dictionary, schema))
            limits |= {f"rows of rule '{part.resolved[n].name}'": count for n, count in session.limited().items()}
    table = joined(parts, schema)
    counts = count_rows(table, "rule", [rule.name for plan in plans for rule in plan.resolved])
    notes += limit_notes(limits)
    return Found(table, counts, tables.events, tuple(dict.fromkeys(notes)), tables.rejected, limits)


def rule_sets_of(catalog: Catalog) -> list[TeslaEntry]:
    """The rule sets of a catalog."""
    return [entry for entry in catalog.others if isinstance(entry, TeslaEntry)]


def by_column(sets: Sequence[TeslaEntry]) -> bool:
    """Whether any of them needs the column `type`."""
    return any(not entry.types for entry in sets)


def _parts(plan: RulePlan, share: Share | None) -> list[tuple[RulePlan, Group | None]]:
    """The rule set whole, or in groups that tasks can share out."""
    if share is None:
        return [(plan, None)]
    return [(plan.part(group.rules), group) for group in plan.groups]


def _shared(events: Notifications, plan: RulePlan, keys: Mapping[str, str], share: Share) -> Notifications:
    """The events whose key is one of the task's; an event without a key can be part of nothing."""
    types, attributes = plan.lowered.types, plan.lowered.attributes
    column = np.array([attributes.index(keys[name]) for name in types], dtype=np.int64)
    key = events.values[events.at, column[events.types]] if len(events) else np.empty(0)
    kept = ~np.isnan(key) & (_spread(key, share.tasks) == share.task)
    return Notifications(events.types[kept], events.times[kept], events.sources[kept], events.at[kept], events.values)


def _spread(keys: NDArray[np.float64], tasks: int) -> NDArray[np.int64]:
    """Per key the task that it belongs to; texts have the same codes in all tasks, which read the same input."""
    mixed = (keys + 0.0).view(np.uint64) * _MIXING
    return ((mixed >> np.uint64(40)) % np.uint64(tasks)).astype(np.int64)
