"""A catalog entry to start from: one condition on a column that the events have, every key explained."""

from collections.abc import Iterator

import numpy as np

from foresail.patterns.catalog.entry import check_name
from foresail.patterns.catalog.loader import read_text
from foresail.patterns.catalog.nodes import CatalogError
from foresail.patterns.conditions import AttributeType
from foresail.pipeline.errors import InputError
from foresail.pipeline.local.sorted_events import OFFSET, SortedEvents

LIKELY = ("speed_kn", "speed_kmh", "speed")
"""Columns that a first condition reads if they are there."""
PLACES = ("lon", "lat")


def draft_entry(name: str, events: SortedEvents) -> str:
    """The text of a catalog file with one entry that runs on these events as it is."""
    try:
        check_name(name, "a pattern")
    except ValueError as error:
        raise CatalogError(str(error)) from None
    columns = dict(_described(events))
    reading, condition = _condition(events)
    listed = "".join(f"#   {column}: {said}\n" for column, said in columns.items())
    text = f"""# A pattern to start from: `foresail try` runs it on a file of events. docs/patterns.md tells the rest.
name: {name}
version: 1                 # counted up when the meaning changes: results name it
says: What the pattern finds, in one sentence.

# The conditions that the pattern is made of, by name. These columns are there:
{listed}where:
  {reading}: {condition}

# One event after the other: `a ; b` a, then b; `a{{3,}}` three or more; `a | b` either;
# `any(a, b)` a, later b; `[speed_kn > 5]` a condition without a name.
pattern: {reading}{{3,}}

window: 2h                 # the longest a match may span; or "100 events"; may be left out
# max_gap: 30min           # a longer silence of the track ends what is under way
# after_match: restart     # begin anew after each match; by default all matches are found
# report: episodes         # detections that follow each other are one episode: opened, updated, closed
"""
    read_text(text, name)
    return text


def _described(events: SortedEvents) -> Iterator[tuple[str, str]]:
    for name in events.columns:
        if name in ("track", "time", OFFSET):
            continue
        try:
            column = events.column(name)
        except InputError:
            continue  # a list or a map: conditions cannot read it
        kind = str(column.type.value).removeprefix("a ").removeprefix("an ")
        yield name, f"{kind}{_range(events, name)}"


def _range(events: SortedEvents, name: str) -> str:
    column = events.column(name)
    known = column.values if column.valid is None else column.values[column.valid]
    if not len(known):
        return ", never known"
    if column.type is AttributeType.STRING and column.dictionary is not None:
        words = sorted({column.dictionary[code] for code in np.unique(known)[:50].tolist()})
        return ", such as " + ", ".join(f'"{word}"' for word in words[:4])
    if column.type in (AttributeType.NUMBER, AttributeType.INTEGER):
        numbers = known[np.isfinite(known)]
        return f" from {numbers.min():g} to {numbers.max():g}" if len(numbers) else ", never known"
    return ""


def _condition(events: SortedEvents) -> tuple[str, str]:
    """The name and the text of a first condition, on a column that is worth one."""
    kinds = {}
    for name in events.columns:
        try:
            kinds[name] = events.column(name).type if name not in ("track", "time", OFFSET, *PLACES) else None
        except InputError:
            continue
    numbers = [name for name, kind in kinds.items() if kind in (AttributeType.NUMBER, AttributeType.INTEGER)]
    chosen = next((name for name in (*LIKELY, *numbers) if name in numbers), None)
    if chosen is not None:
        column = events.column(chosen)
        known = column.values if column.valid is None else column.values[column.valid]
        known = known[np.isfinite(known)]
        middle = float(f"{np.median(known):.3g}") if len(known) else 0.0
        return "low", f"{chosen} < {middle:g}"
    texts = [name for name, kind in kinds.items() if kind is AttributeType.STRING]
    if texts:
        return "present", f"{texts[0]} is known"
    return "seen", "time is known"
