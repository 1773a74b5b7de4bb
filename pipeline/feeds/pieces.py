"""Files cut into pieces that workers read side by side: ranges of bytes of plain files, packed ones whole.

A piece has whole lines: it begins after the first line end at or after its first byte, and runs on to the end of the
line that its last byte is in.
"""

import bz2
import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from foresail.pipeline.sources.lines import LONGEST_BYTES, raise_endless
from foresail.pipeline.sources.storage import LONGEST_HEADER_BYTES

PIECE_BYTES = 32 << 20
BATCH_BYTES = 8 << 20
"""Judged at once: a few hundred bytes of arrays for each hundred bytes of text."""
PACKED = {".gz": "gzip", ".bz2": "bzip2"}
_LF, _CR = b"\n", b"\r"


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of a file, from one on and up to another; lines are counted from `first_line`."""

    number: int
    path: str
    file: int
    """Which of the files it is of."""
    begin: int = 0
    end: int | None = None
    """None: up to the end, and of a packed file always."""
    packing: str = ""

    @property
    def first_line(self) -> int:
        """The number of its first line, as long as nothing is known of the pieces before: as if one line were."""
        return 1 if self.begin == 0 else 2

    def lines_before(self, counted: int) -> int:
        """What to add to its numbers of lines when so many lines come before it in the file."""
        return 0 if self.begin == 0 else counted - 1


def packing_of(path: str) -> str | None:
    """How a file is packed, by its ending; None where only Spark can unpack it."""
    ending = Path(path).suffix.lower()
    return None if ending in (".deflate", ".lz4", ".snappy", ".zst", ".zstd", ".xz") else PACKED.get(ending, "")


def start_of(path: str) -> str:
    """The first line of a file without a byte order mark, at most 64 KB of it; empty where nothing can be read."""
    try:
        with _opened(Piece(0, path, 0, packing=packing_of(path) or "")) as stream:
            begin = stream.read(LONGEST_HEADER_BYTES)
    except (EOFError, OSError, zlib.error):
        return ""
    line = re.split(b"[\r\n]", begin, maxsplit=1)[0]
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def pieces_of(paths: list[str], piece_bytes: int = PIECE_BYTES) -> list[Piece]:
    """All files in pieces."""
    pieces: list[Piece] = []
    for file, path in enumerate(paths):
        packing = packing_of(path) or ""
        size = Path(path).stat().st_size
        cuts = range(0, max(size, 1), piece_bytes) if not packing else [0]
        for begin in cuts:
            end = None if packing or begin + piece_bytes >= size else begin + piece_bytes
            pieces.append(Piece(len(pieces), path, file, begin, end, packing))
    return pieces


def batches_of(piece: Piece, batch_bytes: int = BATCH_BYTES) -> Iterator[NDArray[np.uint8] | Literal[True]]:
    """The bytes of a piece in batches of whole lines; True where the file turns out to end in the middle."""
    with _opened(piece) as stream:
        held = bytearray()
        at = piece.begin
        skipping = piece.begin > 0
        if skipping:
            stream.seek(piece.begin - 1)  # a line that begins at `begin` is ours: its predecessor ends just before
            at = piece.begin - 1
        while True:
            some, damaged = _packed_bytes(stream, batch_bytes) if piece.packing else (stream.read(batch_bytes), False)
            if at == 0 and some.startswith(codecs.BOM_UTF8):
                held += some[len(codecs.BOM_UTF8) :]
            else:
                held += some
            at += len(some)
            if damaged:
                yield from _whole_lines(held)
                yield True
                return
            if skipping and held:
                start = _first_line_end(held, not some)
                if start is None:
                    if not some:
                        return
                    continue
                del held[:start]
                skipping = False
            done = _stop(piece, at, len(held), held)
            if done is not None:
                if done:
                    yield np.frombuffer(bytes(held[:done]), np.uint8)
                return
            if not some:
                if held:
                    yield np.frombuffer(bytes(held), np.uint8)
                return
            cut = _last_line_end(held)
            if cut:
                yield np.frombuffer(bytes(held[:cut]), np.uint8)
                del held[:cut]
            if len(held) >= 2 * LONGEST_BYTES:
                raise_endless(piece.path, at - len(held))


def _opened(piece: Piece) -> Any:
    if piece.packing == "gzip":
        return gzip.open(piece.path)
    return bz2.open(piece.path) if piece.packing == "bzip2" else Path(piece.path).open("rb", buffering=0)


def _packed_bytes(stream: Any, size: int) -> tuple[bytes, bool]:
    """The next bytes of a packed file, and whether it breaks off after them; in small steps, so that none are lost."""
    parts: list[bytes] = []
    held = 0
    while held < size:
        try:
            some: bytes = stream.read1(size - held)
        except (EOFError, OSError, zlib.error):
            return b"".join(parts), True
        if not some:
            break
        parts.append(some)
        held += len(some)
    return b"".join(parts), False


def _stop(piece: Piece, at: int, held: int, data: bytearray) -> int | None:
    """How much of what is held belongs to the piece, once the end of its last line is read; None until then."""
    if piece.end is None or at <= piece.end:
        return None
    last = piece.end - (at - held) - 1  # the last byte of the piece: its line is ours to the end
    if last < 0:
        return 0
    ends = [place for place in (data.find(_LF, last), data.find(_CR, last)) if place >= 0]
    if not ends:
        return None
    first = min(ends)
    if data[first : first + 1] == _CR:
        if first + 1 == held:
            return None
        return first + 2 if data[first + 1 : first + 2] == _LF else first + 1
    return first + 1


def _first_line_end(held: bytearray, last: bool) -> int | None:
    """Where the first line that begins here does, after the end of the one before."""
    ends = [place for place in (held.find(_LF), held.find(_CR)) if place >= 0]
    if not ends:
        return None
    first = min(ends)
    if held[first : first + 1] == _CR:
        if first + 1 == len(held) and not last:
            return None
        return first + 2 if held[first + 1 : first + 2] == _LF else first + 1
    return first + 1


def _last_line_end(held: bytearray) -> int:
    """Up to where lines are whole; a CR at the very end may be half of a line end."""
    cut = held.rfind(_LF) + 1
    return cut or held.rfind(_CR, 0, len(held) - 1) + 1


def _whole_lines(held: bytearray) -> Iterator[NDArray[np.uint8]]:
    cut = _last_line_end(held)
    if cut:
        yield np.frombuffer(bytes(held[:cut]), np.uint8)
