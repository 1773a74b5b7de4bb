"""Rows that did not become positions: written with source, line, reason and their text as it was."""

import shutil
from collections import Counter
from pathlib import Path

import pyarrow.parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.schemas import REJECTED_SCHEMA

ASIDE_COLUMNS = REJECTED_SCHEMA.fieldNames()


def aside_rows(judged: DataFrame, late: DataFrame | None, kind: str) -> DataFrame:
    """The rows of `judged` that are set aside as `kind` (rejected or duplicates), early or `late`, with their text."""
    early = judged.filter(F.col("reason").isNotNull()).select(*ASIDE_COLUMNS)
    if late is None:
        return early if kind == "rejected" else early.limit(0)
    found_late = late.filter(F.col("kind") == kind).drop("kind")
    texts = judged.filter(F.col("reason").isNull()).select("source", "line", "raw")
    rows = found_late.join(texts, ["source", "line"]).select(*ASIDE_COLUMNS)
    return rows if kind == "duplicates" else early.unionByName(rows)


def write_aside(rows: DataFrame, folder: Path, former: DataFrame | None = None) -> dict[str, int]:
    """Write `rows`, after those that were there before; how many of them there are for each reason comes back."""
    fresh = folder.with_name(f"{folder.name}.fresh")
    rows.coalesce(1).write.mode("overwrite").option("compression", "zstd").parquet(str(fresh))
    counts = Counter(
        reason
        for part in fresh.glob("*.parquet")
        for reason in pyarrow.parquet.read_table(part, columns=["reason"]).column("reason").to_pylist()
    )
    if former is None:
        fresh.rename(folder)
    else:
        written = read_aside(rows.sparkSession, fresh)
        both = former.select(*ASIDE_COLUMNS).unionByName(written)
        both.coalesce(1).write.option("compression", "zstd").parquet(str(folder))
        shutil.rmtree(fresh)
    return dict(counts.most_common())


def read_aside(spark: SparkSession, folder: Path) -> DataFrame:
    """What `write_aside` wrote."""
    return spark.read.schema(REJECTED_SCHEMA).parquet(str(folder))
