"""Columns of text as places among bytes: nothing is copied until someone asks, and values are looked at once each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.pipeline.feeds import cell_kernels as cells
from foresail.pipeline.feeds.cell_kernels import KNOWN, NO_TEXT, ODD, kernel
from foresail.pipeline.feeds.exact import instant_of, number_of
from foresail.pipeline.stages.array_functions import Nullable

Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Texts from `starts` to `ends` of `data`; where an end is NO_TEXT there is none."""

    data: Bytes
    starts: Longs
    ends: Longs

    @classmethod
    def of(cls, values: Sequence[str | None], codes: Longs | None = None) -> "Texts":
        """These texts, or those that `codes` name among them."""
        array = pa.array(values, pa.string())
        data, starts, ends = _places(array)
        return cls(data, starts, ends) if codes is None else cls(data, starts[codes], ends[codes])

    @classmethod
    def none(cls, rows: int) -> "Texts":
        """No text in any row."""
        return cls(np.zeros(1, np.uint8), np.zeros(rows, np.int64), np.full(rows, NO_TEXT, np.int64))

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def known(self) -> Mask:
        """Where there is a text."""
        known: Mask = self.ends >= 0
        return known

    def take(self, rows: Any) -> "Texts":
        """These rows alone."""
        return Texts(self.data, self.starts[rows], self.ends[rows])

    def text(self, row: int) -> str:
        """The text of one row that has one."""
        return bytes(self.data[self.starts[row] : self.ends[row]]).decode("utf-8", "replace")

    def array(self) -> pa.StringArray:
        """The texts as an array of Arrow's."""
        known = self.known
        cuts = np.zeros(len(self) + 1, np.int64)
        np.cumsum(np.where(known, self.ends - self.starts, 0), out=cuts[1:])
        out = np.empty(int(cuts[-1]), np.uint8)
        kernel(cells.gather_texts)(self.data, self.starts, cuts, out)
        bits = None if known.all() else pa.py_buffer(np.packbits(known, bitorder="little"))
        offsets = pa.py_buffer(cuts.astype(np.int32))
        return pa.StringArray.from_buffers(len(self), offsets, pa.py_buffer(out), bits)

    def encoded(self) -> tuple[Longs, list[str | None]]:
        """For each row which value it has, and the values."""
        coded = self.array().dictionary_encode()
        values = [*coded.dictionary.to_pylist(), None]
        codes = coded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False).astype(np.int64)
        return codes, values

    def mapped(self, function: Callable[[str], str | None]) -> "Texts":
        """Each text as the function has it, which is asked once for each value."""
        codes, values = self.encoded()
        return Texts.of([None if value is None else function(value) for value in values], codes)

    def looked_up(self, function: Callable[[str], Any], kind: Any) -> Nullable:
        """What the function has for each text, as numbers of a kind; it is asked once for each value."""
        codes, values = self.encoded()
        found = [None if value is None else function(value) for value in values]
        return Nullable(
            np.array([0 if value is None else value for value in found], kind)[codes],
            np.array([value is not None for value in found])[codes],
        )

    def stripped(self, signs: str) -> "Texts":
        """Without these ASCII signs at both ends; what is left empty is none."""
        table = np.zeros(256, np.bool_)
        table[np.frombuffer(signs.encode(), np.uint8)] = True
        starts, ends = self.starts.copy(), self.ends.copy()
        kernel(cells.strip_texts)(self.data, starts, ends, table)
        return Texts(self.data, starts, ends)

    def numbers(self, exact: bool = True) -> Nullable:
        """The numbers that the texts spell; without `exact` only those that are plainly written."""
        values, states = np.empty(len(self), np.float64), np.empty(len(self), np.uint8)
        kernel(cells.numbers)(self.data, self.starts, self.ends, values, states)
        known = states == KNOWN
        for row in np.flatnonzero(states == ODD) if exact else ():
            value = number_of(self.text(int(row)))
            if value is not None:
                values[row], known[row] = value, True
        return Nullable(values, known)

    def instants(self, shortest: int, exact: bool = True) -> tuple[Nullable, Mask]:
        """The instants that ISO texts name, those without a zone in UTC, and which of them name one."""
        rows = len(self)
        values, zoned, states = np.empty(rows, np.int64), np.empty(rows, np.bool_), np.empty(rows, np.uint8)
        kernel(cells.iso_instants)(self.data, self.starts, self.ends, values, zoned, states)
        known = states == KNOWN
        for row in np.flatnonzero(states == ODD) if exact else ():
            text = self.text(int(row))
            found = instant_of(text) if len(text) >= shortest else None
            if found is not None:
                values[row], zoned[row], known[row] = *found, True
        return Nullable(values, known), zoned

    def formed_instants(self, form: Longs, length: int) -> Nullable:
        """The instants of texts that all have one form, in UTC."""
        values, states = np.empty(len(self), np.int64), np.empty(len(self), np.uint8)
        kernel(cells.formed_instants)(self.data, self.starts, self.ends, form, length, values, states)
        return Nullable(values, states == KNOWN)


def _places(array: pa.StringArray) -> tuple[Bytes, Longs, Longs]:
    _, offsets, data = array.buffers()
    cuts = np.frombuffer(offsets, np.int32)[: len(array) + 1].astype(np.int64)
    known = array.is_valid().to_numpy(zero_copy_only=False)
    held = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    return held, cuts[:-1].copy(), np.where(known, cuts[1:], NO_TEXT)
