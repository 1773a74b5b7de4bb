"""Track layout: positions in files that hold whole tracks, sorted, so that later jobs need neither shuffle nor sort.

File K holds the tracks whose hash is K modulo the number of files, sorted by track, time, offset, in one Parquet row
group. Spark never cuts a row group, so each file is read whole by one task, whatever the reader's settings are.
`_layout.json` beside the files says so.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute
import pyarrow.parquet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LAYOUT_FILE = "_layout.json"
SORT_COLUMNS = ("track", "time", "offset")
ROWS_PER_FILE = 2_000_000
"""About 100 MB of compressed Parquet with all canonical and derived columns."""
ROW_GROUP_BYTES = 1 << 30
"""More than a file of ROWS_PER_FILE needs: the writer must not start a second row group."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a folder of positions is laid out."""

    files: int
    rows: int
    tracks: int
    by: str = "track"
    hash: str = "pmod(hash(track), files)"
    sort: tuple[str, ...] = SORT_COLUMNS


def files_for(rows: int, parallelism: int, existing: int | None = None) -> int:
    """How many files `rows` positions go into; an existing number is kept while files stay within half and twice."""
    fitting = max(-(-rows // ROWS_PER_FILE), min(parallelism, max(1, rows // 50_000)))
    return existing if existing and fitting <= 2 * existing and existing <= 2 * fitting else fitting


def by_track(positions: "DataFrame", files: int) -> "DataFrame":
    """`positions` with whole tracks in each of `files` partitions; stages that follow may rely on it."""
    return positions.repartition(files, "track")


def write_layout(positions: "DataFrame", folder: Path, files: int) -> Layout:
    """Write `positions`, already `by_track`, sorted, one file for each partition, and say how they lie.

    Should a file have needed a second row group, nothing vouches for the layout, and later jobs shuffle.
    """
    ordered = positions.sortWithinPartitions(*SORT_COLUMNS)
    writer = ordered.write.mode("errorifexists").option("compression", "zstd")
    writer.option("parquet.block.size", ROW_GROUP_BYTES).parquet(str(folder))
    parts = sorted(folder.glob("*.parquet"))
    return record_layout(folder, files, sum(rows_in(part) for part in parts), sum(map(_tracks_in, parts)))


def record_layout(folder: Path, files: int, rows: int, tracks: int) -> Layout:
    """Say in `folder`, which holds whole tracks in each of its files, how they lie."""
    layout = Layout(files=files, rows=rows, tracks=tracks)
    if all(pyarrow.parquet.read_metadata(part).num_row_groups <= 1 for part in folder.glob("*.parquet")):
        (folder / LAYOUT_FILE).write_text(json.dumps(asdict(layout), indent=1) + "\n", encoding="utf-8")
    return layout


def rows_in(part: Path) -> int:
    """The rows of a Parquet file, as its footer counts them."""
    rows: int = pyarrow.parquet.read_metadata(part).num_rows
    return rows


def _tracks_in(part: Path) -> int:
    tracks = pyarrow.parquet.read_table(part, columns=["track"]).column("track")
    return int(pyarrow.compute.count_distinct(tracks).as_py())


def read_layout(folder: Path) -> Layout | None:
    """How `folder` is laid out, or None when nothing vouches for it."""
    try:
        values = json.loads((folder / LAYOUT_FILE).read_text(encoding="utf-8"))
        return Layout(**{**values, "sort": tuple(values["sort"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
