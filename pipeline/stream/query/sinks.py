"""Where the rows of a micro-batch go: topics, Parquet, the console; replies to those who sent control messages.

A micro-batch that is repeated after a crash writes the same rows again: to Kafka once more under the same ids, to
Parquet in place of the folder of that batch.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.results.forecast_columns import forecast_columns
from foresail.pipeline.results.match_columns import match_columns
from foresail.pipeline.schemas import TIME_FORMAT
from foresail.pipeline.settings import Settings, TopicSettings
from foresail.pipeline.stream.bucket import findings
from foresail.pipeline.stream.bucket.findings import (
    ALERT,
    COMPOSITE,
    FORECAST,
    FORECAST_KIND,
    LATE,
    MATCH,
    OUTPUT_KINDS,
    POSITION,
    REJECTED,
)

FOLDERS = {
    MATCH: "matches",
    FORECAST: "forecasts",
    ALERT: "alerts",
    LATE: "late",
    REJECTED: "rejected",
    POSITION: "tracks",
    COMPOSITE: "composites",
}


@dataclass(frozen=True, slots=True)
class BatchFacts:
    """What a micro-batch has for the driver."""

    batch: int
    stats: list[dict[str, Any]]
    replies: list[dict[str, Any]]
    contents: list[tuple[str, str, bytes]]
    """Kind, what it is, and the content."""


class Sinks:
    """Writes every micro-batch, and hands what is for the driver to `heard`."""

    def __init__(self, settings: Settings, heard: Callable[[BatchFacts], None]) -> None:
        self._settings, self._heard = settings, heard
        self._kafka = settings.stream.to_kafka and settings.kafka.bootstrap_servers is not None
        # a column is some calls into Java, and there are a hundred: made anew in every micro-batch they took 0.2 s
        self._leaving = F.col("kind").isin(*OUTPUT_KINDS)
        self._record = [
            topic_of(settings.stream.topics).alias("topic"),
            F.col("track").alias("key"),
            value_of().alias("value"),
        ]
        self._columns = {kind: _columns(kind) for kind in FOLDERS}

    def __call__(self, rows: DataFrame, batch: int) -> None:
        """Write the rows of one micro-batch."""
        rows.persist()
        try:
            if self._kafka:
                self._to_topics(rows)
            facts = _batch_facts(rows.where(~self._leaving), batch)
            if self._settings.stream.output is not None:
                self._to_parquet(rows, batch, facts)
            if self._settings.stream.console:
                _show(rows)
            self._heard(facts)
        finally:
            rows.unpersist()

    def _to_topics(self, rows: DataFrame) -> None:
        servers = self._settings.kafka.bootstrap_servers
        rows.where(self._leaving).select(*self._record).write.format("kafka").options(
            **{
                "kafka.bootstrap.servers": servers,
                "kafka.compression.type": "gzip",  # which every reader knows
                "kafka.compression.gzip.level": "1",
            }
        ).save()

    def _to_parquet(self, rows: DataFrame, batch: int, facts: BatchFacts) -> None:
        """A folder for each kind and batch; a repeated batch replaces its own."""
        there = {row["kind"] for row in rows.select("kind").distinct().collect()}
        for kind, name in FOLDERS.items():
            folder = Path(str(self._settings.stream.output)) / name / f"batch={batch:09d}"
            if kind in there:
                shown = rows.where(F.col("kind") == kind).select(*self._columns[kind])
                shown.write.mode("overwrite").parquet(str(folder))
        if facts.replies:
            file = Path(str(self._settings.stream.output)) / "replies" / f"batch={batch:09d}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(json.dumps(reply) + "\n" for reply in facts.replies), encoding="utf-8")


def _columns(kind: str) -> list[Column]:
    if kind == MATCH:
        return match_columns(places=True)
    return forecast_columns(FORECAST_KIND) if kind == FORECAST else [F.col("payload")]


def topic_of(topics: TopicSettings) -> Column:
    """The topic of a row."""
    names = {
        MATCH: topics.matches,
        FORECAST: topics.forecasts,
        ALERT: topics.alerts,
        LATE: topics.late,
        REJECTED: topics.rejected,
        POSITION: topics.tracks,
        COMPOSITE: topics.composites,
    }
    return F.coalesce(*(F.when(F.col("kind") == kind, F.lit(name)) for kind, name in names.items()))


def value_of() -> Column:
    """A row as JSON, by its kind."""
    options = {"timestampFormat": TIME_FORMAT, "ignoreNullFields": "false"}
    match = F.to_json(F.struct(*match_columns(places=True)), options)
    forecast = F.to_json(F.struct(*forecast_columns(FORECAST_KIND)), options)
    return F.when(F.col("kind") == MATCH, match).when(F.col("kind") == FORECAST, forecast).otherwise(F.col("payload"))


def _batch_facts(rows: DataFrame, batch: int) -> BatchFacts:
    mine = rows.select("kind", "payload", "content").collect()
    stats = [json.loads(row.payload) for row in mine if row.kind == findings.STATS]
    acks = [json.loads(row.payload) for row in mine if row.kind == findings.ACK]
    contents = [(row.kind, row.payload, bytes(row.content)) for row in mine if row.content is not None]
    return BatchFacts(batch, stats, joined_replies(acks, batch), contents)


def joined_replies(acks: list[dict[str, Any]], batch: int) -> list[dict[str, Any]]:
    """One reply for each message: accepted when every bucket accepted it, from this batch on."""
    by_message: dict[str, list[dict[str, Any]]] = {}
    for ack in acks:
        key = [ack.get("offset"), ack["id"], ack["message"]]
        by_message.setdefault(json.dumps(key, sort_keys=True), []).append(ack)
    replies = []
    for some in by_message.values():
        refused = [ack for ack in some if not ack["accepted"]]
        first = refused[0] if refused else some[0]
        replies.append({**first, "batch": batch, "buckets": len(some), "obeyed": len(some) - len(refused)})
    return replies


def _show(rows: DataFrame) -> None:
    shown = rows.where(F.col("kind").isin(MATCH, ALERT, COMPOSITE)).select("kind", value_of().alias("value")).limit(50)
    for row in shown.collect():
        print(f"{row.kind}\t{row.value}", flush=True)
