"""Pieces of a text file as rows of cells: plain lines by a kernel, odd ones one at a time and exactly."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresail.pipeline.feeds import cell_kernels as kernels
from foresail.pipeline.feeds.cell_kernels import BLANK, HEADER, MISFIT, NO_TEXT, ODD_LINE, kernel
from foresail.pipeline.feeds.exact import cells_of, count_fields, decoded
from foresail.pipeline.feeds.texts import Longs, Mask, Texts
from foresail.pipeline.sources.feed import Feed
from foresail.pipeline.sources.text_rows import LONGEST_LINE_CHARACTERS, fields_of
from foresail.pipeline.stages.clean import REASONS

_CODES = {reason: code for code, reason in enumerate(REASONS)}
NO_FAULT = -1


@dataclass(frozen=True)
class SplitFile:
    """How the lines of one file are split: by which delimiter, into which fields, and which of these are wanted."""

    source: str
    header: str
    delimiter: str
    fields: tuple[str, ...]
    wanted: tuple[int, ...]
    """The places of the fields that are read."""
    rest: tuple[str, ...] = ()
    """The fields that pass through."""
    has_header: bool = True
    strange: bool = False
    """Whether it is no file of the feed, so that no line of it can be read."""
    _slots: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        for slot, place in enumerate(self.wanted):
            self._slots.setdefault(self.fields[place], slot)

    def slot(self, name: str) -> int | None:
        """Where the cells of a field are; None where the file has no such field."""
        return self._slots.get(name.lower())

    @cached_property
    def slots(self) -> Longs:
        """For each field its slot, or -1."""
        slots = np.full(len(self.fields), -1, np.int64)
        slots[list(self.wanted)] = np.arange(len(self.wanted))
        return slots


def split_file(feed: Feed, source: str, header: str, delimiter: str | None, has_header: bool) -> SplitFile:
    """How a file with this header is split; without a delimiter it is none of the feed."""
    if delimiter is None:
        return SplitFile(source, "", ",", (), (), has_header=False, strange=True)
    fields = (*fields_of(header, delimiter), *([""] if feed.trailing_delimiter else []))
    used = _used(feed, fields)
    rest = tuple(dict.fromkeys(name for name in fields if name and name not in used)) if feed.keep_rest else ()
    wanted = tuple(place for place, name in enumerate(fields) if name in used or name in rest)
    return SplitFile(source, header, delimiter, fields, wanted, rest, has_header)


def _used(feed: Feed, fields: tuple[str, ...]) -> set[str]:
    """The fields that the feed's columns read, found by asking it with no rows."""
    from foresail.pipeline.feeds import array_fields  # noqa: PLC0415 - which asks for texts, as this file does

    used: set[str] = set()

    class Asked:
        def __call__(self, *names: str) -> Texts:
            used.update([name.lower() for name in names if name.lower() in fields][:1])
            return Texts.none(0)

        def file_name(self) -> Texts:
            return Texts.none(0)

    assert feed.arrays is not None, "only feeds that can be read in batches come here"
    feed.arrays(Asked(), array_fields)
    return used


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Lines of a file, their cells, and what is wrong with some."""

    data: NDArray[np.uint8]
    starts: Longs
    ends: Longs
    numbers: Longs
    """Of each line in its file, from 1."""
    cell_starts: NDArray[np.int64]
    cell_ends: NDArray[np.int64]
    faults: NDArray[np.int8]
    recoded: Mask

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def raw(self) -> Texts:
        """The text of each line."""
        return Texts(self.data, self.starts, self.ends)


def split(data: NDArray[np.uint8], first_line: int, file: SplitFile) -> Lines:
    """The lines of `data`, which begins and ends with whole ones; a header on line 1 is no row."""
    room = int(kernel(kernels.count_line_ends)(data)) + 1
    starts, ends = np.empty(room, np.int64), np.empty(room, np.int64)
    count = kernel(kernels.find_lines)(data, starts, ends)
    skipped = 1 if first_line == 1 and file.has_header and count else 0
    starts, ends = starts[skipped:count].copy(), ends[skipped:count].copy()
    rows = len(starts)
    cell_starts = np.zeros((max(1, len(file.wanted)), rows), np.int64)
    cell_ends = np.full((max(1, len(file.wanted)), rows), NO_TEXT, np.int64)
    states = np.zeros(rows, np.uint8)
    if not file.strange:
        header = np.frombuffer(file.header.strip().encode() or b"\0", np.uint8)
        kernel(kernels.split_cells)(
            data,
            starts,
            ends,
            ord(file.delimiter),
            file.slots,
            header,
            not _is_utf8(data),
            LONGEST_LINE_CHARACTERS,
            cell_starts,
            cell_ends,
            states,
        )
    elif not _is_utf8(data):
        states[:] = ODD_LINE
    faults = np.full(rows, NO_FAULT, np.int8)
    for state, reason in ((BLANK, "blank_line"), (HEADER, "header_line"), (MISFIT, "wrong_columns")):
        faults[states == state] = _CODES[reason]
    numbers = first_line + skipped + np.arange(rows, dtype=np.int64)
    lines = Lines(data, starts, ends, numbers, cell_starts, cell_ends, faults, np.zeros(rows, np.bool_))
    odd = np.flatnonzero(states == ODD_LINE)
    lines = _read_exactly(lines, odd, file) if len(odd) else lines
    if file.strange:
        lines.faults[:] = _CODES["wrong_format"]
    return lines


def _is_utf8(data: NDArray[np.uint8]) -> bool:
    try:
        str(memoryview(data), "utf-8")  # type: ignore[arg-type]
    except UnicodeDecodeError:
        return False
    return True


def _read_exactly(lines: Lines, odd: NDArray[Any], file: SplitFile) -> Lines:
    """The lines with the odd ones read one by one; what they hold is kept behind the other bytes."""
    further: list[bytes] = []
    at = len(lines.data)

    def kept(text: str) -> tuple[int, int]:
        nonlocal at
        further.append(text.encode("utf-8", "replace"))
        at += len(further[-1])
        return at - len(further[-1]), at

    for row in odd:
        text, recoded = decoded(bytes(lines.data[lines.starts[row] : lines.ends[row]]))
        if recoded:
            lines.recoded[row] = True
            lines.starts[row], lines.ends[row] = kept(text)
        lines.cell_ends[:, row] = NO_TEXT
        if file.strange:
            continue
        if len(text) > LONGEST_LINE_CHARACTERS:
            lines.faults[row] = _CODES["line_too_long"]
            continue
        cells, misfit = count_fields(cells_of(text, file.delimiter), len(file.fields))
        if text.strip(" ") == file.header.strip():
            lines.faults[row] = _CODES["header_line"]
        elif misfit:
            lines.faults[row] = _CODES["wrong_columns"]
        for slot, place in enumerate(file.wanted):
            cell = cells[place]
            if cell is not None:
                lines.cell_starts[slot, row], lines.cell_ends[slot, row] = kept(cell)
    data = np.concatenate([lines.data, np.frombuffer(b"".join(further), np.uint8)])
    return Lines(
        data,
        lines.starts,
        lines.ends,
        lines.numbers,
        lines.cell_starts,
        lines.cell_ends,
        lines.faults,
        lines.recoded,
    )
