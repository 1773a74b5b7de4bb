"""What one long track costs each worker, whole and cut: processor seconds of every task, one after the other.

    .venv/bin/python -m bench.skew [--share 0.9] [--whole]

The workers of `partition` run in this process, without Spark, over the events that `bench.batch --part skew` has made
(`bench.batch --part skew --prepare`). Other work on the machine changes them less than seconds. The last line
tells how long the tasks take on two cores: the longest one, or half of all if that is more, and then the stitching.
"""

import argparse
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from bench.batch_data import CACHE
from bench.kernel import SIX, variant_entries
from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.conditions.text import attributes_of
from foresail.patterns.recognition.compilation import detection_kernel
from foresail.patterns.spec import without_features
from foresail.pipeline.batch.gathering import bucket_keys
from foresail.pipeline.batch.match_writer import Writing
from foresail.pipeline.batch.parquet_source import LAT, LON, ParquetSource, parquet_source
from foresail.pipeline.batch.skewed_tracks import long_tracks
from foresail.pipeline.batch.sliced import Speculate, Stitch
from foresail.pipeline.batch.workers import Receive, Search, Send

BUCKETS, CORES = 4, 2
Worker = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def six_patterns() -> tuple[CompiledPattern, ...]:
    return tuple(compile_pattern(without_features(entry.spec())) for entry in variant_entries(6, "maritime", SIX))


def source_of(share: float, plain: tuple[CompiledPattern, ...]) -> ParquetSource:
    """The events of which one track has this share, as workers read them."""
    folder = CACHE / (f"maritime-skewed-{share:g}-10M" if share else "maritime-10M") / "by-time"
    read = dict.fromkeys(a.key for pattern in plain for c in pattern.conditions for a in attributes_of(c))
    source = parquet_source([str(folder)], (*read, LON, LAT))
    assert isinstance(source, ParquetSource), "the events are plain Parquet"
    return source


def sent(send: Send) -> dict[int, list[pa.RecordBatch]]:
    """What each bucket receives."""
    rows = defaultdict(list)
    for task in range(len(send.tasks)):
        for batch in send([pa.RecordBatch.from_pydict({"id": [task]})]):
            for place, bucket in enumerate(batch.column("bucket").to_pylist()):
                rows[bucket].append(batch.slice(place, 1))
    return rows


def timed(worker: Worker, rows: list[pa.RecordBatch]) -> tuple[float, list[pa.RecordBatch]]:
    """Processor seconds of a task, and what it hands on."""
    began = time.process_time()
    out = [*worker(rows)]
    return time.process_time() - began, out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--share", type=float, default=0.9, help="part of all events that one track has: 0, 0.5 or 0.9")
    parser.add_argument("--whole", action="store_true", help="do not cut the track")
    options = parser.parse_args()
    plain, keys = six_patterns(), bucket_keys(BUCKETS)
    source, search = source_of(options.share, plain), Search(plain, places=True)
    slices = {} if options.whole else long_tracks(source, CORES)
    rows = sent(Send(tuple((piece,) for piece in source.pieces), search, keys, slices))
    detection_kernel()
    folder = Path(tempfile.mkdtemp(prefix="foresail-bench-"))
    seconds, handed_on, stitching = list[float](), list[pa.RecordBatch](), 0.0
    for key in keys:
        writing = Writing(Receive(search), str(folder / f"{key}"), places=True)
        took, out = timed(Speculate(search, writing) if slices else writing, rows.pop(key))
        seconds.append(took)
        handed_on += out
    if slices:
        stitching, _ = timed(Stitch(search, Writing(Receive(search), str(folder / "long"), places=True)), handed_on)
    shutil.rmtree(folder)
    print(f"{options.share:.0%} of events in one track, {'cut' if slices else 'whole'}")
    print("tasks:", *(f"{took:.2f} s" for took in seconds), f"; stitching: {stitching:.2f} s")
    print(f"on {CORES} cores: {max(*seconds, sum(seconds) / CORES) + stitching:.2f} s")


if __name__ == "__main__":
    main()
