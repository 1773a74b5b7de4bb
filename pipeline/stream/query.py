"""The live line as one Spark query: read, clean, derive, enrich, put in order, recognise, forecast, tell."""

from dataclasses import dataclass, replace
from pathlib import Path

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
from pipeline.stages.derive import REMEMBERED, DeriveOptions
from pipeline.stages.policy import Policy
from pipeline.stream.arranging import arranged
from pipeline.stream.bucket_alerts import Alerting
from pipeline.stream.bucket_rules import BucketRules
from pipeline.stream.crossing import beside, bucket_labels, bucket_of, crossing
from pipeline.stream.findings import FINDING_DDL
from pipeline.stream.operator import EVENT, PACKED, TOLD, BucketProcessor
from pipeline.stream.packed.choice import plain_feed
from pipeline.stream.packed.packing import Packing
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
    shelf: Path | None


def live_line(spark: SparkSession, settings: Settings, policy: Policy, progress: Progress = SILENT) -> LiveLine:
    """The line that the settings describe."""
    stream = settings.stream
    buckets = stream.buckets or cores_of(settings.spark.master) or 2
    labels = bucket_labels(spark, buckets)
    layers = _layers(settings, progress)
    shelf = stream.checkpoint / SHELF if layers else None
    if shelf is not None:
        publish(list(layers.values()), shelf)

    def events(compiled: Compiled | None = None) -> DataFrame:
        """What the conditions read; with `compiled` only that, so that nothing else is carried along."""
        carried = _carried(compiled.attributes, stream.derive) if compiled else None
        packing = _packing(stream, policy, labels, compiled, bool(layers)) if compiled else None
        rows = _as_rows(read_messages(spark, settings, policy, carried, packing), labels, carried)
        arranged_rows = _derived(beside(rows, read_control(spark, settings), labels), stream, policy)
        return enrich(arranged_rows, list(layers.values()), "worker", shelf) if layers else arranged_rows

    catalog = catalog_named(stream.patterns, stream.domain, stream.parameters)
    compiled = compile_line(catalog, attribute_types(events().schema), layers, stream)
    rows = events(compiled)
    crossed = crossing(rows, compiled.spec, compiled.families, layers, compiled.attributes, shelf)
    rules = bucket_rules(stream)
    # what the first stateful step has put in order needs no waiting in the second
    settled = replace(rules, out_of_order_us=0) if stream.derive else rules
    alerting = Alerting(compiled.entries if stream.alerts.enabled else {}, stream.alerts)
    processor = BucketProcessor(compiled.spec, settled, alerting)
    findings = crossed.groupBy("bucket").transformWithStateInPandas(processor, FINDING_DDL, "append", "None")
    return LiveLine(findings, compiled, buckets, shelf)


def bucket_rules(stream: StreamSettings) -> BucketRules:
    """The settings as a bucket keeps time by them."""
    if stream.rerun_s and stream.same_time == "keep":
        msg = "stream.rerun_s: late events are put among others by their time. Set stream.same_time to drop."
        raise InputError(msg)
    return BucketRules(
        out_of_order_us=round(stream.out_of_order_s * 1e6),
        rest_after_us=round(stream.rest_after_s * 1e6),
        forget_after_us=round(stream.forget_after_s * 1e6),
        keep_same_time=stream.same_time == "keep",
        rerun_us=round(stream.rerun_s * 1e6),
    )


def _carried(attributes: tuple[str, ...], derive: bool) -> set[str]:
    """The columns of a message that later steps read: what is derived needs more than the conditions say."""
    needed = {*REMEMBERED, "engine", "nav_status", "accelerating"} if derive else set()
    return {"lon", "lat", *attributes, *needed}


def _packing(
    stream: StreamSettings, policy: Policy, labels: list[int], compiled: Compiled, enriched: bool
) -> Packing | None:
    """How plain messages travel to the first step with state; None where Spark enriches them before that."""
    feed = plain_feed(stream, policy, _carried(compiled.attributes, stream.derive))
    if feed is None or (enriched and not stream.derive):
        return None
    return Packing(feed, tuple(labels), None if stream.derive else compiled.spec.conditions)


def _as_rows(judged: DataFrame, labels: list[int], carried: set[str] | None) -> DataFrame:
    """Messages as rows of the line: events, packed ones, and rejected ones that are only passed on."""
    packed = F.col("packed").isNotNull() if "packed" in judged.columns else F.lit(False)
    bucket = bucket_of(F.col("track"), labels)
    bad = F.col("reason").isNotNull() & ~packed
    raw = F.struct(
        "source",
        "line",
        "reason",
        F.substring("raw", 1, LONGEST_SHOWN).alias("raw"),
        F.length("raw").alias("raw_characters"),
    )
    return judged.select(
        (F.coalesce("packed_bucket", bucket) if "packed" in judged.columns else bucket).alias("bucket"),
        F.when(packed, PACKED).when(bad, TOLD).otherwise(EVENT).alias("kind"),
        F.coalesce("track", F.lit("")).alias("track"),
        F.coalesce("time", F.timestamp_micros(F.lit(0).cast("long"))).alias("time"),
        F.coalesce("line", F.lit(0)).cast("long").alias("offset"),
        F.col("arrived").alias("arrived_us"),
        F.when(bad, F.to_json(raw)).alias("payload"),
        (F.col("packed") if "packed" in judged.columns else F.lit(None).cast("binary")).alias("packed"),
        *(name for name in judged.columns if name not in _ABOUT and (carried is None or name in carried)),
    )


_ABOUT = (
    *("source", "line", "raw", "repairs", "reason", "arrived", "track", "time", "offset", "bucket", "kind"),
    *("packed", "packed_bucket"),
)


def _derived(rows: DataFrame, stream: StreamSettings, policy: Policy) -> DataFrame:
    """The rows with derived attributes, where the messages do not carry them."""
    if not stream.derive:
        return rows
    carried = [name for name in DERIVED_COLUMNS if name in stream.columns]
    if carried:
        msg = f"stream.columns: {carried[0]} would be derived too. Set stream.derive to false, or take it out."
        raise InputError(msg)
    options = DeriveOptions(policy.turn_threshold_deg, policy.jump_speed_kn(stream.domain), policy.min_jump_m)
    return arranged(rows, options, bucket_rules(stream))


def _layers(settings: Settings, progress: Progress) -> dict[str, Layer]:
    if settings.layers.file is None:
        return {}
    try:
        layers = read_layers(settings.layers.file, settings.layers.directory, progress.say)
    except GeoError as error:
        raise InputError(str(error)) from error
    return {layer.spec.name: layer for layer in layers}
