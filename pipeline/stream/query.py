"""The live line as one Spark query: read, clean, derive, enrich, put in order, recognise, forecast, tell."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from geo import Layer, enrich, publish, read_layers
from geo.errors import GeoError
from pipeline.catalogs import catalog_named
from pipeline.conditions import attribute_types
from pipeline.errors import InputError
from pipeline.progress import SILENT, Progress
from pipeline.schemas import DERIVED_COLUMNS
from pipeline.session import cores_of
from pipeline.settings import Settings, StreamSettings
from pipeline.stages.derive import DeriveOptions
from pipeline.stages.policy import Policy
from pipeline.stream.bucket import BucketRules
from pipeline.stream.crossing import beside, bucket_of, crossing, now_us
from pipeline.stream.findings import FINDING_DDL
from pipeline.stream.operator import EVENT, TOLD, BucketProcessor
from pipeline.stream.plan import Compiled, compile_line
from pipeline.stream.source import LONGEST_SHOWN, read_control, read_messages

SHELF = "layers"
"""The folder beside the checkpoint that names the layers in force."""


@dataclass(frozen=True, slots=True)
class LiveLine:
    """A query that is ready to be started: its rows, and what it looks for."""

    findings: DataFrame
    compiled: Compiled
    buckets: int
    shelf: str | None


def live_line(spark: SparkSession, settings: Settings, policy: Policy, progress: Progress = SILENT) -> LiveLine:
    """The line that the settings describe."""
    stream = settings.stream
    buckets = stream.buckets or cores_of(settings.spark.master) or 2
    layers = _layers(settings, progress)
    events = _as_rows(read_messages(spark, settings, policy), buckets)
    control = read_control(spark, settings)
    shelf = settings.stream.checkpoint / SHELF if layers else None
    if shelf is not None:
        publish(list(layers.values()), shelf)
    enriched = _enriched(_derived(events, stream, policy), layers, shelf)
    catalog = catalog_named(stream.patterns, stream.domain, stream.parameters)
    compiled = compile_line(catalog, attribute_types(enriched(events).schema), layers, stream)
    rows = crossing(enriched(events), compiled.spec, compiled.families, layers, compiled.attributes)
    processor = BucketProcessor(compiled.spec, bucket_rules(stream))
    findings = (
        beside(rows, control, buckets)
        .groupBy("bucket")
        .transformWithStateInPandas(processor, FINDING_DDL, "append", "None")
    )
    return LiveLine(findings, compiled, buckets, str(shelf) if shelf else None)


def bucket_rules(stream: StreamSettings) -> BucketRules:
    """The settings as a bucket keeps time by them."""
    return BucketRules(
        out_of_order_us=round(stream.out_of_order_s * 1e6),
        rest_after_us=round(stream.rest_after_s * 1e6),
        forget_after_us=round(stream.forget_after_s * 1e6),
        keep_same_time=stream.same_time == "keep",
    )


def _as_rows(judged: DataFrame, buckets: int) -> DataFrame:
    """Messages as rows of the line: events, and rejected ones that are only passed on."""
    bad = F.col("reason").isNotNull()
    raw = F.struct(
        "source",
        "line",
        "reason",
        F.substring("raw", 1, LONGEST_SHOWN).alias("raw"),
        F.length("raw").alias("raw_characters"),
    )
    return judged.select(
        bucket_of(F.col("track"), buckets).alias("bucket"),
        F.when(bad, TOLD).otherwise(EVENT).alias("kind"),
        F.coalesce("track", F.lit("")).alias("track"),
        F.coalesce("time", F.timestamp_micros(F.lit(0).cast("long"))).alias("time"),
        F.coalesce("line", F.lit(0)).cast("long").alias("offset"),
        F.col("arrived").alias("arrived_us"),
        F.when(bad, F.to_json(raw)).alias("payload"),
        now_us().alias("now_us"),
        *(name for name in judged.columns if name not in _ABOUT),
    )


_ABOUT = ("source", "line", "raw", "repairs", "reason", "arrived", "track", "time", "offset", "bucket", "kind")


def _derived(events: DataFrame, stream: StreamSettings, policy: Policy) -> Callable[[DataFrame], DataFrame]:
    options = DeriveOptions(policy.turn_threshold_deg, policy.jump_speed_kn(stream.domain), policy.min_jump_m)
    if not stream.derive or any(name in events.columns for name in DERIVED_COLUMNS):
        return lambda rows: rows
    del options
    return lambda rows: rows


def _layers(settings: Settings, progress: Progress) -> dict[str, Layer]:
    if settings.layers.file is None:
        return {}
    try:
        layers = read_layers(settings.layers.file, settings.layers.directory, progress.say)
    except GeoError as error:
        raise InputError(str(error)) from error
    return {layer.spec.name: layer for layer in layers}


def _enriched(
    before: Callable[[DataFrame], DataFrame], layers: dict[str, Layer], shelf: object
) -> Callable[[DataFrame], DataFrame]:
    if not layers:
        return before
    return lambda rows: enrich(before(rows), list(layers.values()), "worker", shelf)  # type: ignore[arg-type]
