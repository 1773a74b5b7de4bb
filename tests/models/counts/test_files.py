"""Counts come back from their file as they were, and a damaged file is told apart from a good one."""

from pathlib import Path

import numpy as np
import pytest

from foresail.models.counts import counts_from_bytes, counts_to_bytes, read_counts, write_counts
from foresail.models.errors import ModelFileError
from tests.models.letters import counts_of_text


def test_counts_come_back_from_their_file(tmp_path: Path) -> None:
    counts = counts_of_text("abracadabra", "abcdr", 4)
    write_counts(counts, tmp_path / "counts.npz")
    back = read_counts(tmp_path / "counts.npz")
    assert back.as_dictionary() == counts.as_dictionary()
    assert back.fingerprint() == counts.fingerprint()
    assert (back.identity, back.events, back.first_us) == (counts.identity, counts.events, counts.first_us)
    assert [file.name for file in tmp_path.iterdir()] == ["counts.npz"]


def test_equal_counts_make_equal_files() -> None:
    assert counts_to_bytes(counts_of_text("abab", "ab", 2)) == counts_to_bytes(counts_of_text("abab", "ab", 2))


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_file_cut_short_is_refused(share: float, tmp_path: Path) -> None:
    content = counts_to_bytes(counts_of_text("abab", "ab", 2))
    file = tmp_path / "counts.npz"
    file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ModelFileError, match=r"counts\.npz: this is no counts file, or it is cut short"):
        read_counts(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot be read"):
        read_counts(tmp_path / "none.npz")


def test_any_other_npz_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(ModelFileError, match="this is no counts file"):
        counts_from_bytes((tmp_path / "other.npz").read_bytes())
