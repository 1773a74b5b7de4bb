"""Tracks so long that one worker would be busy with them while the others wait, and times at which to cut them.

Told from samples of the files: a track that is missed makes the job slower, never wrong.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from foresail.pipeline.batch.parquet_source import TIME, TRACK, ParquetSource

LEAST_EVENTS = 4_000_000
"""Below so many events a track is not worth being cut: one worker is done with it in three seconds, and stitching is
one more Spark stage (docs/benchmarks.md)."""
LONG_SHARE = 0.5
"""A track is long when it has more than this part of what one worker has to do."""
SLICES_PER_WORKER = 2
SAMPLED_ROWS, SAMPLED_GROUPS = 20_000, 64

Slices = Mapping[str, tuple[int, ...]]
"""Per long track the times, in microseconds, at which a slice of it begins."""


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    table: pa.Table
    weight: float
    """For how many events a sampled one stands."""


def long_tracks(source: ParquetSource, buckets: int, least: int = LEAST_EVENTS) -> Slices:
    """The tracks that are cut so that all buckets share them."""
    enough = max(least, LONG_SHARE * source.rows / buckets)
    if buckets < 2 or source.rows < enough:
        return {}
    samples = [*_samples(source)]
    names = {name for sample in samples for name in _frequent(sample, enough)}
    found = {}
    for name in sorted(names):
        times, weights = _times_of(name, samples)
        if weights.sum() >= enough:
            found[name] = _cuts(times, weights, SLICES_PER_WORKER * buckets)
    return found


def _samples(source: ParquetSource) -> Iterator[_Sample]:
    """The largest file in full if files hold whole tracks, else the beginning of every row group."""
    if source.layout:
        largest = max(source.pieces, key=lambda piece: piece.rows)
        yield _Sample(pq.read_table(largest.path, columns=[TRACK, TIME], read_dictionary=[TRACK]), 1.0)
        return
    groups = [(piece.path, group) for piece in source.pieces for group in piece.row_groups]
    step = -(-len(groups) // SAMPLED_GROUPS)
    for path, group in groups[::step]:
        with pq.ParquetFile(path, read_dictionary=[TRACK]) as file:
            rows = file.metadata.row_group(group).num_rows
            batch = next(file.iter_batches(SAMPLED_ROWS, [group], [TRACK, TIME], use_threads=False), None)
            if batch is not None:
                yield _Sample(pa.Table.from_batches([batch]), step * rows / batch.num_rows)


def _frequent(sample: _Sample, enough: float) -> list[str]:
    counts = pc.value_counts(sample.table[TRACK].cast(pa.string()))
    # a track that is long on the whole is long in some sample by at least its share
    least = enough / SAMPLED_GROUPS / sample.weight
    return [count["values"].as_py() for count in counts if count["counts"].as_py() >= least]


def _times_of(name: str, samples: list[_Sample]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    times, weights = [np.empty(0, np.int64)], [np.empty(0)]
    for sample in samples:
        mine = sample.table[TIME].filter(pc.equal(sample.table[TRACK].cast(pa.string()), name))
        micros = mine.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()).to_numpy()
        times.append(micros)
        weights.append(np.full(len(micros), sample.weight))
    return np.concatenate(times), np.concatenate(weights)


def _cuts(times: NDArray[np.int64], weights: NDArray[np.float64], slices: int) -> tuple[int, ...]:
    """Times that cut the events into slices of about the same number."""
    order = np.argsort(times, kind="stable")
    reached = np.cumsum(weights[order])
    wanted = reached[-1] * np.arange(1, slices) / slices
    return tuple(sorted({int(times[order][place]) for place in np.searchsorted(reached, wanted)}))
