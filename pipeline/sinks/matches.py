"""Matches and rejected rows as files: Parquet folders or JSON lines, each swapped into place when complete."""

import shutil
from pathlib import Path

from pyspark.sql import DataFrame

from pipeline.sinks.output_folder import replaced

TIME_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"
ORDER = ("track", "time", "pattern", "match_id", "status")


def write_matches(matches: DataFrame, folder: Path, form: str) -> Path:
    """Write `matches/` or `matches.jsonl` below `folder`; the other form of an earlier run goes away.

    JSON lines are made from the Parquet, so that recognition is always the last stage of its Spark job: only there
    does Spark count what a repeated task reports once.
    """
    table, lines = folder / "matches", folder / "matches.jsonl"
    with replaced(table) as staging:
        matches.write.parquet(str(staging))
    if form != "jsonl":
        lines.unlink(missing_ok=True)
        return table
    write_json_lines(matches.sparkSession.read.schema(matches.schema).parquet(str(table)), lines)
    shutil.rmtree(table)
    return lines


def write_json_lines(rows: DataFrame, file: Path) -> None:
    """One file with a JSON object a line, in a fixed order, every key present."""
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
