"""Matches and rejected rows as files: Parquet folders or JSON lines, each swapped into place when complete."""

import shutil
from pathlib import Path

from pyspark.sql import DataFrame

from pipeline.sinks.output_folder import replaced

TIME_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"
ORDER = ("track", "time", "pattern", "match_id", "status")


def write_matches(matches: DataFrame, folder: Path, form: str) -> Path:
    """Write `matches/` or `matches.jsonl` below `folder`; the other form of an earlier run goes away."""
    place, other = folder / "matches", folder / "matches.jsonl"
    if form == "jsonl":
        place, other = other, place
        write_json_lines(matches, place)
    else:
        with replaced(place) as staging:
            matches.write.parquet(str(staging))
    _remove(other)
    return place


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


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
