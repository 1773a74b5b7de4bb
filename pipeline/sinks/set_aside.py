"""Rows that did not become positions: written with source, line, reason and their text as it was.

Which files a folder of positions was made from, by their content: the same file is never taken in twice.
"""

import json
import shutil
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import pyarrow.parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.errors import OutputError
from foresail.pipeline.schemas import REJECTED_SCHEMA
from foresail.pipeline.sinks.output_folder import replaced

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


LEDGER_FILE = "sources.json"


@dataclass(frozen=True, slots=True)
class IngestedFile:
    """One file that was taken in."""

    name: str
    sha256: str
    feed: str
    ingested_at: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """All files that were taken in so far."""

    files: tuple[IngestedFile, ...] = ()

    def knows(self, sha256: str) -> bool:
        """Whether a file of this content was taken in, under whatever name."""
        return any(file.sha256 == sha256 for file in self.files)

    def with_files(self, feed: str, prints: dict[str, str], now: datetime) -> "Ledger":
        """The ledger with further files, by name and fingerprint."""
        fresh = (IngestedFile(name, sha256, feed, now.isoformat()) for name, sha256 in prints.items())
        return Ledger((*self.files, *fresh))

    def write(self, folder: Path) -> None:
        """Put the ledger into `folder`."""
        with replaced(folder / LEDGER_FILE) as place:
            place.write_text(json.dumps([asdict(file) for file in self.files], indent=1) + "\n", encoding="utf-8")


def read_ledger(folder: Path) -> Ledger:
    """The ledger of `folder`; an empty one where nothing was ingested yet."""
    file = folder / LEDGER_FILE
    if not file.exists():
        return Ledger()
    try:
        return Ledger(tuple(IngestedFile(**entry) for entry in json.loads(file.read_text(encoding="utf-8"))))
    except (OSError, ValueError, TypeError):
        msg = f"{file}: cannot be read as a list of ingested files. Ingest into a new folder, without --append."
        raise OutputError(msg) from None
