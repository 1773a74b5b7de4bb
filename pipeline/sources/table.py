"""Any table of events: CSV, JSON lines, Parquet, a Spark table or a Kafka topic, needing only `track` and `time`.

Rows that cannot be read, or that have no track or no time, are set apart with a reason; nothing is dropped in silence.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources.csv_types import csv_types
from foresail.pipeline.sources.kafka import SCHEME as KAFKA
from foresail.pipeline.sources.kafka import parse_topic, read_topic
from foresail.pipeline.sources.lines import check_lines, check_lines_of
from foresail.pipeline.sources.parquet_schema import parquet_schema
from foresail.pipeline.sources.storage import list_files
from foresail.pipeline.sources.table_form import comma_numbers, delimiter_among, tables_inside, with_points
from foresail.pipeline.sources.table_times import time_of

TRACK, TIME, OFFSET = "track", "time", "offset"
UNREADABLE = "_unreadable"
REJECTED = "rejected"
SUFFIXES = {".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}
TYPES = {
    "string": T.StringType(),
    "double": T.DoubleType(),
    "long": T.LongType(),
    "integer": T.LongType(),
    "boolean": T.BooleanType(),
    "timestamp": T.TimestampType(),
}
SAMPLED_RECORDS = 1000


@dataclass(frozen=True, slots=True)
class RowCounts:
    """How many rows became events, and how many did not, by reason."""

    good: int
    rejected: Mapping[str, int]

    @property
    def summary(self) -> dict[str, Any]:
        """What a job says of them."""
        rejected = sum(self.rejected.values())
        return {"rows_read": self.good + rejected, "rejected": rejected, "rejected_reasons": dict(self.rejected)}


@dataclass(frozen=True, slots=True)
class Events:
    """Events ready for recognition, and the rows that were not."""

    good: DataFrame
    """With `track` (string), `time` (timestamp) and `offset` (long), which orders events of one time."""
    rejected: DataFrame
    """With `reason` and `raw`, the row as JSON or as it stood in the file."""
    marked: DataFrame
    """Every row, its `_reason` null where it is good."""

    def rows(self) -> RowCounts:
        """How many rows there are, and why some were rejected, by a pass of its own."""
        found = {row["_reason"]: int(row["count"]) for row in self.marked.groupBy("_reason").count().collect()}
        good = found.pop(None, 0)
        return RowCounts(good, found)

    def counting(self) -> "tuple[Events, Observation]":
        """The same, and what counts the rejected rows (`REJECTED`) as the others pass: most tables have none."""
        counts = Observation()
        observed = self.marked.observe(counts, F.count_if(F.col("_reason").isNotNull()).alias(REJECTED))
        return replace(self, good=_good(observed)), counts


def read_events(
    spark: SparkSession,
    paths: Sequence[str],
    types: Mapping[str, str] | None = None,
    time_unit: str | None = None,
) -> Events:
    """The events of these files (or of one Spark table), their times as timestamps whatever unit they came in."""
    table = _read(spark, paths, _parsed_types(types or {}))
    _require(table, TRACK)
    _require(table, TIME)
    if OFFSET not in table.columns:
        table = table.withColumn(OFFSET, F.monotonically_increasing_id())
    timed = table.withColumn(TRACK, F.col(TRACK).cast("string")).withColumn("_time", time_of(table, TIME, time_unit))
    reason = (
        F.when(F.col(UNREADABLE).isNotNull(), "unreadable")
        .when(F.col(TRACK).isNull() | (F.trim(TRACK) == ""), "no_track")
        .when(F.col("_time").isNull(), F.when(F.col(TIME).isNull(), "no_time").otherwise("bad_time"))
    )
    marked = timed.withColumn("_reason", reason)
    whole = F.to_json(F.struct(*(F.col(f"`{c}`") for c in table.columns if c != UNREADABLE)))
    rejected = marked.where("_reason is not null").select(
        F.col("_reason").alias("reason"), F.coalesce(F.col(UNREADABLE), whole).alias("raw")
    )
    return Events(_good(marked), rejected, marked)


def _good(marked: DataFrame) -> DataFrame:
    return marked.where("_reason is null").withColumn(TIME, F.col("_time")).drop("_time", "_reason", UNREADABLE)


def _read(spark: SparkSession, paths: Sequence[str], types: Mapping[str, T.DataType]) -> DataFrame:
    if any(path.startswith(KAFKA) for path in paths):
        return _read_topic(spark, paths, types)
    if len(paths) == 1 and not Path(paths[0]).exists() and "://" not in paths[0]:
        if _is_spark_table(spark, paths[0]):
            return _with_types(spark.table(paths[0]), types)
        msg = f"{paths[0]}: no such file, folder or Spark table. {_near_files(paths[0])}"
        raise InputError(msg)
    missing = [path for path in paths if "://" not in path and not Path(path).exists()]
    if missing:
        msg = f"{missing[0]}: no such file or folder. {_near_files(missing[0])}"
        raise InputError(msg)
    paths = _without_zips(spark, paths)
    form = _format_of(paths)
    try:
        if form == "parquet":
            known = parquet_schema(paths)
            reader = spark.read if known is None else spark.read.schema(known)
            return _with_types(reader.parquet(*paths), types)
        return _read_text(spark, list(paths), form, types)
    except AnalysisException as error:
        reason = str(error).strip().splitlines()[0]
        msg = f"{', '.join(paths)}: cannot be read as {form} ({reason}). Check that it is what its name says."
        raise InputError(msg) from None


def _read_topic(spark: SparkSession, paths: Sequence[str], types: Mapping[str, T.DataType]) -> DataFrame:
    """The JSON objects that a topic holds now; their types are told from the first of them."""
    if len(paths) > 1:
        msg = f"{', '.join(paths)}: several sources with a topic among them. Read one topic at a time."
        raise InputError(msg)
    lines = read_topic(spark, parse_topic(paths[0]))
    first = [row.raw for row in lines.select("raw").limit(SAMPLED_RECORDS).collect()]
    inferred = spark.read.json(spark.sparkContext.parallelize(first, 1)).schema
    chosen = {TRACK: T.StringType(), **types}
    known = [f for f in inferred.fields if f.name != "_corrupt_record"]
    fields = [T.StructField(f.name, chosen.get(f.name, f.dataType)) for f in known]
    schema = T.StructType([*fields, T.StructField(UNREADABLE, T.StringType())])
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": UNREADABLE}
    values = lines.select(F.from_json("raw", schema, options).alias("value"), F.col("line").alias("__line"))
    events = values.select("value.*", "__line")
    if OFFSET not in events.columns:
        events = events.withColumn(OFFSET, F.col("__line"))
    return events.drop("__line")


def _read_text(spark: SparkSession, paths: list[str], form: str, types: Mapping[str, T.DataType]) -> DataFrame:
    """CSV or JSON lines with types that are told beforehand, so that a misfit is kept and not nulled.

    Of small plain files they are told here, else by a pass of Spark's.
    """
    check_lines(Path(path) for path in paths if "://" not in path)
    check_lines_of(spark, list_files(spark, [path for path in paths if "://" in path]))
    options = {"header": "true", "mode": "PERMISSIVE", "columnNameOfCorruptRecord": UNREADABLE}
    if form == "csv":
        options["sep"] = delimiter_among(spark, paths, (TRACK, TIME))
    read: DataFrame | None = None
    inferred = csv_types(paths, ",") if options.get("sep") == "," else None
    if inferred is None:
        read = spark.read.options(**options, inferSchema="true").format(form).load(paths)
        inferred = read.schema
    unknown = sorted(set(types) - set(inferred.names))
    if unknown:
        msg = f"--types {unknown[0]}: there is no such column. {_did_you_mean(unknown[0], inferred.names)}"
        raise InputError(msg)
    # An inferred number would lose the zeros in front of a track's name.
    chosen = {TRACK: T.StringType(), **types}
    commas = _comma_columns(read, types) if read is not None and options.get("sep", ",") != "," else []
    chosen |= dict.fromkeys(commas, T.StringType())
    fields = [T.StructField(f.name, chosen.get(f.name, f.dataType)) for f in inferred.fields if f.name != UNREADABLE]
    schema = T.StructType([*fields, T.StructField(UNREADABLE, T.StringType())])
    table = spark.read.options(**options, enforceSchema="true").schema(schema).format(form).load(paths)
    return with_points(table, commas)


def _comma_columns(table: DataFrame, types: Mapping[str, T.DataType]) -> list[str]:
    """The columns with decimal commas; one that the user says is anything but a number is none."""
    open_to = [name for name in table.columns if name not in (TRACK, TIME, UNREADABLE)]
    numbers = (T.DoubleType(), None)
    return comma_numbers(table, [name for name in open_to if types.get(name) in numbers])


def _without_zips(spark: SparkSession, paths: Sequence[str]) -> list[str]:
    """`paths` with the tables inside in the place of each zip."""
    scratch = spark.conf.get("spark.local.dir", None)
    return [file for path in paths for file in tables_inside(path, SUFFIXES, scratch)]


def _with_types(table: DataFrame, types: Mapping[str, T.DataType]) -> DataFrame:
    for name, kind in types.items():
        _require(table, name)
        table = table.withColumn(name, F.expr(f"try_cast(`{name}` as {kind.simpleString()})"))
    return table.withColumn(UNREADABLE, F.lit(None).cast("string"))


def _require(table: DataFrame, column: str) -> None:
    if column not in table.columns:
        known = [c for c in table.columns if c != UNREADABLE]
        msg = (
            f"events: there is no column '{column}'. {_did_you_mean(column, known)}Columns: {', '.join(known)}. "
            "`foresail look FILE` shows what a file holds and how `foresail ingest` makes events of it."
        )
        raise InputError(msg)


def _parsed_types(types: Mapping[str, str]) -> dict[str, T.DataType]:
    for name, kind in types.items():
        if kind not in TYPES:
            msg = f"--types {name}={kind}: unknown type. {_did_you_mean(kind, TYPES)}Types: {', '.join(TYPES)}."
            raise InputError(msg)
    return {name: TYPES[kind] for name, kind in types.items()}


def check_paths(paths: Sequence[str]) -> None:
    """Raise where a file is missing, or of a form that cannot be read: what can be told before Spark runs."""
    missing = [path for path in paths if "://" not in path and not Path(path).exists()]
    if missing and not (len(paths) == 1 and _may_be_table(missing[0])):
        msg = f"{missing[0]}: no such file or folder. {_near_files(missing[0])}"
        raise InputError(msg)
    if not missing and not any("://" in path for path in paths):
        _format_of(paths)


def _may_be_table(name: str) -> bool:
    """Whether Spark could have a table of that name: words and dots, and no ending of a file."""
    return re.fullmatch(r"\w+(\.\w+)*", name) is not None and Path(name).suffix not in {*SUFFIXES, ".gz", ".bz2"}


def _format_of(paths: Sequence[str]) -> str:
    found = {_format_of_one(Path(path)) for path in paths}
    if len(found) != 1:
        msg = f"{', '.join(paths)}: mixed formats ({', '.join(sorted(found))}). Give files of one format."
        raise InputError(msg)
    return found.pop()


def _format_of_one(path: Path) -> str:
    files = (file for file in sorted(path.rglob("*")) if file.is_file()) if path.is_dir() else [path]
    for file in files:
        plain = file.with_suffix("") if file.suffix in (".gz", ".bz2") else file
        if plain.suffix in SUFFIXES and not file.name.startswith((".", "_")):
            return SUFFIXES[plain.suffix]
    msg = f"{path}: neither CSV, JSON lines nor Parquet by its name. Known endings: {', '.join(SUFFIXES)}, also .gz."
    raise InputError(msg)


def _is_spark_table(spark: SparkSession, name: str) -> bool:
    try:
        return spark.catalog.tableExists(name)
    except AnalysisException:
        return False


def _near_files(path: str) -> str:
    folder = Path(path).parent
    return _did_you_mean(Path(path).name, [file.name for file in folder.glob("*")]) if folder.is_dir() else ""


def _did_you_mean(word: str, known: Sequence[str] | Mapping[str, object]) -> str:
    near = get_close_matches(word, list(known), n=1)
    return f"Did you mean '{near[0]}'? " if near else ""
