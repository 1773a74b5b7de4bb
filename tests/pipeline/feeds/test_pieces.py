"""Pieces of files: wherever a file is cut, its lines come out once each, and whole."""

import bz2
import gzip
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foresail.pipeline.feeds.pieces import batches_of, pieces_of

TEXT = st.lists(st.sampled_from(["", "a", "bc", "def,", "é"]), max_size=12)


def lines_of(path: Path, piece_bytes: int, batch_bytes: int) -> list[list[bytes]]:
    found = []
    for piece in pieces_of([str(path)], piece_bytes):
        batches = [batch for batch in batches_of(piece, batch_bytes) if not isinstance(batch, bool)]
        found.append([line for batch in batches for line in bytes(batch).splitlines()])
    return found


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXT, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.integers(1, 9), st.integers(1, 9))
def test_lines_come_out_once_and_whole(
    tmp_path: Path, lines: list[str], end: str, ended: bool, piece_bytes: int, batch_bytes: int
) -> None:
    text = (end.join(lines) + (end if ended else "")).encode()
    file = tmp_path / "day.csv"
    file.write_bytes(text)
    pieces = lines_of(file, piece_bytes, batch_bytes)
    assert [line for piece in pieces for line in piece] == text.splitlines()


def test_packed_files_are_one_piece_and_read_in_batches(tmp_path: Path) -> None:
    text = b"".join(b"line %d\n" % n for n in range(5000))
    (tmp_path / "a.gz").write_bytes(gzip.compress(text[:20_000], mtime=0) + gzip.compress(text[20_000:], mtime=0))
    (tmp_path / "a.bz2").write_bytes(bz2.compress(text))
    for name in ("a.gz", "a.bz2"):
        assert lines_of(tmp_path / name, 1000, 1000) == [text.splitlines()]


def test_a_mark_of_byte_order_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("\ufeffa\nb\n".encode())
    assert lines_of(tmp_path / "a.csv", 100, 100) == [[b"a", b"b"]]
