"""Bytes to text as feeds have it: which encoding, and what in it no reader of feeds will like."""

import codecs
from dataclasses import dataclass

from foresail.pipeline.look.head import Head

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
