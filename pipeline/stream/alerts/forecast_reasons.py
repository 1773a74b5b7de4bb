"""Why a forecast became an alert, in words: what is expected, when, how likely, and what was seen."""

from collections.abc import Mapping
from functools import lru_cache
from math import isnan
from typing import Any

import pyarrow as pa

from foresail.models.explain import explain
from foresail.models.model import Model

MOST_EXPLAINED = 20_000
_TOLD = ("pattern", "model_version", "chain_state", "probability", "earliest", "latest", "earliest_s", "latest_s")


def forecast_reasons(forecasts: pa.Table, models: Mapping[str, Model]) -> list[str]:
    """A sentence for each row: from the model where it is at hand, else from what the row says."""
    columns = {name: forecasts.column(name).to_pylist() for name in _TOLD if name in forecasts.column_names}
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return [_reason(row, models.get(row["model_version"])) for row in rows]


def _reason(row: Mapping[str, Any], model: Model | None) -> str:
    if model is not None and row.get("chain_state") is not None:
        return explained(model, int(row["chain_state"]))
    if row["probability"] is None:
        return f"No interval reaches the threshold for {row['pattern']}."
    return f"{row['pattern']} is expected{_when(row)} with a probability of {row['probability']:.0%}."


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
