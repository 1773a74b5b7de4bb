"""Which Parquet files a run reads, and what becomes of those that are broken."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources.parquet_files import UsableFiles, parquet_files, usable_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two good files, a broken one, and two that are no data."""
    for name in ("a.parquet", "b/c.parquet", "_d/e.parquet", ".f.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"x": [1]}), tmp_path / name)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    return tmp_path


def test_names_that_begin_with_a_dot_or_an_underscore_are_no_data(folder: Path) -> None:
    assert parquet_files(folder) == [folder / "a.parquet", folder / "b" / "c.parquet", folder / "broken.parquet"]
    assert parquet_files(folder / "a.parquet") == [folder / "a.parquet"]


def test_where_no_file_is_broken_the_paths_stay_as_they_are(folder: Path) -> None:
    (folder / "broken.parquet").unlink()
    assert usable_files([str(folder)], skip_corrupt=False) == UsableFiles((str(folder),))


def test_a_broken_file_is_refused_by_name_or_left_out(folder: Path) -> None:
    with pytest.raises(InputError, match=r"broken.parquet: cannot be read as Parquet .* --skip-corrupt"):
        usable_files([str(folder)], skip_corrupt=False)
    good = (str(folder / "a.parquet"), str(folder / "b" / "c.parquet"))
    broken = str(folder / "broken.parquet")
    assert usable_files([str(folder)], skip_corrupt=True) == UsableFiles(good, str(folder), (broken,))
    named = usable_files([broken, good[0]], skip_corrupt=True)
    assert named == UsableFiles(good[:1], None, (broken,))


def test_where_all_files_are_broken_none_can_be_left_out(folder: Path) -> None:
    with pytest.raises(InputError, match="no file among 1 can be read as Parquet"):
        usable_files([str(folder / "broken.parquet")], skip_corrupt=True)
