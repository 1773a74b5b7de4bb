"""Events with what layers say of their positions: one function in front of every way to compute it.

All strategies give the same answer: `in_<kind>` when a zone holds the position (its edge included) or a feature is
within its radius; `<kind>_name` and `<kind>_distance_m` of the feature that holds it, else of the nearest one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pyspark.sql import DataFrame

from geo.attributes import check_columns
from geo.errors import StrategyError
from geo.layers import Layer
from geo.worker import enrich_in_workers

Strategy = Literal["auto", "worker", "cells", "broadcast", "partitioned"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

WORKER_LIMIT_BYTES = 1 << 30
"""A layer whose arrays are larger than this is not mapped into every worker."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which strategy serves a layer, and why, in words for the run's summary."""

    layer: str
    strategy: Strategy
    reason: str


def choose(layers: Sequence[Layer], strategy: Strategy = "auto", streaming: bool = False) -> tuple[Choice, ...]:
    """One choice per layer: as told, else by size."""
    if strategy not in STRATEGIES:
        msg = f"strategy '{strategy}': unknown. Choose one of {', '.join(STRATEGIES)}."
        raise StrategyError(msg)
    return tuple(_choice(layer, strategy, streaming) for layer in layers)


def _choice(layer: Layer, strategy: Strategy, streaming: bool) -> Choice:
    size = f"{layer.report.features:,} features, {layer.size_bytes / 1e6:,.1f} MB of index"
    if strategy != "auto":
        return Choice(layer.spec.name, strategy, f"as asked; {size}")
    if layer.size_bytes > WORKER_LIMIT_BYTES and not streaming:
        return Choice(layer.spec.name, "partitioned", f"too large for every worker to hold: {size}")
    return Choice(layer.spec.name, "worker", f"small enough for every worker to hold: {size}")


def enrich(
    events: DataFrame, layers: Sequence[Layer], strategy: Strategy = "auto", shelf: Path | None = None
) -> DataFrame:
    """`events` with the columns of all `layers`; rows and their order within a partition stay as they are."""
    check_columns(events, [layer.spec for layer in layers])
    choices = choose(layers, strategy, events.isStreaming)
    in_workers = [layer for layer, choice in zip(layers, choices, strict=True) if choice.strategy == "worker"]
    return enrich_in_workers(events, in_workers, shelf)
