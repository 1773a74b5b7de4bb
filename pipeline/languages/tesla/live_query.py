"""The live line of rules as one Spark query: messages are spread by the values that rules are keyed by, then read."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.errors import InputError
from foresail.pipeline.languages.tesla.evaluation import by_column, rule_sets_of
from foresail.pipeline.languages.tesla.live import SAVED_DDL, RuleBucket, RuleLine, condition_columns, routes_of
from foresail.pipeline.languages.tesla.messages import NAMED, ROUTED_DDL, MessageForm, Routing
from foresail.pipeline.runtime.session import cores_of
from foresail.pipeline.schemas import POSITION_COLUMNS
from foresail.pipeline.settings import Settings, StreamSettings
from foresail.pipeline.stream.bucket import findings
from foresail.pipeline.stream.query.kernel_columns import Incoming, beside, read_ticks
from foresail.pipeline.stream.query.source import file_lines, read_control, topic_lines

_KINDS = {"double": "double", "bigint": "long", "int": "long", "string": "string", "boolean": "boolean"}


def live_rows(spark: SparkSession, settings: Settings, catalog: Catalog, labels: Sequence[int]) -> DataFrame:
    """The rows of a line that runs the rule sets of a catalog."""
    stream = settings.stream
    line = rule_line(stream, catalog)
    routing = Routing(line.form, line.routes, tuple(labels))
    lines = topic_lines(spark, settings, None) if stream.source == "kafka" else file_lines(spark, stream)
    cores = cores_of(settings.spark.master)
    lines = lines.coalesce(cores) if cores else lines
    rows = lines.select("raw", F.col("line").cast("long").alias("line"), "arrived").mapInArrow(routing, ROUTED_DDL)
    every = beside(rows, Incoming(rows, read_control(spark, settings), read_ticks(spark)), labels)
    return every.groupBy("bucket").transformWithStateInPandas(
        RuleProcessor(line, labels[0]), findings.FINDING_DDL, "append", "None"
    )


def rule_line(stream: StreamSettings, catalog: Catalog) -> RuleLine:
    """What the buckets of a line run, as its settings say."""
    # a worker does not have the files that entries lie beside
    sets = [entry.model_copy(update={"rules": entry.text().text}) for entry in rule_sets_of(catalog)]
    own = {name: _KINDS.get(kind.simpleString()) for name, kind in POSITION_COLUMNS.items()}
    known = {name: kind for name, kind in own.items() if kind is not None} | dict(stream.columns)
    columns: dict[str, str] = {}
    for entry in sets:
        if entry.reads_patterns():
            pattern = entry.reads_patterns()[0]
            msg = (
                f"{entry.name}: reads matches of '{pattern}', which a live line of rules does not make. "
                "Write its condition in types:, or recognise in a batch."
            )
            raise InputError(msg)
        for name in sorted(condition_columns(entry) - {NAMED.time}):
            if name not in known:
                msg = f"{entry.name}: types reads '{name}'. Say in stream.columns whether it is double or string."
                raise InputError(msg)
            columns[name] = known[name]
    columns |= {name: kind for name, kind in known.items() if name in stream.columns}
    routes = tuple(dict.fromkeys([*routes_of(sets), *stream.attributes]))
    out_of_order_us = round(stream.out_of_order_s * 1e6)
    return RuleLine(
        tuple(sets), MessageForm(columns, by_column(sets)), routes, out_of_order_us, stream.source == "kafka"
    )


class RuleProcessor(StatefulProcessor):
    """A bucket of rules in the state store: one value for all its keys."""

    def __init__(self, line: RuleLine, everything: int) -> None:
        self._line, self._everything = line, everything

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name what is kept."""
        self._saved = handle.getValueState("rules", SAVED_DDL)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: ARG002, N803
    ) -> Iterator[pd.DataFrame]:
        """One micro-batch of one bucket."""
        held = self._saved.get()
        saved = None if held is None else (str(held[0]), bytes(held[1]), bytes(held[2]))
        bucket = RuleBucket(self._line, int(key[0]) == self._everything, saved)
        emitted = bucket.advance(pd.concat(list(rows), ignore_index=True))
        self._saved.update(bucket.saved())
        yield findings.frame(emitted)

    def close(self) -> None:
        """Nothing is held open."""
