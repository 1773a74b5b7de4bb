"""Why trees say what they say: which inputs moved the chance most, in words with values and signs."""

from collections.abc import Iterable
from math import isnan

import numpy as np
from numpy.typing import NDArray

from foresail.models.inputs.plan import Input
from foresail.models.trees.part import TreePart

TOLD = 3
"""Inputs that are named for a forecast, those that count most."""
LEAST_SHARE = 0.05
"""Of all that moved the chance; less is not worth a word."""
FACTS = {
    "step_s": "the last event came after {} s",
    "hour": "it is {} h (UTC)",
    "sailed_short_m": "{} m sailed over 5 events",
    "sailed_long_m": "{} m sailed over 15 events",
    "net_m": "{} m away from where it was 15 events ago",
    "state": "the automaton stands in state {}",
    "state_events": "the automaton has stood there for {} events",
    "state_min": "the automaton has stood there for {} min",
    "match_events": "the last match was {} events ago",
    "match_min": "the last match was {} min ago",
}


def reasons(part: TreePart, inputs: NDArray[np.float32], rows: NDArray[np.int64], events: int) -> list[str]:
    """For each of these rows which inputs speak most for a match within so many events, and which against it."""
    if not len(rows):
        return []
    credit = part.trees.credits(inputs, rows, events)
    names = part.plan.inputs
    told = []
    for n, row in enumerate(rows):
        most = np.argsort(-np.abs(credit[n]), kind="stable")[:TOLD]
        counts = [int(i) for i in most if abs(credit[n, i]) > LEAST_SHARE * np.abs(credit[n]).sum()]
        speak = {
            sign: [in_words(names[i], float(inputs[row, i])) for i in counts if sign * credit[n, i] > 0]
            for sign in (1, -1)
        }
        told.append("; ".join(_side(side, speak[sign]) for side, sign in (("for", 1), ("against", -1)) if speak[sign]))
    return told


def _side(side: str, said: Iterable[str]) -> str:
    return f"{side} it: {', '.join(said)}"


def in_words(one: Input, value: float) -> str:
    """One input with its value."""
    name = one.name.replace("_", " ").replace(".", " ")
    if one.asked == "track":
        return FACTS[one.name].format("an unknown number of" if isnan(value) else _number(value))
    if isnan(value):
        return f"{name} unknown" + (f" {one.events} events ago" if one.events else "")
    over = f" over {one.events} events" if one.events > 1 else " since the event before"
    match one.asked:
        case "now":
            return f"{name} {_held(one, value)}"
        case "before":
            return f"{name} {_held(one, value)} before"
        case "since":
            return f"{name} the same for {_number(value)} min"
        case "mean":
            return f"{name} {_number(value)} on average{over}"
        case "slope":
            return f"{name} {'rising' if value > 0 else 'falling'} by {_number(abs(value))} a minute"
        case _:
            return (
                f"{name} {'up' if value > 0 else 'down'} by {_number(abs(value))}{over}"
                if value
                else f"{name} unchanged{over}"
            )


def _held(one: Input, value: float) -> str:
    return one.words[int(value)] if one.words and 0 <= value < len(one.words) else _number(value)


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
