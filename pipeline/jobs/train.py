"""Training: events to counts on Spark, counts to one model per pattern, with its threshold, in the model store."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.batch.families import layers_at
from foresail.pipeline.progress import Progress
from foresail.pipeline.settings import ForecastSettings
from foresail.pipeline.sources.parquet_files import events_folder
from foresail.pipeline.training.learning import Learning, learn_models
from foresail.pipeline.training.model_store import open_store
from foresail.pipeline.training.readable_events import readable_events
from foresail.pipeline.training.spark_events import SparkEvents


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """What to learn from, what to forecast, and where models are kept."""

    events: Sequence[str]
    catalog: Catalog
    models: Path | str
    """A folder, or a URI of a file system that Hadoop knows."""
    types: Mapping[str, str] | None = None
    time_unit: str | None = None
    layers: Path | None = None
    layer_cache: Path = Path("layers")
    skip_unfit: bool = False
    """Leave out, and tell, the patterns that need what the events do not have; otherwise that is an error."""
    add: bool = False
    """Add to the counts that the store keeps; otherwise they are counted anew."""
    half_life_days: float | None = None
    """With `add`: earlier counts weigh half after so many days."""
    since: datetime | None = None
    until: datetime | None = None
    order: int | None = None
    """In place of the order that the catalog names."""
    horizon: int | None = None
    per: str | None = None
    """Also a model for each value of this attribute of tracks, or for each `track`; the catalog says otherwise."""
    settings: ForecastSettings = field(default_factory=ForecastSettings)

    def learning(self, layers: Sequence[str]) -> Learning:
        """What is to be learned, with these layers at hand."""
        return Learning(
            self.catalog, layers, self.skip_unfit, self.add, self.half_life_days, self.order, self.horizon, self.per,
            self.settings,
        )  # fmt: skip


def run_train(spark: SparkSession, request: TrainRequest, progress: Progress) -> dict[str, Any]:
    """Train a model of every pattern of the catalog; the summary. A pattern that fails is told and left out."""
    began = time.monotonic()
    store = open_store(str(request.models), lambda: spark)
    with progress.step("reading events"):
        readable, rows_read = readable_events(spark, request)
        events = events_between(readable, request.since, request.until)
    layers = layers_at(request.layers, request.layer_cache, progress)
    changed = request.types or request.since or request.until
    paths = () if changed else tuple(events_folder(path) for path in request.events)
    learned = learn_models(SparkEvents(events, layers, paths), request.learning(tuple(layers)), store, progress)
    return {
        **learned,
        "models": str(request.models),
        **rows_read.summary,
        "seconds": round(time.monotonic() - began, 3),
    }


def events_between(events: DataFrame, since: datetime | None, until: datetime | None) -> DataFrame:
    """The events from `since` on and before `until`."""
    if since is not None:
        events = events.where(F.col("time") >= F.lit(since))
    if until is not None:
        events = events.where(F.col("time") < F.lit(until))
    return events
