"""How a table of text is written where it is not plain CSV: other delimiters, decimal commas, zips."""

from collections.abc import Collection, Sequence
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources.storage import first_line, list_files
from foresail.pipeline.sources.text_rows import DELIMITERS, fields_of
from foresail.pipeline.sources.zip_files import archive_name, is_zip, with_unpacked

COMMA_NUMBER = r"^\s*[+-]?\d+(,\d+)?([eE][+-]?\d+)?\s*$"
PACKINGS = (".gz", ".bz2")


def delimiter_among(spark: SparkSession, paths: Sequence[str], wanted: Sequence[str]) -> str:
    """The delimiter by which the first file's header has the columns `wanted`; a comma where none does."""
    files = list_files(spark, paths[:1])
    header = first_line(spark, files[0]) if files else ""
    return next((sign for sign in DELIMITERS if set(wanted) <= set(fields_of(header, sign))), ",")


def comma_numbers(table: DataFrame, among: Collection[str]) -> list[str]:
    """The columns of text that hold nothing but numbers with decimal commas."""
    texts = [f.name for f in table.schema.fields if isinstance(f.dataType, T.StringType) and f.name in among]
    if not texts:
        return []
    measures: list[Column] = []
    for name in texts:
        cell = F.col(f"`{name}`")
        other = F.count_if(cell.isNotNull() & (F.trim(cell) != "") & ~cell.rlike(COMMA_NUMBER))
        measures.append(((other == 0) & (F.count_if(cell.contains(",")) > 0)).alias(name))
    found = table.agg(*measures).first()
    return [name for name in texts if found and found[name]]


def with_points(table: DataFrame, columns: Collection[str]) -> DataFrame:
    """`table` with these columns of text as the numbers that they spell with a comma."""
    as_number = {name: F.replace(F.col(f"`{name}`"), F.lit(","), F.lit(".")).try_cast("double") for name in columns}
    return table.withColumns(as_number) if columns else table


def tables_inside(path: str, endings: Collection[str], scratch: str | None) -> list[str]:
    """`path` itself, or where it is a zip (or a folder with zips in it) the tables that it holds."""
    if "://" in path:
        return [path]
    place = Path(path)
    zips = [file for file in sorted(place.rglob("*.zip")) if _is_data(file, place)] if place.is_dir() else []
    if zips:
        beside = [
            str(f) for f in sorted(place.rglob("*")) if f.is_file() and _is_data(f, place) and _is_table(f, endings)
        ]
        return beside + [inside for file in zips for inside in tables_inside(str(file), endings, scratch)]
    if not is_zip(place):
        return [path]
    members = with_unpacked([path], scratch)
    tables = [member for member in members if _is_table(Path(member), endings)]
    if not tables:
        names = ", ".join(Path(archive_name(member)).name for member in members)[:200]
        msg = f"{path}: holds no table ({names}). Known endings: {', '.join(endings)}, also .gz."
        raise InputError(msg)
    return tables


def _is_table(file: Path, endings: Collection[str]) -> bool:
    plain = file.with_suffix("") if file.suffix in PACKINGS else file
    return plain.suffix in endings


def _is_data(file: Path, folder: Path) -> bool:
    return not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
