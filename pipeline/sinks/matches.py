"""Matches and rejected rows as files: Parquet folders or JSON lines, each swapped into place when complete."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from foresail.pipeline.batch.match_writer import UNFINISHED
from foresail.pipeline.results.json_rows import ORDER, json_lines
from foresail.pipeline.results.match_table import match_schema
from foresail.pipeline.sinks.output_folder import replaced

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLE, LINES = "matches", "matches.jsonl"
WITHOUT_ROWS = "part-empty.parquet"


@contextmanager
def replaced_matches(folder: Path, places: bool) -> Iterator[Path]:
    """Where workers write the files of `matches/`; they take the place of the former ones when the block ends well."""
    with replaced(folder / TABLE) as staging:
        staging.mkdir()
        yield staging
        for file in staging.glob(f"{UNFINISHED}*"):
            file.unlink()
        if not any(staging.iterdir()):
            plain = [_plain(field) for field in match_schema(places)]
            pq.write_table(pa.schema(plain).empty_table(), staging / WITHOUT_ROWS, store_schema=False)


def finish_matches(spark: "SparkSession | None", folder: Path, form: str) -> Path:
    """The result in its final form: `matches/` stays, or becomes `matches.jsonl`; the other form goes away."""
    table, lines = folder / TABLE, folder / LINES
    if form != "jsonl":
        lines.unlink(missing_ok=True)
        return table
    if spark is None:
        with replaced(lines) as staging, staging.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in json_lines(pq.read_table(table)))
    else:
        write_json_lines(spark.read.parquet(str(table)), lines)
    shutil.rmtree(table)
    return lines


def write_rejected(rejected: "DataFrame | None", file: Path) -> int:
    """Write the rejected rows, or an empty file where there cannot be any; how many there are."""
    if rejected is None:
        with replaced(file) as staging:
            staging.touch()
        return 0
    write_json_lines(rejected, file)
    with file.open(encoding="utf-8") as lines:
        return sum(1 for _ in lines)


def write_json_lines(rows: "DataFrame", file: Path) -> None:
    """One file with a JSON object a line, in a fixed order, every key present."""
    from foresail.pipeline.schemas import TIME_FORMAT  # noqa: PLC0415 - names Spark's types

    order = [column for column in ORDER if column in rows.columns] or rows.columns
    one = rows.repartition(1).sortWithinPartitions(*order)
    with replaced(file) as staging:
        parts = staging.with_name(f"{staging.name}.parts")
        shutil.rmtree(parts, ignore_errors=True)
        try:
            one.write.json(str(parts), timestampFormat=TIME_FORMAT, ignoreNullFields=False)
            written = sorted(parts.glob("part-*.json"))
            if written:
                written[0].replace(staging)
            else:
                staging.touch()
        finally:
            shutil.rmtree(parts, ignore_errors=True)


def _plain(field: pa.Field) -> pa.Field:
    return field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
