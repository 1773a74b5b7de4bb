"""Events with what layers say of their positions: one function in front of every way to compute it.

All strategies give the same answer: `in_<kind>` when a zone holds the position (its edge included) or a feature is
within its radius; `<kind>_name` and `<kind>_distance_m` of the feature that holds it, else of the nearest one. A layer
that knows land from sea (a coast) also gives `on_land`, and its distances are below 0 there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pyspark.sql import DataFrame

from foresail.geo.attributes import attribute_names, check_columns
from foresail.geo.errors import StrategyError
from foresail.geo.joins import JOINS, enrich_by_joins
from foresail.geo.layers import Layer
from foresail.geo.worker import enrich_in_workers

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
    if layer.spec.holds_by_time:
        return Choice(layer.spec.name, "worker", "its features hold for a while each: workers look up place and time")
    if layer.index.arrays.land.is_known:
        return Choice(layer.spec.name, "worker", "it knows land from sea, which workers look up")
    size = f"{layer.report.features:,} features, {layer.size_bytes / 1e6:,.1f} MB of index"
    if strategy != "auto":
        return Choice(layer.spec.name, strategy, f"as asked; {size}")
    if layer.size_bytes > WORKER_LIMIT_BYTES and not streaming:
        return Choice(layer.spec.name, "partitioned", f"too large for every worker to hold: {size}")
    return Choice(layer.spec.name, "worker", f"small enough for every worker to hold: {size}")


def enrich(
    events: DataFrame, layers: Sequence[Layer], strategy: Strategy = "auto", shelf: Path | None = None
) -> DataFrame:
    """`events` with the columns of all `layers`; with strategy worker rows and their order stay as they are."""
    check_columns(events.columns, [layer.spec for layer in layers])
    chosen = list(zip(layers, choose(layers, strategy, events.isStreaming), strict=True))
    in_workers = [layer for layer, choice in chosen if choice.strategy == "worker"]
    joined = [(layer, join) for layer, choice in chosen for join in JOINS if join == choice.strategy]
    out = enrich_in_workers(events, in_workers, shelf) if in_workers else events
    out = enrich_by_joins(out, joined) if joined else out
    return out.select(*events.columns, *(name for layer in layers for name in attribute_names(layer.spec)))
