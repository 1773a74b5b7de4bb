"""How much of what patterns read is known at all: a pattern that reads a column of nulls finds nothing, in silence.

Nothing is read twice for it. Of files that workers read themselves the footers tell the nulls; where Spark reads, the
rows are counted as they pass.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.inspection import attributes_of
from foresail.pipeline.batch.parquet_source import ParquetSource
from foresail.pipeline.sources.parquet_files import FOOTER_THREADS

LITTLE = 0.5
"""Of an attribute that is known in a smaller share of events, that is said."""
EVENTS = "events"
Shares = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Watched:
    """Events that are counted as they pass, with the attributes whose known values are counted."""

    events: DataFrame
    attributes: tuple[str, ...]
    counts: Observation | None = None

    def shares(self) -> dict[str, float]:
        """In what share of events each is known, once they have passed."""
        counts = self.counts.get if self.counts else {}
        return _shares({name: counts[name] for name in self.attributes if name in counts}, counts.get(EVENTS, 0))


def attributes_read(patterns: Iterable[CompiledPattern], columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """For each pattern the columns of the events that its conditions read."""
    return {
        pattern.name: tuple(
            dict.fromkeys(a.key for c in pattern.conditions for a in attributes_of(c) if a.key in columns)
        )
        for pattern in patterns
    }


def watched(events: DataFrame, attributes: Sequence[str]) -> Watched:
    """`events` to read in place of the given ones, which count what passes."""
    if not attributes:
        return Watched(events, ())
    kinds = {field.name: field.dataType for field in events.schema.fields}
    counts = Observation()
    known = [_known(name, kinds[name]).alias(name) for name in attributes if name != EVENTS]
    return Watched(events.observe(counts, F.count(F.lit(1)).alias(EVENTS), *known), tuple(attributes), counts)


def _known(name: str, kind: T.DataType) -> Column:
    column = F.col(f"`{name}`")
    there = column.isNotNull()
    return F.count_if(there & ~F.isnan(column) if isinstance(kind, T.FloatType | T.DoubleType) else there)


def shares_in_files(source: ParquetSource, attributes: Sequence[str]) -> dict[str, float]:
    """The same of files, told from their footers; nothing of attributes that these say nothing about."""
    with ThreadPoolExecutor(FOOTER_THREADS) as threads:
        files = list(threads.map(lambda piece: _known_in(piece.path, attributes), source.pieces))
    counts = {name: [file.known[name] for file in files if file] for name in attributes}
    told = {name: sum(n for n in some if n is not None) for name, some in counts.items() if None not in some}
    return _shares(told, sum(file.rows for file in files if file))


@dataclass(frozen=True, slots=True)
class _File:
    rows: int
    known: dict[str, int | None]


def _known_in(path: str, attributes: Sequence[str]) -> _File | None:
    """How many values of each attribute the file holds; None for a file that cannot be read."""
    try:
        with pq.ParquetFile(path) as file:
            places = {file.metadata.schema.column(n).path: n for n in range(file.metadata.num_columns)}
            known = {name: _values(file, name, places[name]) if name in places else None for name in attributes}
            return _File(file.metadata.num_rows, known)
    except (OSError, pa.ArrowException):
        return None


def _values(file: pq.ParquetFile, name: str, place: int) -> int | None:
    known = 0
    for group in range(file.metadata.num_row_groups):
        told = file.metadata.row_group(group).column(place).statistics
        if told is None or not told.has_null_count:
            return None
        if told.num_values and not told.has_min_max and told.physical_type in ("FLOAT", "DOUBLE"):
            # numbers without a least one: some or all of them are NaN
            column = file.read_row_group(group, [name], use_threads=False).column(0)
            known += int(pc.sum(pc.invert(pc.is_nan(column))).as_py() or 0)
        else:
            known += told.num_values
    return known


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
