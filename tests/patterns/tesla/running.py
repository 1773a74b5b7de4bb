"""Rules and events as the tests write them, run by the reference and by the machine."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from foresail.patterns.errors import Place
from foresail.patterns.tesla.check import resolve_rules
from foresail.patterns.tesla.lowering import Lowered, lower_rules
from foresail.patterns.tesla.machine import Composites, Notifications, Session
from foresail.patterns.tesla.parser import parse_rules
from tests.patterns.tesla.reference import Event, Reference

Found = tuple[str, int, tuple[tuple[str, Any], ...]]
"""Type, time in microseconds and attributes of a composite."""


def lowered(text: str, ties: str = "strict", selection: str = "local", **more: Any) -> Lowered:
    return lower_rules(resolve_rules(parse_rules(text, Place("rules"))), ties, selection, **more)


def events_of(text: str) -> list[Event]:
    """`Temp@60(area='A', value=50) Smoke@61()` as events, times in seconds."""
    found = []
    for name, time, inner in re.findall(r"(\w+)@([\d.]+)\(([^)]*)\)", text):
        held = eval(f"dict({inner})")
        found.append(Event(name, round(float(time) * 1e6), held))
    return found


def by_reference(text: str, events: Sequence[Event], ties: str = "strict", selection: str = "local") -> list[Found]:
    made = Reference(parse_rules(text, Place("rules")), ties, selection).run(events)
    return sorted((plain_found(m.event.type, m.event.ts_us, m.event.attributes) for m in made), key=repr)


def plain_found(name: str, time: int, attributes: dict[str, Any]) -> Found:
    return name, time, tuple((key, _plain(value)) for key, value in attributes.items())


def _plain(value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return round(float(value), 6) + 0.0 if number else value


def notifications(session: Session, events: Sequence[Event]) -> Notifications:
    """Events in order of time, as the machine takes them; those that no rule reads are left out."""
    plan = session.lowered
    kept = [(n, e) for n, e in enumerate(sorted(events, key=lambda e: e.ts_us)) if e.type in plan.types]
    values = np.full((len(kept), max(len(plan.attributes), 1)), np.nan)
    for row, (_, event) in enumerate(kept):
        for column, name in enumerate(plan.attributes):
            values[row, column] = session.dictionary.value(event.attributes.get(name))
    return Notifications(
        np.array([plan.types.index(event.type) for _, event in kept], dtype=np.int64),
        np.array([event.ts_us for _, event in kept], dtype=np.int64),
        np.array([n for n, _ in kept], dtype=np.int64),
        np.arange(len(kept)),
        values,
    )


def found_in(session: Session, composites: Composites) -> list[Found]:
    found = []
    for row, number in enumerate(composites.rule):
        rule = session.lowered.rules[number]
        values = {
            name: session.dictionary.python_value(composites.values[row, n])
            for n, (name, _) in enumerate(rule.attributes)
        }
        found.append(plain_found(rule.type, int(composites.times[row, 0]), values))
    return sorted(found, key=repr)


def by_machine(text: str, events: Sequence[Event], ties: str = "strict", selection: str = "local") -> list[Found]:
    session = Session(lowered(text, ties, selection))
    return found_in(session, session.advance(notifications(session, events)))


def expected(text: str) -> list[Found]:
    """Composites as the cases write them."""
    return sorted((plain_found(event.type, event.ts_us, event.attributes) for event in events_of(text)), key=repr)
