"""How many files positions go into, and what vouches for their order."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from foresail.pipeline.stages.layout import LAYOUT_FILE, ROWS_PER_FILE, files_for, read_layout


@given(st.integers(0, 10**9), st.integers(1, 64))
def test_files_are_neither_too_large_nor_needlessly_many(rows: int, parallelism: int) -> None:
    files = files_for(rows, parallelism)
    assert files >= 1
    assert rows <= files * ROWS_PER_FILE
    assert files <= max(parallelism, -(-rows // ROWS_PER_FILE), 1)


def test_the_number_of_files_is_kept_until_they_grow_out_of_it() -> None:
    assert files_for(5 * ROWS_PER_FILE, 2, existing=4) == 4
    assert files_for(50 * ROWS_PER_FILE, 2, existing=4) == 50


def test_a_folder_without_a_sound_note_is_not_trusted(tmp_path: Path) -> None:
    assert read_layout(tmp_path) is None
    (tmp_path / LAYOUT_FILE).write_text('{"files": 2}')
    assert read_layout(tmp_path) is None
