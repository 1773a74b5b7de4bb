"""NMEA lines in whole batches: kernels decode the plain and dated ones, the decoder of single lines all others.

What the decoder of single lines remembers (the clock, parts without their others) is what it would remember had it read
every line: the clock of the last message before a line is handed to it, and a pair of lines goes to it where parts with
the same number are waiting.
"""

import math
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.pipeline.feeds import aivdm_kernels as kernels
from foresail.pipeline.feeds.aivdm_kernels import FIRST, NONE, OPEN, SECOND, TEXTS, WHOLE, kernel
from foresail.pipeline.sources.nmea import DECODED_SCHEMA, as_batch, parse_sentence
from foresail.pipeline.sources.nmea_decoder import (
    MOST_PENDING_GROUPS,
    POSITION_TYPES,
    STATION_TYPES,
    Decoded,
    Decoder,
    Line,
)

Longs = NDArray[np.int64]
_REALS = ("lon", "lat", "speed_kn", "course_deg", "heading_deg", "turn_rate", "length_m", "draught_m")
_TURN_STEPS = 4.733


@cache
def _turns() -> NDArray[np.float64]:
    """Degrees a minute for each byte of a rate of turn; values that are none as they were sent."""
    sent = [byte - 256 if byte > 127 else byte for byte in range(256)]
    kept = (0, 127, -127, -128)
    return np.array([t if t in kept else math.copysign(round((t / _TURN_STEPS) ** 2), t) for t in sent], np.float64)


@cache
def _ship_types() -> Longs:
    """The ship type for each byte: reserved ones count as the first of their kind."""
    from pyais.constants import ShipType  # noqa: PLC0415 - only where lines are decoded

    return np.array([int(ShipType(byte)) for byte in range(256)], np.int64)


class BatchDecoder:
    """Decodes the lines of one file, a batch at a time, in their order."""

    def __init__(self, starts_us: int | None = None) -> None:
        self._decoder = Decoder(starts_us)

    def advance(self, lines: pa.RecordBatch) -> list[pa.RecordBatch]:
        """What is known once these lines (source, line, raw, recoded) have been read."""
        found = _Found(lines.column("raw"))
        singly = self._read_singly(lines, found)
        made = [found.batch(lines)] if (found.states != OPEN).any() else []
        return [*made, as_batch(singly)] if singly else made

    def finish(self) -> pa.RecordBatch:
        """The parts that were never completed."""
        return as_batch(self._decoder.finish())

    def _read_singly(self, lines: pa.RecordBatch, found: "_Found") -> list[Decoded]:
        settled: list[Decoded] = []
        last, reached = found.last_dated(), NONE
        for row in np.flatnonzero((found.states == OPEN) | (found.states == FIRST)).tolist():
            if found.states[row] == FIRST and not self._in_the_way(lines.column("raw")[row].as_py()):
                continue
            self._take_over(found, last[row], reached)
            pair = (row, row + 1) if found.states[row] == FIRST else (row,)
            for number in pair:
                found.states[number] = OPEN
                settled += self._decoder.advance(_line(lines, number))
            reached = pair[-1]
        if len(found.states):
            self._take_over(found, last[-1], reached)
        return settled

    def _take_over(self, found: "_Found", row: int, reached: int) -> None:
        """Set the clock by the last message that kernels decoded, if the decoder has heard nothing since."""
        if row > reached:
            self._decoder.set_clock(int(found.whole[row, kernels.TIME]))

    def _in_the_way(self, raw: str) -> bool:
        """Whether parts that wait could be joined or dropped by the two lines of a message."""
        waiting = self._decoder.waiting
        if not waiting:
            return False
        sentence = parse_sentence(raw)
        return sentence is None or sentence.group in waiting or len(waiting) >= MOST_PENDING_GROUPS


def _line(lines: pa.RecordBatch, row: int) -> Line:
    return Line(*(lines.column(name)[row].as_py() for name in ("source", "line", "raw", "recoded")))


