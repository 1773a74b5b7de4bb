"""Batch forecasting: events in, forecasts out, by the models of a store."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from foresail.geo import Layer
from foresail.models.model import Emission
from foresail.pipeline.batch.families import layers_at
from foresail.pipeline.batch.tally import Tally, open_tally
from foresail.pipeline.batch.track_walk import Walked, walk_tracks
from foresail.pipeline.conditions.spark import attribute_types
from foresail.pipeline.jobs.forecast_request import ForecastRequest
from foresail.pipeline.progress import Progress
from foresail.pipeline.results.forecast_columns import forecast_columns
from foresail.pipeline.results.forecast_table import FORECAST_DDL
from foresail.pipeline.sinks.forecasts import write_forecasts
from foresail.pipeline.sinks.output_folder import claim_output
from foresail.pipeline.sources.parquet_files import events_folder
from foresail.pipeline.training.forecast_patterns import forecast_patterns, reach_by_layer
from foresail.pipeline.training.model_store import open_store
from foresail.pipeline.training.readable_events import readable_events
from foresail.pipeline.training.serving import (
    Served,
    begin_forecasting,
    families_of,
    forecast_summary,
    inputs_of,
    models_for,
    plain_of,
    with_known_groups,
)
from foresail.pipeline.training.spark_events import family_groups_within, memberships


def run_forecast(spark: SparkSession, request: ForecastRequest, progress: Progress) -> dict[str, Any]:
    """Forecast the patterns of the catalog; the summary."""
    began = time.monotonic()
    claim_output(request.out, "forecast")
    with progress.step("reading events"):
        events, rows_read = readable_events(spark, request)
    layers = layers_at(request.layers, request.layer_cache, progress)
    patterns, skipped = forecast_patterns(
        request.catalog, events.columns, attribute_types(events.schema), layers, request.skip_unfit
    )
    with progress.step("loading models"):
        store = open_store(str(request.models), lambda: spark)
        served, without = models_for(store, patterns, request.choosing, events.columns)
    served, warnings = with_known_groups(served, events.columns)
    tally = open_tally(spark.sparkContext)
    paths = () if request.types else tuple(map(events_folder, request.events))
    with progress.step("forecasting"):
        rows = forecast_rows(events, served, layers, request.emission, paths, tally)
        place = write_forecasts(rows, request.out, request.form)
    summary = forecast_summary(served, tally.value, place, time.monotonic() - began, warnings)
    for warning in summary["warnings"]:
        progress.say(warning)
    return summary | rows_read.summary | {"skipped": {**skipped, **without}}


def forecast_rows(
    events: DataFrame,
    served: Sequence[Served],
    layers: Mapping[str, Layer],
    emission: Emission,
    paths: tuple[str, ...] = (),
    tally: Tally | None = None,
) -> DataFrame:
    """A row per event and model (and near feature) that has something to say: one look-up each, by workers."""
    reach = reach_by_layer([s.pattern for s in served])
    families = family_groups_within(families_of(served), reach, layers)
    walked = Walked(events, plain_of(served), families, paths, inputs=inputs_of(served))
    per = memberships(events, (s.groups.per for s in served if s.groups))
    begin = begin_forecasting(served, per, emission, tally)
    return walk_tracks(walked, begin, FORECAST_DDL).select(*forecast_columns())
