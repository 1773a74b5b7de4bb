"""How much of what patterns read is known at all: a pattern that reads a column of nulls finds nothing, in silence.

Where Spark reads, the rows are counted as they pass. Of files that workers read themselves the footers tell the nulls.
What they do not tell is NaN: most writers leave it out of the least and greatest value and count it as a value. Such
columns are looked at, up to a number of values beyond which a share of the row groups speaks for all.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from foresail.patterns.compiler import CompiledPattern
from foresail.pipeline.batch.parquet_source import ParquetSource
from foresail.pipeline.sources.parquet_files import FOOTER_THREADS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation
    from pyspark.sql import types as T  # noqa: N812

LITTLE = 0.5
"""Of an attribute that is known in a smaller share of events, that is said."""
EVENTS = "events"
MOST_LOOKED_AT = 4_000_000
"""Values of one attribute that are read for the sake of NaN: a tenth of a second."""
TELLS_NAN = "parquet-mr"
"""Java's writer, which is Spark's: it gives no least and greatest value where there is a NaN."""
Shares = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Watched:
    """Events that are counted as they pass, with the attributes whose known values are counted."""

    events: "DataFrame"
    attributes: tuple[str, ...]
    counts: "Observation | None" = None

    def shares(self) -> dict[str, float]:
        """In what share of events each is known, once they have passed."""
        counts = self.counts.get if self.counts else {}
        return _shares({name: counts[name] for name in self.attributes if name in counts}, counts.get(EVENTS, 0))


def attributes_read(patterns: Iterable[CompiledPattern], columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """For each pattern the columns of the events that its conditions read."""
    return {
        pattern.name: tuple(dict.fromkeys(a.key for a in pattern.attributes if a.key in columns))
        for pattern in patterns
    }


def watched(events: "DataFrame", attributes: Sequence[str]) -> Watched:
    """`events` to read in place of the given ones, which count what passes."""
    if not attributes:
        return Watched(events, ())
    from pyspark.sql import Observation  # noqa: PLC0415 - files are looked at without Spark
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    kinds = {field.name: field.dataType for field in events.schema.fields}
    counts = Observation()
    known = [_known(name, kinds[name]).alias(name) for name in attributes if name != EVENTS]
    return Watched(events.observe(counts, F.count(F.lit(1)).alias(EVENTS), *known), tuple(attributes), counts)


def _known(name: str, kind: "T.DataType") -> "Column":
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 - files are looked at without Spark
    from pyspark.sql import types as T  # noqa: N812, PLC0415

    column = F.col(f"`{name}`")
    there = column.isNotNull()
    return F.count_if(there & ~F.isnan(column) if isinstance(kind, T.FloatType | T.DoubleType) else there)


def shares_in_files(source: ParquetSource, attributes: Sequence[str]) -> dict[str, float]:
    """The same of files, told from their footers; nothing of attributes that these say nothing about."""
    step = max(1, -(-source.rows // MOST_LOOKED_AT))
    with ThreadPoolExecutor(FOOTER_THREADS) as threads:
        files = list(threads.map(lambda piece: _known_in(piece.path, attributes, step), source.pieces))
    counts = {name: [file.known[name] for file in files if file] for name in attributes}
    stated = {name: sum(n for n in some if n is not None) for name, some in counts.items() if None not in some}
    return _shares(stated, sum(file.rows for file in files if file))


@dataclass(frozen=True, slots=True)
class _File:
    rows: int
    known: dict[str, int | None]


def _known_in(path: str, attributes: Sequence[str], step: int) -> _File | None:
    """How many values of each attribute the file holds; None for a file that cannot be read."""
    try:
        with pq.ParquetFile(path) as file:
            places = {file.metadata.schema.column(n).path: n for n in range(file.metadata.num_columns)}
            known = {name: _values(file, name, places[name], step) if name in places else None for name in attributes}
            return _File(file.metadata.num_rows, known)
    except (OSError, pa.ArrowException):
        return None


def _values(file: pq.ParquetFile, name: str, place: int, step: int) -> int | None:
    """The values that are neither null nor NaN; of those that may be NaN every `step`-th row group is looked at."""
    tells_nan = (file.metadata.created_by or "").startswith(TELLS_NAN)
    known = 0
    doubtful: list[tuple[int, int]] = []
    for group in range(file.metadata.num_row_groups):
        stated = file.metadata.row_group(group).column(place).statistics
        if stated is None or not stated.has_null_count:
            return None
        if stated.physical_type not in ("FLOAT", "DOUBLE") or (tells_nan and stated.has_min_max):
            known += stated.num_values
        elif stated.num_values:
            doubtful.append((group, stated.num_values))
    looked_at = doubtful[::step]
    numbers = sum(_numbers_in(file, name, group) for group, _ in looked_at)
    share = numbers / max(1, sum(values for _, values in looked_at))
    count: int | None = known + round(share * sum(values for _, values in doubtful))
    return count


def _numbers_in(file: pq.ParquetFile, name: str, group: int) -> int:
    column = file.read_row_group(group, [name], use_threads=False).column(0)
    return int(pc.sum(pc.invert(pc.is_nan(column))).as_py() or 0)


def _shares(counts: Mapping[str, int], events: int) -> dict[str, float]:
    return {name: min(1.0, count / events) for name, count in counts.items()} if events else {}


def little_known(read: Mapping[str, Sequence[str]], shares: Shares) -> dict[str, dict[str, float]]:
    """Of each pattern that reads such: the attributes that are unknown in most events, and how often they are known."""
    found = {
        pattern: {name: round(shares[name], 4) for name in names if shares.get(name, 1.0) < LITTLE}
        for pattern, names in read.items()
    }
    return {pattern: some for pattern, some in found.items() if some}


def in_words(shares: Shares) -> str:
    """`read speed_kn, known in 0% of events`."""
    return "; ".join(f"read {name}, known in {_percent(share)} of events" for name, share in shares.items())


def _percent(share: float) -> str:
    return f"{share:.0%}" if share == 0 or share >= 0.01 else "less than 1%"
