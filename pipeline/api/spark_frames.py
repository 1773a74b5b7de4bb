"""Spark frames in, Spark frames out: the stages of the batch job over a frame that is somebody's own."""

from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from foresail.models.model import Emission
from foresail.models.store import ModelStore
from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.api.notices import say_notes, say_skipped
from foresail.pipeline.batch.families import Family, family_groups
from foresail.pipeline.conditions.spark import attribute_types
from foresail.pipeline.errors import InputError
from foresail.pipeline.fitting import OF_THE_API, fit_patterns
from foresail.pipeline.jobs.forecast import forecast_rows
from foresail.pipeline.local.layers import LayersAtHand, layers_at_hand
from foresail.pipeline.local.sorted_events import OFFSET, TIME, TRACK, Named, missing_column
from foresail.pipeline.sources.table_times import time_of
from foresail.pipeline.stages.derive import with_start
from foresail.pipeline.stages.recognise import Recognise
from foresail.pipeline.training.forecast_patterns import forecast_patterns
from foresail.pipeline.training.serving import Choosing, models_for, silent_models, with_known_groups
from foresail.pipeline.training.spark_events import SparkEvents


def find_in_spark(
    events: DataFrame, catalog: Catalog, named: Named, layers: str | Path | Any | None, episodes: str, skip_unfit: bool
) -> DataFrame:
    """The matches in a frame of Spark, found by its workers; nothing runs before somebody asks for rows."""
    at_hand = layers_at_hand(layers)
    table = with_start(spark_events(events, named), catalog)
    known = attribute_types(table.schema)
    fitting = fit_patterns(catalog, known, table.columns, at_hand.by_name, skip_unfit, OF_THE_API)
    say_skipped(fitting.skipped)
    families = [Family(entry, pattern) for entry, pattern in fitting.families]
    matches = Recognise(fitting.plain, family_groups(families, at_hand.by_name))(table)
    return matches if episodes == "all" else matches.where(F.col("status") != "updated")


def model_events(events: DataFrame, catalog: Catalog, named: Named, layers: LayersAtHand) -> SparkEvents:
    """A frame of Spark as training asks for it."""
    return SparkEvents(with_start(spark_events(events, named), catalog), layers.by_name)


def forecast_in_spark(
    events: DataFrame,
    catalog: Catalog,
    named: Named,
    layers: LayersAtHand,
    store: ModelStore,
    emission: Emission,
    choosing: Choosing,
) -> DataFrame:
    """The forecasts after the events of a frame of Spark, made by its workers."""
    read = model_events(events, catalog, named, layers)
    patterns, skipped = forecast_patterns(
        catalog, read.columns, read.types, tuple(layers.by_name), choosing.skip_unfit, OF_THE_API
    )
    found, without = models_for(store, patterns, choosing, read.columns)
    served, warnings = with_known_groups(found, read.columns)
    say_skipped({**skipped, **without}, "not forecast")
    say_notes([*warnings, *silent_models(served)])
    return forecast_rows(read.frame, served, read.layers, emission)


def spark_events(events: DataFrame, named: Named) -> DataFrame:
    """The frame with `track`, `time` and `offset` as patterns read them, without the rows that are no events."""
    for name, role in ((named.track, "track"), (named.time, "time")):
        if name not in events.columns:
            raise InputError(missing_column(events.columns, name, role))
    kind = events.schema[named.time].dataType
    if isinstance(kind, T.NumericType) and named.time_unit is None:
        msg = f"column {named.time}: holds numbers. Say their unit: time_unit='s', 'ms', 'us' or 'ns'."
        raise InputError(msg)
    table = events.withColumns(
        {"_track": _track(events, named.track), "_time": time_of(events, named.time, named.time_unit)}
    )
    if OFFSET not in events.columns:
        table = table.withColumn(OFFSET, F.monotonically_increasing_id())
    sound = table.where("_track is not null and trim(_track) != '' and _time is not null")
    return sound.withColumns({TRACK: F.col("_track"), TIME: F.col("_time")}).drop("_track", "_time")


def _track(events: DataFrame, name: str) -> Column:
    """The name of the track; whole numbers that became fractions because some are missing are whole again."""
    column = F.col(f"`{name}`")
    if not isinstance(events.schema[name].dataType, T.FractionalType):
        return column.cast("string")
    fraction = column.cast("double")
    return F.when(F.isnan(fraction), None).otherwise(fraction.cast("long").cast("string"))
