"""An explanation in words and as JSON."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from foresail.patterns.conditions.shortfall import Shortfall
from foresail.pipeline.local.explanation import DIED, IDLE, LATE, SILENT, EventWhy, Explanation, NearMiss
from foresail.pipeline.reports.page import count_of, moment, span, times

AROUND = 6
MOST_LINES = 40


def verdict(why: Explanation) -> str:
    """What became of the pattern on the track, in a sentence or two."""
    who = f"{why.entry.name} on {why.track}" + (f" at {why.instance}" if why.instance else "")
    if not why.events:
        return f"{who}: there are no events."
    if why.matches:
        first = why.events[why.matches[0] - 1]
        said = f"{who}: matched {times(len(why.matches))}, first at event {first.index}, {moment(first.time, True)}."
    else:
        said = f"{who}: no match in {count_of(len(why.events), 'event')}."
    never = [name for name, held in why.held.items() if not held]
    never_held = f" {', '.join(never)} never held." if never and not why.matches else ""
    if why.nearest:
        return f"{said} Nearest miss: {miss_words(why, why.nearest)}" + (never_held if why.nearest.how == IDLE else "")
    return said + never_held


def miss_words(why: Explanation, miss: NearMiss) -> str:
    """`needed at least 3 events, had 2 (since event 4); event 6 was no slow: speed_kn was 1.3, 0.3 above 1`."""
    head = f"needed at least {count_of(why.needed, 'event')}, had {miss.had} (since event {miss.begun})"
    if miss.how == LATE:
        begun, ended = why.events[miss.begun - 1].time, why.events[(miss.event or miss.begun) - 1].time
        took = span((ended - begun).total_seconds())
        there = f"all of it was there from event {miss.begun} to event {miss.event}"
        return f"{there}, but in {took}, not within {why.entry.window}."
    if miss.how == SILENT:
        return f"{head}; then the track was silent for longer than {why.entry.max_gap}, before event {miss.event}."
    if miss.how == IDLE:
        began = f"needed at least {count_of(why.needed, 'event')}, and none began it"
        return f"{began}; event {miss.event} came nearest: it {lacking_words(miss.lacking)}."
    if miss.event is None:
        return f"{head}; then the track ended."
    return f"{head}; event {miss.event} {lacking_words(miss.lacking)}{_kept_words(miss)}."


def lacking_words(lacking: Sequence[tuple[str, Shortfall]]) -> str:
    """`was not slow: speed_kn was 1.3, 0.3 above the limit of 1`."""
    if not lacking:
        return "did not go on with it"
    parts: dict[str, list[str]] = {}
    for name, one in lacking:
        parts.setdefault(name, []).append(shortfall_words(one))
    return "; ".join(f"was not {name}: {' and '.join(some)}" for name, some in parts.items())


def shortfall_words(one: Shortfall) -> str:
    """`speed_kn was 1.3, 0.3 above the limit of 1`."""
    if one.value is None:
        return f"{one.needs} did not hold" if one.limit is None else f"{one.reads} was unknown"
    if one.limit is None:
        return f"{one.reads} was {_number(one.value)}, and what it is compared with unknown"
    if one.remembered and one.asked is not None:
        (name, held), change = one.remembered[0], one.value - one.remembered[0][1]
        moved = f"{_number(abs(change))} {'more' if change > 0 else 'less'}" if change else "the same"
        return (
            f"{one.reads} was {_number(one.value)}, {name} {_number(held)}: {moved}, {_number(abs(one.asked))} is asked"
        )
    held_values = ", ".join(f"{name} was {_number(value)}" for name, value in one.remembered)
    side = "above" if one.value > one.limit else "below" if one.value < one.limit else "exactly at"
    off = f"{_number(one.off)} {side}" if one.off else side
    said = f"{one.reads} was {_number(one.value)}, {off} the limit of {_number(one.limit)}"
    return f"{said} ({held_values})" if held_values else said


def _kept_words(event: EventWhy | NearMiss) -> str:
    """` (before is event 2)`: which events the registers held that were compared with."""
    held = ", ".join(f"{name} is event {index}" for name, index in event.registers.items())
    return f" ({held})" if held else ""


def event_words(why: Explanation, event: EventWhy) -> str:
    """One line on one event."""
    holds = ", ".join(name for name, held in event.holds.items() if held) or "nothing"
    values = ", ".join(f"{name} {_shown(value)}" for name, value in event.values.items())
    return (
        f"event {event.index}, {moment(event.time, True)}: {values}; {holds} held; {what_words(why, event)} "
        f"(state {event.state})"
    )


def what_words(why: Explanation, event: EventWhy) -> str:
    """What the event did, and why."""
    missing = "" if event.missing is None else f", {count_of(event.missing, 'event')} missing"
    match event.what:
        case "matched":
            since = f" (since event {event.since})" if event.since else ""
            return f"matched{since}"
        case "began":
            return f"a run began{missing}"
        case "went on":
            return f"the run went on{missing}"
        case "died":
            return f"the run died: the event {lacking_words(event.lacking)}"
        case "not yet":
            return f"the run waits on{missing}: the event {lacking_words(event.lacking)}{_kept_words(event)}"
        case "too late":
            return f"all was there, but not within {why.entry.window}"
        case "silence":
            return f"a silence longer than {why.entry.max_gap} had ended the run"
    return "nothing under way"


def text_lines(why: Explanation, at: datetime | None = None) -> Iterator[str]:
    """The verdict, then the events: all of a short track, else those that matter."""
    yield verdict(why)
    shown = chosen_events(why, at)
    before = 0
    for event in shown:
        if event.index > before + 1:
            yield f"  ... {count_of(event.index - before - 1, 'event')} ..."
        yield f"  {event_words(why, event)}"
        before = event.index
    if shown and before < len(why.events):
        yield f"  ... {count_of(len(why.events) - before, 'event')} ..."


def chosen_events(why: Explanation, at: datetime | None = None, most: int = MOST_LINES) -> list[EventWhy]:
    """The events to tell of: around a moment; else around the nearest miss and the first matches."""
    events = why.events
    if at is not None and events:
        middle = min(range(len(events)), key=lambda n: abs((events[n].time - at).total_seconds()))
        return list(events[max(middle - AROUND, 0) : middle + AROUND + 1])
    if len(events) <= most:
        return list(events)
    kept: dict[int, EventWhy] = {}
    centres = [miss.event or len(events) for miss in [why.nearest] if miss] + list(why.matches[:3])
    centres += [event.index for event in events if event.what in (DIED, SILENT, LATE)]
    for centre in centres or [1]:
        since = events[centre - 1].since or (
            why.nearest.begun if why.nearest and centre == why.nearest.event else centre
        )
        for index in (*range(max(since - 1, 1), min(since + 3, centre)), *range(max(centre - 4, 1), centre + 2)):
            if index <= len(events) and len(kept) < most:
                kept[index] = events[index - 1]
    return [kept[index] for index in sorted(kept)]


def as_json(why: Explanation, at: datetime | None = None) -> dict[str, Any]:
    """All of it for programs; with a moment only the events around it."""
    events = why.events if at is None else chosen_events(why, at)
    return {
        "pattern": why.entry.name,
        "pattern_version": why.entry.version,
        "track": why.track,
        "instance": why.instance,
        "verdict": verdict(why),
        "needed": why.needed,
        "matches": list(why.matches),
        "held": dict(why.held),
        "nearest_miss": _miss_json(why),
        "events": [_event_json(why, event) for event in events],
    }


def _miss_json(why: Explanation) -> dict[str, Any] | None:
    miss = why.nearest
    if miss is None:
        return None
    return {
        "event": miss.event,
        "begun": miss.begun,
        "had": miss.had,
        "missing": miss.missing,
        "how": miss.how,
        "words": miss_words(why, miss),
        "lacking": [_lacking_json(name, one) for name, one in miss.lacking],
        "registers": dict(miss.registers),
    }


def _lacking_json(name: str, one: Shortfall) -> dict[str, Any]:
    off = one.off if one.value is not None and one.limit is not None else None
    return {"condition": name, "needs": one.needs, "value": one.value, "limit": one.limit, "off": off,
            "remembered": dict(one.remembered)}  # fmt: skip


def _event_json(why: Explanation, event: EventWhy) -> dict[str, Any]:
    return {
        "index": event.index,
        "time": event.time.isoformat(),
        "values": {name: v.isoformat() if isinstance(v, datetime) else v for name, v in event.values.items()},
        "holds": dict(event.holds),
        "state": event.state,
        "what": event.what,
        "missing": event.missing,
        "since": event.since,
        "words": what_words(why, event),
        "lacking": [_lacking_json(name, one) for name, one in event.lacking],
        "registers": dict(event.registers),
    }


def _shown(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, float):
        return _number(value)
    return moment(value, True) if isinstance(value, datetime) else str(value)


def _number(value: float) -> str:
    return f"{value:.6g}"
