"""The live line as one Spark query: read, clean, derive, enrich, put in order, recognise, forecast, tell."""

from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from foresail.geo import Layer, PairSettings, enrich, publish, read_layers
from foresail.geo.attributes import attribute_schema
from foresail.geo.errors import GeoError
from foresail.geo.proximity import pair_schema
from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.conditions.typing import AttributeType
from foresail.pipeline.catalogs import catalog_named, patterns_alone
from foresail.pipeline.conditions.spark import attribute_types
from foresail.pipeline.errors import InputError
from foresail.pipeline.languages.runner import runner_of
from foresail.pipeline.progress import SILENT, Progress
from foresail.pipeline.runtime.session import cores_of
from foresail.pipeline.schemas import DERIVED_COLUMNS, POSITION_SCHEMA
from foresail.pipeline.settings import Settings, StreamSettings
from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.stages.derive import READ_COLUMNS, options_of, with_attributes
from foresail.pipeline.stages.policy import Policy
from foresail.pipeline.stream.bucket.alerts import Alerting
from foresail.pipeline.stream.bucket.deriving import Deriving
from foresail.pipeline.stream.bucket.findings import FINDING_DDL
from foresail.pipeline.stream.bucket.input_rows import EVENT, PACKED, REJECTED_MESSAGE
from foresail.pipeline.stream.bucket.line_spec import Reads
from foresail.pipeline.stream.bucket.operator import BucketLine, BucketProcessor, beside_previous
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.messages.packing import Packing
from foresail.pipeline.stream.query.kernel_columns import (
    Incoming,
    beside,
    bucket_labels,
    bucket_of,
    kernel_columns,
    read_ticks,
    together,
)
from foresail.pipeline.stream.query.pair_rows import pair_bucket_rules, pair_rows, pair_settings
from foresail.pipeline.stream.query.plan import Compiled, CompiledLine, NoPatterns, compile_line, plain_feed
from foresail.pipeline.stream.query.source import (
    CANONICAL,
    LONGEST_SHOWN,
    canonical_schema,
    read_control,
    read_messages,
)

LIVE = {"tesla": "foresail.pipeline.languages.tesla.live_query"}
"""By the name of a language the module that makes its live line."""
SHELF = "layers"
"""The folder beside the checkpoint that names the layers in force."""


@dataclass(frozen=True, slots=True)
class LiveLine:
    """A query that is ready to be started: its rows, and what it looks for."""

    findings: DataFrame
    compiled: Compiled | NoPatterns
    buckets: int
    shelf: Path | None
    stateful_operators: int


def live_line(spark: SparkSession, settings: Settings, policy: Policy, progress: Progress = SILENT) -> LiveLine:
    """The line that the settings describe."""
    stream = settings.stream
    buckets = stream.buckets or cores_of(settings.spark.master) or 2
    catalog = live_catalog(stream)
    if catalog.others:
        line = import_module(LIVE[catalog.others[0].language])
        findings = line.live_rows(spark, settings, catalog, bucket_labels(spark, buckets))
        return LiveLine(findings, NoPatterns(), buckets, None, 1)
    layers = _layers(settings, progress)
    shelf = stream.checkpoint / SHELF if layers else None
    if shelf is not None:
        publish(list(layers.values()), shelf)
    parts = QueryParts(spark, settings, policy, bucket_labels(spark, 2 * buckets), layers, shelf)
    compiled = compile_line(catalog, parts.known(), layers, stream)
    crossed, processor = parts.read_by(compiled)
    findings = crossed.groupBy("bucket").transformWithStateInPandas(processor, FINDING_DDL, "append", "None")
    return LiveLine(findings, compiled, buckets, shelf, parts.stateful_operators(compiled))


def live_catalog(stream: StreamSettings) -> Catalog:
    """The catalog of a line: patterns, or entries of a language that can be run live."""
    catalog = catalog_named(stream.patterns, stream.domain, stream.parameters, languages=True)
    runner_of(catalog)
    return catalog if any(entry.language in LIVE for entry in catalog.others) else patterns_alone(catalog)


