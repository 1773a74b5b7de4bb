"""Workers for long tracks: every slice is run at once as if it came first, then one worker stitches them in order."""

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from patterns.recognition.recogniser import Batch, Recogniser, RecogniserState
from patterns.recognition.stitching import Speculation, speculate, stitch
from pipeline.stages.match_table import match_batch
from pipeline.stages.match_writer import WRITTEN, Writing
from pipeline.stages.recognition_line import EventRows, places_of_matches
from pipeline.stages.schemes.gathering import NO_SLICE, put_together, word_count
from pipeline.stages.schemes.workers import Receive, Search
from pipeline.stages.tally import EVENTS, Tally, counts_of

SPECULATED_DDL = "track string, slice int, content binary"
SPECULATED = pa.schema([("track", pa.string()), ("slice", pa.int32()), ("content", pa.binary())])


@dataclass(frozen=True, slots=True)
class Speculate:
    """Recognises in the whole tracks of a bucket, whose matches it writes, and runs its slices of long tracks."""

    search: Search
    writing: Writing
    """Where the matches of whole tracks go; its worker is replaced by one for these."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A row for each slice, and one for what was counted and written."""
        rows = [batch for batch in batches if batch.num_rows]
        sliced = [batch.column("slice").to_numpy() != NO_SLICE for batch in rows]
        whole = [batch.filter(pa.array(~mine)) for batch, mine in zip(rows, sliced, strict=True)]
        counts: Counter[tuple[str, str]] = Counter()
        receive = Receive(self.search, counts=counts)
        written = [*self.writing.with_worker(receive)(batch for batch in whole if batch.num_rows)]
        yield _row(None, NO_SLICE, (counts, [batch.to_pylist() for batch in written]))
        parts = [batch.filter(pa.array(mine)) for batch, mine in zip(rows, sliced, strict=True) if mine.any()]
        if parts:
            yield from self._slices(pa.Table.from_batches(parts))

    def _slices(self, parts: pa.Table) -> Iterator[pa.RecordBatch]:
        recogniser = self.search.recogniser()
        names = parts["tracks"].combine_chunks().flatten().to_pylist()  # a row of a slice is of one track
        keys = [*zip(names, parts["slice"].to_pylist(), strict=True)]
        for track, number in sorted(set(keys)):
            mine = parts.filter(pa.array([key == (track, number) for key in keys]))
            (rows,) = put_together(mine.to_batches(), word_count(self.search.plain), [], most=len_of(mine))
            batch = Batch(rows.words, rows.times, rows.first_of)
            yield _row(track, number, (rows, speculate(recogniser, batch)))


@dataclass(frozen=True, slots=True)
class Stitch:
    """Puts the slices of long tracks together and writes what they show; tells what all workers have counted."""

    search: Search
    writing: Writing
    tally: Tally | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The files that were written, by this worker and by those before it."""
        counts: Counter[tuple[str, str]] = Counter()
        slices: dict[tuple[str, int], bytes] = {}
        for batch in batches:
            for row in batch.to_pylist():
                if row["track"] is None:
                    counted, written = pickle.loads(row["content"])
                    counts.update(counted)
                    for part in written:
                        yield pa.RecordBatch.from_pylist(part, schema=WRITTEN)
                else:
                    slices[row["track"], row["slice"]] = row["content"]
        yield from self.writing.with_worker(lambda _: self._stitched(slices, counts))([])
        if self.tally is not None:
            events = (
                counts if self.search.counts_events else Counter({k: n for k, n in counts.items() if k[0] != EVENTS})
            )
            self.tally.add(events)

    def _stitched(
        self, slices: dict[tuple[str, int], bytes], counts: Counter[tuple[str, str]]
    ) -> Iterator[pa.RecordBatch]:
        recogniser = self.search.recogniser()
        last, state, before = None, recogniser.fresh(1), None
        for track, number in sorted(slices):
            if track != last:
                last, state, before = track, recogniser.fresh(1), None
            rows, speculation = pickle.loads(slices.pop((track, number)))
            found, state = self._one(recogniser, rows, speculation, state, counts, before)
            before = rows
            yield from found

    def _one(
        self,
        recogniser: Recogniser,
        rows: EventRows,
        speculation: Speculation,
        state: RecogniserState,
        counts: Counter[tuple[str, str]],
        before: EventRows | None,
    ) -> tuple[list[pa.RecordBatch], RecogniserState]:
        batch = Batch(rows.words, rows.times, rows.first_of)
        matches, after, _ = stitch(recogniser, batch, state, speculation)
        counts[EVENTS, ""] += len(rows.times)
        counts.update(counts_of(matches, recogniser.patterns))
        if not len(matches):
            return [], after
        place = before.places.at(np.array([len(before.times) - 1])) if before and before.places else None
        places = places_of_matches(matches, rows.places, place)
        slot = np.zeros(len(matches), dtype=np.int64)
        return [match_batch(matches, recogniser.patterns, rows.tracks, slot, (), places)], after


def _row(track: str | None, number: int, content: object) -> pa.RecordBatch:
    row = {"track": track, "slice": number, "content": pickle.dumps(content, protocol=5)}
    return pa.RecordBatch.from_pylist([row], schema=SPECULATED)


def len_of(parts: pa.Table) -> int:
    """How many events the rows hold."""
    return int(parts["sizes"].combine_chunks().flatten().to_numpy().sum())
