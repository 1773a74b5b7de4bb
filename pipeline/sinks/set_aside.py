"""Rows that did not become positions: written with source, line, reason and their text as it was."""

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.schemas import REJECTED_SCHEMA

ASIDE_COLUMNS = REJECTED_SCHEMA.fieldNames()


def aside_rows(judged: DataFrame, late: DataFrame, kind: str) -> DataFrame:
    """The rows of `judged` that are set aside as `kind` (rejected or duplicates), early or `late`, with their text."""
    found_late = late.filter(F.col("kind") == kind).drop("kind")
    texts = judged.filter(F.col("reason").isNull()).select("source", "line", "raw")
    rows = found_late.join(texts, ["source", "line"]).select(*ASIDE_COLUMNS)
    if kind == "duplicates":
        return rows
    return judged.filter(F.col("reason").isNotNull()).select(*ASIDE_COLUMNS).unionByName(rows)


def write_aside(rows: DataFrame, folder: Path, former: DataFrame | None = None) -> dict[str, int]:
    """Write `rows`, after those that were there before; how many of them there are for each reason comes back."""
    fresh = folder.with_name(f"{folder.name}.fresh")
    rows.coalesce(1).write.mode("overwrite").option("compression", "zstd").parquet(str(fresh))
    written = rows.sparkSession.read.parquet(str(fresh))
    counts = written.groupBy("reason").count().orderBy(F.desc("count"), "reason").collect()
    if former is None:
        fresh.rename(folder)
    else:
        both = former.select(*ASIDE_COLUMNS).unionByName(written)
        both.coalesce(1).write.option("compression", "zstd").parquet(str(folder))
        _remove(fresh)
    return {row["reason"]: row["count"] for row in counts}


def read_aside(spark: SparkSession, folder: Path) -> DataFrame:
    """What `write_aside` wrote."""
    return spark.read.schema(REJECTED_SCHEMA).parquet(str(folder))


def _remove(folder: Path) -> None:
    import shutil  # noqa: PLC0415

    shutil.rmtree(folder)
