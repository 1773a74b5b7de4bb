"""Parquet tables as messages: each row numbered within its file, its text the JSON of the row."""

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.sources.feed import Feed, as_messages
from foresail.pipeline.sources.lines import plain_name
from foresail.pipeline.sources.storage import SourceFile, escaped

PARQUET_MAGIC = "PAR1"


def read_table(spark: SparkSession, files: list[SourceFile]) -> DataFrame:
    """The rows of `files`, with the place each comes from."""
    table = spark.read.option("mergeSchema", "true").parquet(*[escaped(file.path) for file in files])
    return table.select(
        *[F.col(f"`{name}`") for name in table.columns],
        plain_name(F.col("_metadata.file_path")).alias("_source"),
        (F.col("_metadata.row_index") + 1).alias("_line"),
    )


def lacking(feed: Feed, table: DataFrame) -> list[str]:
    """The columns that `feed` cannot do without and `table` does not have."""
    have = {name.lower() for name in table.columns}
    return [names[0] for names in feed.required if not have & {name.lower() for name in names}]


def parse_table(table: DataFrame, feed: Feed) -> DataFrame:
    """Messages from the rows of `read_table`; columns that the feed does not know pass through if it says so."""
    own = [name for name in table.columns if name not in ("_source", "_line")]
    found = {name.lower(): name for name in own}
    used: set[str] = {"source", "offset"}

    def cells(*names: str) -> Column:
        for name in names:
            used.add(name.lower())
            if name.lower() in found:
                return F.col(f"`{found[name.lower()]}`")
        return F.lit(None).cast("string")

    columns = feed.columns(cells)
    if feed.keep_rest:
        columns |= {name: F.col(f"`{name}`") for name in own if name.lower() not in used and name not in columns}
    rows = table.withColumns(
        {
            "raw": F.to_json(F.struct(*[F.col(f"`{name}`") for name in own])),
            "recoded": F.lit(False),
            "fault": F.lit(None).cast("string"),
        }
    )
    return as_messages(rows, columns, source="_source", line="_line")
