"""Why a match became an alert, in words: which conditions hold at the detecting event, with which values.

`speed_kn 3.2 (> 0.5), drift_deg 41 (> 30)`: the attributes that the conditions compare, and what with.

Why a forecast became an alert, in words: what is expected, when, how likely, and what was seen.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import isnan
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from foresail.models.explain import explain
from foresail.models.model import Model
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.evaluate import evaluate
from foresail.patterns.conditions.syntax import (
    TIME,
    And,
    Attribute,
    Comparison,
    Condition,
    IsKnown,
    Literal,
    Membership,
    Not,
    Operator,
    Or,
)
from foresail.patterns.conditions.text import attributes_of, text_of
from foresail.patterns.language.conditions import resolve_conditions
from foresail.pipeline.conditions.arrow import array_columns

_OPPOSITE = {
    Operator.EQUAL: Operator.UNEQUAL,
    Operator.UNEQUAL: Operator.EQUAL,
    Operator.LESS: Operator.AT_LEAST,
    Operator.AT_MOST: Operator.GREATER,
    Operator.GREATER: Operator.AT_MOST,
    Operator.AT_LEAST: Operator.LESS,
}
_TURNED = {
    Operator.LESS: Operator.GREATER,
    Operator.AT_MOST: Operator.AT_LEAST,
    Operator.GREATER: Operator.LESS,
    Operator.AT_LEAST: Operator.AT_MOST,
}


def attributes_in_reasons(pattern: CompiledPattern) -> tuple[str, ...]:
    """The attributes whose values at a detecting event the reasons of `pattern` name: `speed_kn`, `port.distance_m`."""
    owners = {None, pattern.spec.family}
    names = (a.key for c in _conditions(pattern) for a in attributes_of(c) if a.owner in owners)
    return tuple(name for name in dict.fromkeys(names) if name != TIME)


def match_reasons(found: pa.Table, patterns: Mapping[str, CompiledPattern], otherwise: Mapping[str, str]) -> list[str]:
    """The reason for each match; the sentence `otherwise` of its pattern where no value is at hand."""
    reasons = np.empty(found.num_rows, dtype=object)
    for name in pc.unique(found.column("pattern")).to_pylist():
        rows = np.flatnonzero(pc.equal(found.column("pattern"), name).to_numpy(zero_copy_only=False))
        texts = _of_pattern(found.take(pa.array(rows)), patterns[name]) if name in patterns else [""] * len(rows)
        reasons[rows] = [text or otherwise.get(name, "") for text in texts]
    return list(reasons)


def _of_pattern(found: pa.Table, pattern: CompiledPattern) -> list[str]:
    there = tuple(name for name in attributes_in_reasons(pattern) if name in found.column_names)
    if not there or not found.num_rows:
        return [""] * found.num_rows
    columns = array_columns(found, there)
    by_row: list[dict[str, list[str]]] = [{} for _ in range(found.num_rows)]
    values = {name: found.column(name).to_pylist() for name in there}
    for condition in _conditions(pattern):
        if not _answerable(condition, there):
            continue
        holds = evaluate(condition, columns)
        for part in _parts(condition):
            for row in np.flatnonzero(holds & evaluate(part, columns)):
                _note(by_row[row], part, {name: values[name][row] for name in values})
    return [", ".join(_said(name, limits) for name, limits in notes.items()) for notes in by_row]


@lru_cache(maxsize=1000)
def _conditions(pattern: CompiledPattern) -> tuple[Condition, ...]:
    """The conditions that the pattern itself reads, without those of forecasting."""
    return pattern.conditions[: resolve_conditions(pattern.tree, pattern.spec).read]


def _answerable(condition: Condition, there: tuple[str, ...]) -> bool:
    return all(attribute.key in there for attribute in attributes_of(condition))


def _parts(node: Condition, denied: bool = False) -> Iterator[Condition]:
    """The comparisons that a condition is made of, each as it would have to be for the condition to hold."""
    match node:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _parts(part, denied)
        case Not(part):
            yield from _parts(part, not denied)
        case IsKnown() if not denied:
            return  # its value is given where it is compared
        case Comparison(operator, left, right) if denied:
            yield Comparison(_OPPOSITE[operator], left, right)
        case _:
            yield Not(node) if denied else node


def _note(notes: dict[str, list[str]], part: Condition, values: Mapping[str, Any]) -> None:
    match part:
        case Comparison(Operator.EQUAL, Attribute() as attribute, Literal()):
            notes.setdefault(_valued(attribute, values), [])
        case Comparison(operator, Attribute() as attribute, Literal(value)):
            _add(notes, _valued(attribute, values), f"{operator.value} {worded(value)}")
        case Comparison(operator, Literal(value), Attribute() as attribute) if operator in _TURNED:
            _add(notes, _valued(attribute, values), f"{_TURNED[operator].value} {worded(value)}")
        case Membership(Attribute() as attribute):
            notes.setdefault(_valued(attribute, values), [])
        case Attribute() | Not(Attribute()):
            notes.setdefault(text_of(part), [])
        case _:
            shown = ", ".join(_valued(attribute, values) for attribute in attributes_of(part))
            _add(notes, shown, text_of(part))


def _valued(attribute: Attribute, values: Mapping[str, Any]) -> str:
    return f"{attribute.key} {worded(values[attribute.key])}"


def _add(notes: dict[str, list[str]], name: str, limit: str) -> None:
    limits = notes.setdefault(name, [])
    if limit not in limits:
        limits.append(limit)


def _said(name: str, limits: list[str]) -> str:
    return f"{name} ({' and '.join(limits)})" if limits else name


def worded(value: Any) -> str:
    """A value as a reader wants it: four digits that count, thousands set apart."""
    match value:
        case None:
            return "unknown"
        case bool():
            return "true" if value else "false"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
        case _:
            return str(value)


MOST_EXPLAINED = 20_000
_TOLD = ("pattern", "model_version", "chain_state", "probability", "earliest", "latest", "earliest_s", "latest_s")


def forecast_reasons(forecasts: pa.Table, models: Mapping[str, Model]) -> list[str]:
    """A sentence for each row: from the model where it is at hand, else from what the row says."""
    columns = {name: forecasts.column(name).to_pylist() for name in _TOLD if name in forecasts.column_names}
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return [_reason(row, models.get(row["model_version"])) for row in rows]


def _reason(row: Mapping[str, Any], model: Model | None) -> str:
    # of a model with trees the chain state tells where the automaton stands, and not what is expected
    if model is not None and model.trees is None and row.get("chain_state") is not None:
        return explained(model, int(row["chain_state"]))
    if row["probability"] is None:
        return f"No interval reaches the threshold for {row['pattern']}."
    because = f"; {row['because']}" if row.get("because") else ""
    return f"{row['pattern']} is expected{_when(row)} with a probability of {row['probability']:.0%}{because}."


@lru_cache(maxsize=MOST_EXPLAINED)
def explained(model: Model, chain_state: int) -> str:
    """The sentence of a chain state: a model has few, and alerts meet them often."""
    return explain(model, chain_state).sentence


def _when(row: Mapping[str, Any]) -> str:
    if not row.get("earliest"):
        return ""
    first_s, last_s = row.get("earliest_s"), row.get("latest_s")
    minutes = ""
    if first_s is not None and last_s is not None and not isnan(first_s + last_s):
        minutes = f" ({first_s / 60:.0f} to {last_s / 60:.0f} min)"
    return f" in {row['earliest']} to {row['latest']} events{minutes}"
