"""Zips: their members are found, unpacked safely, and named after the archive."""

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources import zip_files
from foresail.pipeline.sources.table_form import tables_inside
from foresail.pipeline.sources.zip_files import archive_name, is_zip, with_unpacked
from tests.pipeline.look.samples import written, zipped


def test_members_are_unpacked_once_and_named_after_their_archive(tmp_path: Path) -> None:
    file = zipped(tmp_path, "day.zip", {"a/one.csv": "x\n", "two.csv": "y\n", "__MACOSX/junk": "z", ".hidden": "z"})
    found = with_unpacked([str(file), "other.csv"], str(tmp_path))
    assert found[-1] == "other.csv"
    assert [archive_name(path) for path in found[:-1]] == [f"{file}/a/one.csv", f"{file}/two.csv"]
    assert Path(found[0]).read_text() == "x\n"
    assert with_unpacked([str(file)], str(tmp_path)) == found[:-1]


def test_a_zip_is_known_by_its_bytes_and_not_by_its_name(tmp_path: Path) -> None:
    assert is_zip(zipped(tmp_path, "day.csv", {"a.csv": "x"}))
    assert not is_zip(written(tmp_path, "day.zip", "track,time\n"))
    assert not is_zip(tmp_path)


def test_no_member_is_written_outside(tmp_path: Path) -> None:
    file = tmp_path / "evil.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("../../../../escaped.csv", "x")
        archive.writestr("/absolute.csv", "x")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = with_unpacked([str(file)], str(scratch))
    assert len(found) == 2
    assert all(Path(path).resolve().is_relative_to(scratch) for path in found)
    assert not list(tmp_path.glob("escaped.csv"))


def test_what_would_fill_the_disk_or_needs_a_password_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zip_files, "SMALL_BYTES", 1_000_000)
    with pytest.raises(InputError, match="the limit is 200 times"):
        with_unpacked([str(zipped(tmp_path, "bomb.zip", {"a.csv": b"0" * 5_000_000}))], str(tmp_path))
    with pytest.raises(InputError, match="a zip inside"):
        with_unpacked([str(zipped(tmp_path, "outer.zip", {"inner.zip": b"x"}))], str(tmp_path))
    whole = zipped(tmp_path, "cut.zip", {"a.csv": os.urandom(5000)}).read_bytes()
    cut = written(tmp_path, "cut.zip", whole[:2000])
    with pytest.raises(InputError, match="cannot be read as one"):
        with_unpacked([str(cut)], str(tmp_path))
    spoilt = written(tmp_path, "spoilt.zip", whole[:1000] + b"0000" + whole[1004:])
    with pytest.raises(InputError, match="is damaged"):
        with_unpacked([str(spoilt)], str(tmp_path))


def test_what_a_killed_process_unpacked_is_swept(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = tmp_path / f"{zip_files.FOLDER_PREFIX}{gone.pid}-abc"
    left.mkdir()
    with_unpacked([str(zipped(tmp_path, "day.zip", {"a.csv": "x"}))], str(tmp_path))
    assert not left.exists()


def test_the_tables_of_a_zip_are_those_with_known_endings(tmp_path: Path) -> None:
    file = zipped(tmp_path, "day.zip", {"a.csv": "x", "README.txt": "hello"})
    endings = (".csv", ".parquet")
    assert [Path(path).name for path in tables_inside(str(file), endings, str(tmp_path))] == ["a.csv"]
    folder = tmp_path / "days"
    folder.mkdir()
    zipped(folder, "one.zip", {"b.csv": "x"})
    written(folder, "plain.csv", "x")
    found = tables_inside(str(folder), endings, str(tmp_path))
    assert [Path(path).name for path in found] == ["plain.csv", "b.csv"]
    with pytest.raises(InputError, match=r"holds no table \(readme.txt\)"):
        tables_inside(str(zipped(tmp_path, "none.zip", {"readme.txt": "x"})), endings, str(tmp_path))
