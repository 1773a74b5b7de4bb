"""Whole tracks of symbols from the rows that cross into Python: what counting reads, for patterns and families."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from models.counts import Counts, count, count_family
from models.symbols import SymbolTable
from patterns.compiler import CompiledPattern
from patterns.conditions.syntax import Condition
from pipeline.stages.recognition_line import EventRows, FamilyRows


def whole_tracks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows, cut so that no track is in two batches; the last track of a batch waits for its rest."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        cut = _last_track_begins(batch)
        if cut or (held and held[-1].column("track")[-1] != batch.column("track")[0]):
            yield pa.concat_batches([*held, batch.slice(0, cut)])
            held = []
        held.append(batch.slice(cut))
    if held:
        yield pa.concat_batches(held)


def _last_track_begins(batch: pa.RecordBatch) -> int:
    track = batch.column("track")
    others = pc.not_equal(track, track[-1]).to_numpy(zero_copy_only=False)
    return int(np.flatnonzero(others)[-1]) + 1 if others.any() else 0


class PatternCounter:
    """Counts one pattern over batches of whole tracks."""

    def __init__(self, pattern: CompiledPattern, conditions: Sequence[Condition], max_order: int) -> None:
        self.pattern = pattern
        self._table = SymbolTable(pattern, conditions)
        self._max_order = max_order

    def count(self, rows: EventRows) -> Counts:
        """The counts of these tracks, for a plain pattern."""
        symbols = self._table.symbols(rows.words)
        return count(symbols, rows.times, rows.first_of, self.pattern, self._max_order)

    def count_family(self, rows: EventRows, own: FamilyRows) -> Counts:
        """The counts of these tracks, for a family: over the stretches near a feature."""
        return count_family(
            self._table.symbols(own.words),
            rows.times,
            rows.first_of,
            own.near.at,
            own.near.feature,
            self._table.symbols(own.near.words),
            self.pattern,
            self._max_order,
        )
