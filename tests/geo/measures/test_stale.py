"""A change of any source discards what was compiled from the others."""

from pathlib import Path

from foresail.geo.measures.stale import discard_stale


def test_kernels_are_kept_until_a_source_changes(tmp_path: Path) -> None:
    compiled = tmp_path / "__pycache__"
    compiled.mkdir()
    (tmp_path / "one.py").write_text("a = 1")
    discard_stale(tmp_path)
    kernel = compiled / "one.f.nbc"
    kernel.touch()
    discard_stale(tmp_path)
    assert kernel.exists()
    (tmp_path / "one.py").write_text("a = 2")
    discard_stale(tmp_path)
    assert not kernel.exists()
    assert len(list(compiled.glob("*.stamp"))) == 1
