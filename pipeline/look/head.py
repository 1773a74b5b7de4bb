"""The first bytes of a file, out of whatever it is packed in. Never more than a bounded head is read or unpacked.

Bytes to text as feeds have it: which encoding, and what in it no reader of feeds will like.
"""

import bz2
import codecs
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Protocol

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources.zip_files import EMPTY_ZIP_MAGIC, ZIP_MAGIC, data_members, open_zip

HEAD_BYTES = 1 << 20
"""Enough for thousands of rows; the rest of the file is not looked at."""
TAR_MAGIC = slice(257, 262)
DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError, RuntimeError)
"""What the readers of packed files raise when bytes are wrong, missing or encrypted."""


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file, unpacked."""

    path: Path
    """The file as stored, of which the head is."""
    data: bytes
    size_bytes: int
    whole: bool
    """Whether the head is all there is."""
    packed: tuple[str, ...] = ()
    """What it was taken out of, from the outside in: zip, gzip, bzip2, xz, tar."""
    member: str | None = None
    members: tuple[str, ...] = ()
    """Of an archive: the file inside that was looked at, and all of them."""
    files: int = 1
    """Of a folder: how many files it holds."""
    damage: str | None = None
    """Why unpacking ended early."""


def read_head(path: Path) -> Head:
    """The first bytes of `path`, or of the first file in it where it is a folder."""
    file, files = _chosen(path)
    try:
        size = file.stat().st_size
        with file.open("rb") as stream:
            start = stream.read(HEAD_BYTES + 1)
    except OSError as error:
        msg = f"{file}: cannot be read ({error.strerror}). Check the path and its rights."
        raise InputError(msg) from None
    head = Head(file, start[:HEAD_BYTES], size, len(start) <= HEAD_BYTES, files=files)
    return _in_tar(_decompressed(_in_zip(head)))


def _chosen(path: Path) -> tuple[Path, int]:
    if not path.is_dir():
        if not path.exists():
            msg = f"{path}: no such file or folder. Name a file that exists."
            raise InputError(msg)
        if not path.is_file():
            msg = f"{path}: is no regular file. Name a file."
            raise InputError(msg)
        return path, 1
    files = [
        file
        for file in sorted(path.rglob("*"))
        if file.is_file() and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
    ]
    if not files:
        msg = f"{path}: holds no files. Name a file."
        raise InputError(msg)
    return files[0], len(files)


def _in_zip(head: Head) -> Head:
    if not head.data.startswith((ZIP_MAGIC, EMPTY_ZIP_MAGIC)):
        return head
    with open_zip(head.path) as archive:
        members = data_members(archive, head.path)
        names = tuple(member.filename for member in members)
        # a note beside the data is smaller than the data
        largest = max(members, key=lambda member: member.file_size)
        try:
            with archive.open(largest) as stream:
                unpacked = _unpacked(stream)
        except DAMAGE as error:
            unpacked = _Unpacked(b"", True, _reason(error))
    inside = replace(head, data=unpacked.data, whole=unpacked.whole, damage=unpacked.damage)
    return replace(inside, packed=("zip",), member=largest.filename, members=names)


class Readable(Protocol):
    """What all readers of packed files have in common."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, at most `size`."""
        ...


_OPENERS: tuple[tuple[bytes, str, Callable[[IO[bytes]], Readable]], ...] = (
    (b"\x1f\x8b", "gzip", lambda stream: gzip.GzipFile(fileobj=stream)),
    (b"BZh", "bzip2", bz2.BZ2File),
    (b"\xfd7zXZ\x00", "xz", lzma.LZMAFile),
)


def _decompressed(head: Head) -> Head:
    """The head without its compression; of a member of an archive only what its own head yields."""
    for magic, name, opener in _OPENERS:
        if head.data.startswith(magic):
            with io.BytesIO(head.data) if head.packed else head.path.open("rb") as stream:
                unpacked = _unpacked(opener(stream))
            cut = head.packed and not head.whole and unpacked.damage
            return replace(
                head,
                data=unpacked.data,
                whole=unpacked.whole and not cut,
                packed=(*head.packed, name),
                damage=None if cut else unpacked.damage,
            )
    return head


def _in_tar(head: Head) -> Head:
    if head.data[TAR_MAGIC] != b"ustar":
        return head
    names: list[str] = []
    first = b""
    whole = False
    try:
        with tarfile.open(fileobj=io.BytesIO(head.data), mode="r:") as archive:
            for member in archive:
                if member.isfile():
                    stream = None if first else archive.extractfile(member)
                    first = first or (stream.read(HEAD_BYTES) if stream else b"")
                    whole = whole or len(first) == member.size
                    names.append(member.name)
    except (tarfile.TarError, *DAMAGE):
        pass  # the head ends in the middle of a member, as heads do
    if not names:
        return head
    return replace(
        head, data=first, whole=whole, packed=(*head.packed, "tar"), member=names[0], members=tuple(names), damage=None
    )


@dataclass(frozen=True, slots=True)
class _Unpacked:
    data: bytes
    whole: bool
    damage: str | None = None


def _unpacked(stream: Readable) -> _Unpacked:
    """At most a head of `stream`, and of a damaged one what can be had."""
    parts: list[bytes] = []
    left = HEAD_BYTES + 1
    try:
        while left > 0 and (part := stream.read(min(left, 1 << 16))):
            parts.append(part)
            left -= len(part)
    except DAMAGE as error:
        return _Unpacked(b"".join(parts), False, _reason(error))
    return _Unpacked(b"".join(parts)[:HEAD_BYTES], left > 0)


def _reason(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:120]


BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8 with a byte order mark"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
MOST_CUT_BYTES = 4
"""A head may end in the middle of a letter."""
WIDE_SHARE = 0.35
MOST_CONTROL_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class Text:
    """The head as text."""

    text: str
    encoding: str
    nul_bytes: int = 0
    binary: bool = False
    """Whether it is no text at all."""

    @property
    def wide(self) -> bool:
        """Whether each letter takes two bytes or more, which no feed reader expects."""
        return self.encoding.startswith(("UTF-16", "UTF-32"))


def text_of(head: Head) -> Text:
    """The text of `head`, in the encoding that its bytes tell."""
    data = head.data
    for mark, codec, name in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return Text(data.decode(codec, errors="replace"), name)
    wide = _wide_codec(data)
    if wide:
        return Text(data.decode(wide, errors="replace"), wide.upper())
    nuls = data.count(b"\0")
    cut = 0 if head.whole else MOST_CUT_BYTES
    for dropped in range(cut + 1):
        try:
            text = data[: len(data) - dropped].decode("utf-8")
        except UnicodeDecodeError:
            continue
        return Text(text, "UTF-8", nuls, _is_binary(text, nuls))
    text = data.decode("latin-1")
    return Text(text, "Latin-1", nuls, _is_binary(text, nuls))


def _wide_codec(data: bytes) -> str | None:
    """UTF-16 without a mark shows as zero bytes at every second place."""
    half = len(data) // 2
    if not half:
        return None
    for start, codec in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = data[start::2].count(0), data[1 - start :: 2].count(0)
        if zeros > half * WIDE_SHARE and others < half * 0.05:
            return codec
    return None


def _is_binary(text: str, nuls: int) -> bool:
    control = sum(1 for letter in text[:65536] if letter < " " and letter not in "\t\r\n\f\0\x1b")
    return (control + nuls) > max(len(text[:65536]), 1) * MOST_CONTROL_SHARE and bool(control or nuls > 1)
