"""Events as any table: Parquet, CSV with a header, or JSON lines, from a file, a folder, or a folder of `foresail`."""

from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from pipeline.errors import InputError

EVENTS = "events"
SUFFIXES = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json"}


def events_folder(path: Path) -> Path:
    """Where the events of `path` lie: in its folder `events` if a command wrote it, else in itself."""
    return path / EVENTS if (path / EVENTS).is_dir() else path


def read_events(spark: SparkSession, path: Path) -> DataFrame:
    """The events in `path`; types of CSV and JSON are inferred."""
    place = events_folder(path)
    if not place.exists():
        msg = f"{path}: does not exist. Name a file or folder of events."
        raise InputError(msg)
    kind = _format_of(place)
    reader = spark.read.option("header", True).option("inferSchema", True)
    try:
        events = reader.format(kind).load(str(place))
        columns = events.columns
    except PySparkException as error:
        reason = (error.getMessage() or str(error)).strip().splitlines()[0][:200]
        msg = f"{place}: cannot be read as {kind} ({reason}). Check the file."
        raise InputError(msg) from error
    if not columns or columns == ["_corrupt_record"]:
        msg = f"{place}: holds no table. Name Parquet, CSV with a header, or JSON lines."
        raise InputError(msg)
    return events


def _format_of(place: Path) -> str:
    files = [place] if place.is_file() else sorted(f for f in place.rglob("*") if f.is_file() and f.name[0] not in "._")
    kinds = {SUFFIXES[suffix] for file in files for suffix in _suffix(file) if suffix in SUFFIXES}
    if len(kinds) != 1:
        found = "no files of events" if not kinds else f"files of several formats ({', '.join(sorted(kinds))})"
        msg = f"{place}: holds {found}. Name Parquet, CSV with a header, or JSON lines (also with .gz)."
        raise InputError(msg)
    return kinds.pop()


def _suffix(file: Path) -> tuple[str, ...]:
    last = file.suffix.lower()
    return (Path(file.stem).suffix.lower(),) if last in (".gz", ".bz2", ".zst") else (last,)