@dataclass(frozen=True)
class QueryParts:
    """The line up to the step that recognises: a branch of positions and, where patterns want them, one of pairs."""

    spark: SparkSession
    settings: Settings
    policy: Policy
    labels: list[int]
    """Of the buckets of positions, then as many of pairs."""
    layers: dict[str, Layer]
    shelf: Path | None

    @property
    def _stream(self) -> StreamSettings:
        return self.settings.stream

    @property
    def _position_labels(self) -> list[int]:
        return self.labels[: len(self.labels) // 2]

    @property
    def _pair_labels(self) -> list[int]:
        return self.labels[len(self.labels) // 2 :]

    def known(self) -> dict[Reads, dict[str, AttributeType]]:
        """The attributes that there are for conditions, as the settings say: no query is built to learn them."""
        messages, stream = self._message_schema(), self._stream
        derived = [T.StructField(name, kind) for name, kind in DERIVED_COLUMNS.items()] if stream.derive else []
        layered = attribute_schema(self.layers.values()).fields
        known: dict[Reads, dict[str, AttributeType]] = {
            "positions": attribute_types(T.StructType([*messages.fields, *derived, *layered])),
        }
        if stream.pairs_within_m is not None:
            pairs = pair_schema(messages, pair_settings(stream.pairs_within_m))
            known["pairs"] = attribute_types(T.StructType([*pairs.fields, *layered]))
        return known

    def _message_schema(self) -> T.StructType:
        """The columns of cleaned messages; a feed that is not canonical may have some of its own."""
        stream = self._stream
        clashing = [name for name in DERIVED_COLUMNS if stream.derive and name in stream.columns]
        if clashing:
            msg = f"stream.columns: {clashing[0]} would be derived too. Set stream.derive to false, or take it out."
            raise InputError(msg)
        if find_feed(stream.feed).name == CANONICAL:
            return canonical_schema(stream)
        own = [field for field in self._messages.schema.fields if field.name not in _ABOUT]
        return T.StructType([*(POSITION_SCHEMA[name] for name in ("track", "time", "offset")), *own])

    @cached_property
    def _messages(self) -> DataFrame:
        """Messages of a feed that is read whole, whatever is carried."""
        return read_messages(self.spark, self.settings, self.policy)

    def read_by(self, compiled: Compiled) -> tuple[DataFrame, BucketProcessor]:
        """The rows that cross for these patterns, and the step that reads them."""
        within_m, wanted = self._stream.pairs_within_m, compiled.pairs
        near = pair_settings(within_m, wanted.attributes) if wanted and within_m else None
        carried = _carried(compiled.positions.attributes, self._stream.derive)
        carried |= set(near.attributes) if near else set()
        incoming = self._incoming(carried, self._packing(carried, compiled))
        crossed, line = self._positions(incoming, compiled.positions)
        if wanted is None or near is None:
            return crossed, BucketProcessor(line)
        rules = pair_bucket_rules(bucket_rules(self._stream, self.policy), near)
        pairs, pair_line = self._crossed(self._pairs(incoming, near), wanted, rules)
        return together(crossed, pairs), BucketProcessor(line, pair_line, frozenset(self._pair_labels))

    def stateful_operators(self, compiled: Compiled) -> int:
        """One that recognises; one that puts in order before layers are joined; of pairs that, and who is near whom."""
        return 1 + bool(self._stream.derive and self.layers) + (0 if compiled.pairs is None else 2)

    def _packing(self, carried: set[str], compiled: Compiled) -> Packing | None:
        """How plain messages travel to the first step with state; None where Spark enriches them before that."""
        feed = plain_feed(self._stream, self.policy, carried)
        if feed is None or (self.layers and not self._stream.derive):
            return None
        labels = tuple(self._position_labels)
        if self._stream.derive:
            return Packing(feed, labels)
        unread = set(compiled.positions.attributes) - {"track", *feed.carried}
        return None if unread else Packing(feed, labels, compiled.positions.spec.conditions)

    def _incoming(self, carried: set[str], packing: Packing | None) -> Incoming:
        """What comes in, with the columns `carried` and no others."""
        canonical = find_feed(self._stream.feed).name == CANONICAL
        messages = (
            read_messages(self.spark, self.settings, self.policy, carried, packing) if canonical else self._messages
        )
        rows = _as_rows(messages, self._position_labels, carried)
        return Incoming(rows, read_control(self.spark, self.settings), read_ticks(self.spark))

    def _positions(self, incoming: Incoming, line: CompiledLine) -> tuple[DataFrame, BucketLine]:
        """The branch of positions: derived in the step that recognises, or before it where layers are joined."""
        rules = bucket_rules(self._stream, self.policy)
        rows = beside(incoming.rows, incoming, self._position_labels)
        if not self._stream.derive:
            return self._crossed(self._enriched(rows), line, rules)
        options = options_of(self.policy, self._stream.domain)
        # what has been put in order needs no waiting afterwards
        settled = replace(rules, out_of_order_us=0)
        if self.layers:
            ordered = with_attributes(beside_previous(rows, rules), options)
            return self._crossed(self._enriched(ordered), line, settled)
        deriving = Deriving(options, rules, line.spec)
        return rows, BucketLine(line.spec, settled, self._alerting(line), tuple(rows.columns), deriving)

    def _pairs(self, incoming: Incoming, near: PairSettings) -> DataFrame:
        rules = bucket_rules(self._stream, self.policy)
        filling = options_of(self.policy, self._stream.domain) if self._stream.derive else None
        rows = pair_rows(incoming, self._position_labels, self._pair_labels, near, rules, filling)
        return beside(self._enriched(rows), incoming, self._pair_labels)

    def _enriched(self, rows: DataFrame) -> DataFrame:
        return enrich(rows, list(self.layers.values()), "worker", self.shelf) if self.layers else rows

    def _crossed(self, rows: DataFrame, line: CompiledLine, rules: BucketRules) -> tuple[DataFrame, BucketLine]:
        crossed = kernel_columns(rows, line.spec, line.families, self.layers, line.attributes, self.shelf)
        return crossed, BucketLine(line.spec, rules, self._alerting(line), tuple(crossed.columns))

    def _alerting(self, line: CompiledLine) -> Alerting:
        return Alerting(line.entries if self._stream.alerts.enabled else {}, self._stream.alerts)


def bucket_rules(stream: StreamSettings, policy: Policy) -> BucketRules:
    """The settings as a bucket keeps time by them."""
    if stream.rerun_s and stream.same_time == "keep":
        msg = "stream.rerun_s: late events are put among others by their time. Set stream.same_time to drop."
        raise InputError(msg)
    return BucketRules(
        out_of_order_us=round(stream.out_of_order_s * 1e6),
        # the recent past of a track at rest is not kept
        rest_after_us=round(max(stream.rest_after_s, stream.rerun_s) * 1e6),
        forget_after_us=round(stream.forget_after_s * 1e6),
        keep_same_time=stream.same_time == "keep",
        rerun_us=round(stream.rerun_s * 1e6),
        gap_us=policy.gap_us,
    )


def _carried(attributes: tuple[str, ...], derive: bool) -> set[str]:
    """The columns of a message that later steps read: what is derived needs more than the conditions say."""
    return {"lon", "lat", *attributes, *(READ_COLUMNS if derive else ())}


def _as_rows(judged: DataFrame, labels: list[int], carried: set[str]) -> DataFrame:
    """Messages as rows of the line: events, packed ones, and rejected ones that are only passed on."""
    is_packed = "packed" in judged.columns
    packed = F.col("packed") if is_packed else F.lit(None).cast("binary")
    bucket = bucket_of(F.col("track"), labels)
    bad = F.col("reason").isNotNull() & packed.isNull()
    raw = F.struct(
        "source",
        "line",
        "reason",
        F.substring("raw", 1, LONGEST_SHOWN).alias("raw"),
        F.length("raw").alias("raw_characters"),
    )
    return judged.select(
        (F.coalesce("packed_bucket", bucket) if is_packed else bucket).alias("bucket"),
        F.when(packed.isNotNull(), PACKED).when(bad, REJECTED_MESSAGE).otherwise(EVENT).alias("kind"),
        F.coalesce("track", F.lit("")).alias("track"),
        F.coalesce("time", F.timestamp_micros(F.lit(0).cast("long"))).alias("time"),
        F.coalesce("line", F.lit(0)).cast("long").alias("offset"),
        F.col("arrived").alias("arrived_us"),
        F.when(bad, F.to_json(raw)).alias("payload"),
        packed.alias("packed"),
        *(name for name in judged.columns if name in carried and name not in _ABOUT),
    )


_ABOUT = (
    *("source", "line", "raw", "repairs", "reason", "arrived", "track", "time", "offset", "bucket", "kind"),
    *("packed", "packed_bucket"),
)


def _layers(settings: Settings, progress: Progress) -> dict[str, Layer]:
    if settings.layers.file is None:
        return {}
    try:
        layers = read_layers(settings.layers.file, settings.layers.directory, progress.say)
    except GeoError as error:
        raise InputError(str(error)) from error
    return {layer.spec.name: layer for layer in layers}