class _Found:
    """What the kernel found in the lines of a batch."""

    def __init__(self, raw: pa.StringArray) -> None:
        rows = len(raw)
        _, offsets, data = raw.buffers()
        cuts = np.frombuffer(offsets, np.int32)[raw.offset : raw.offset + rows + 1].astype(np.int64)
        text = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
        self.states = np.full(rows, OPEN, np.uint8)
        self.whole = np.full((rows, 6), NONE, np.int64)
        self._real = np.full((rows, len(_REALS)), np.nan)
        self._texts = np.zeros((rows, TEXTS[-1][1]), np.uint8)
        self._spans = np.full((rows, 2 * len(TEXTS)), NONE, np.int64)
        kernel(kernels.decode)(
            text, cuts[:-1].copy(), cuts[1:].copy(), _turns(), _ship_types(), *kernels.scratch_arrays(),
            self.states, self.whole, self._real, self._texts, self._spans,
        )  # fmt: skip

    def last_dated(self) -> list[int]:
        """Of each line the last one up to it that has a message of the kernel's."""
        dated = (self.states == WHOLE) | (self.states == SECOND)
        last: list[int] = np.maximum.accumulate(np.where(dated, np.arange(len(dated)), NONE)).tolist()
        return last

    def batch(self, lines: pa.RecordBatch) -> pa.RecordBatch:
        """The lines that the kernel decoded, as the decoder of single lines would have told them."""
        rows = np.flatnonzero(self.states != OPEN)
        states, whole, real = self.states[rows], self.whole[rows], self._real[rows]
        part = states == FIRST
        kind = np.where(part, whole[np.minimum(np.arange(1, len(rows) + 1), len(rows) - 1), kernels.KIND], 0)
        told = np.where(part, kind, whole[:, kernels.KIND])
        position = np.isin(told, POSITION_TYPES)
        dated = position & ~part
        columns: dict[str, Any] = {
            "fault": _words(np.where(position, np.where(part, 1, NONE), 0), ["not_a_position", "message_part"]),
            "station": _words(np.where(dated & (told == 9), 0, NONE), [STATION_TYPES[9]]),
            "message_type": _known(told.astype(np.int32), ~part),
            "mmsi": _known(whole[:, kernels.MMSI], ~part),
            "time_us": _known(whole[:, kernels.TIME], dated),
            "from_clock": pa.array(np.zeros(len(rows), np.bool_)),
            "from_file": pa.array(np.zeros(len(rows), np.bool_)),
        }
        for name, place in (("nav_status", kernels.STATUS), ("ship_type", kernels.SHIP_TYPE), ("imo", kernels.IMO)):
            kind_of = np.int64 if name == "imo" else np.int32
            columns[name] = _known(whole[:, place].astype(kind_of), ~part & (whole[:, place] != NONE))
        for place, name in enumerate(_REALS):
            columns[name] = _known(real[:, place], ~part & ~np.isnan(real[:, place]))
        for place, name in enumerate(("name", "call_sign", "destination")):
            columns[name] = self._column(rows, part, place)
        here = lines.take(pa.array(rows))
        columns |= {name: here.column(name) for name in ("source", "line", "raw", "recoded")}
        return pa.RecordBatch.from_arrays([columns[name] for name in DECODED_SCHEMA.names], schema=DECODED_SCHEMA)

    def _column(self, rows: Longs, part: NDArray[np.bool_], text: int) -> pa.Array:
        low, high = self._spans[rows, 2 * text], self._spans[rows, 2 * text + 1]
        known = (low != NONE) & ~part
        some = np.flatnonzero(known)
        texts = [
            bytes(self._texts[row, begin:end]).decode("ascii")
            for row, begin, end in zip(rows[some].tolist(), low[some].tolist(), high[some].tolist(), strict=True)
        ]
        places = np.cumsum(known) - 1
        return pa.array(texts, pa.string()).take(pa.array(places, mask=~known))


def _known(values: NDArray[Any], known: NDArray[np.bool_]) -> pa.Array:
    return pa.array(values, mask=~known)


def _words(codes: Longs, words: list[str]) -> pa.Array:
    return pa.array(words, pa.string()).take(pa.array(codes, mask=codes == NONE))
