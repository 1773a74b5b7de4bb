"""The columns of local Parquet files as Spark would tell them, from footers that Python reads in a millisecond.

Spark reads them in a job of its own. Where it takes Spark to tell (nested types, folders that are columns, files that
differ), nothing is told.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import types as T  # noqa: N812

from foresail.pipeline.sources.parquet_files import FOOTER_THREADS, parquet_files

PLAIN: dict[pa.DataType, T.DataType] = {
    pa.string(): T.StringType(),
    pa.large_string(): T.StringType(),
    pa.bool_(): T.BooleanType(),
    pa.int8(): T.ByteType(),
    pa.int16(): T.ShortType(),
    pa.int32(): T.IntegerType(),
    pa.int64(): T.LongType(),
    pa.float32(): T.FloatType(),
    pa.float64(): T.DoubleType(),
    pa.date32(): T.DateType(),
}
PRECISE = ("ms", "us")
"""Units of timestamps that Spark reads."""


def parquet_schema(paths: Sequence[str]) -> T.StructType | None:
    """The columns of these files and folders; None where it takes Spark to tell."""
    if any("://" in path for path in paths):
        return None
    files = [file for path in paths for file in parquet_files(Path(path))]
    folders = [Path(path) for path in paths if Path(path).is_dir()]
    if not files or any(_may_hold_more(folder, files) for folder in folders) or any("=" in str(f) for f in files):
        return None
    try:
        with ThreadPoolExecutor(FOOTER_THREADS) as threads:
            schemas = list(threads.map(_schema, files))
    except (OSError, pa.ArrowException):
        return None
    first = schemas[0]
    names = {field.name.lower() for field in first}
    kinds = [_kind(field.type) for field in first]
    if any(schema != first for schema in schemas) or len(names) < len(first) or None in kinds:
        return None
    return T.StructType([T.StructField(f.name, kind) for f, kind in zip(first, kinds, strict=True) if kind is not None])


def _schema(file: Path) -> pa.Schema:
    """The columns as the file has them, not as Arrow remembers to have written them."""
    metadata = pq.read_metadata(file)
    if any(metadata.schema.column(n).physical_type == "INT96" for n in range(metadata.num_columns)):
        msg = f"{file}: has times of an old kind"
        raise pa.ArrowInvalid(msg)
    return metadata.schema.to_arrow_schema().remove_metadata()


def _may_hold_more(folder: Path, files: Sequence[Path]) -> bool:
    """Whether Spark would read files that do not end in `.parquet` too."""
    known = set(files)
    return any(
        file.is_file()
        and file not in known
        and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
        for file in folder.rglob("*")
    )


def _kind(kind: pa.DataType) -> T.DataType | None:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_timestamp(kind):
        return T.TimestampType() if kind.tz is not None and kind.unit in PRECISE else None
    return PLAIN.get(kind)
