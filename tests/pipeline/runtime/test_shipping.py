"""The archive for executors holds all that a worker imports or reads, and is made once."""

import subprocess
import sys
import tarfile
from pathlib import Path

from foresail.pipeline.runtime.shipping import shipped_code


def test_the_archive_has_sources_grammars_and_catalogs_and_is_made_once(tmp_path: Path) -> None:
    archive = shipped_code(tmp_path)
    made = archive.stat().st_mtime_ns
    with tarfile.open(archive) as tar:
        names = set(tar.getnames())
    expected = {
        "foresail/pipeline/stages/recognise.py",
        "foresail/patterns/language/grammar.lark",
        "foresail/patterns/catalog/maritime/anchored.yaml",
        "foresail/geo/nearby.py",
        "foresail/models/__init__.py",
    }
    assert expected <= names
    assert not [name for name in names if name.endswith(".pyc")]
    assert shipped_code(tmp_path).stat().st_mtime_ns == made


def test_code_that_was_shipped_runs_where_it_was_unpacked(tmp_path: Path) -> None:
    with tarfile.open(shipped_code(tmp_path)) as tar:
        tar.extractall(tmp_path / "foresail-code", filter="data")
    script = (
        "import foresail.patterns, foresail.pipeline.batch.workers\n"
        "from foresail.patterns.catalog.loader import built_in_catalog\n"
        "print(foresail.patterns.__file__, len(built_in_catalog('maritime')) > 5)"
    )
    command = [sys.executable, "-c", script]
    environment = {"PYTHONPATH": "foresail-code", "HOME": str(tmp_path), "PATH": ""}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [str(tmp_path / "foresail-code" / "foresail" / "patterns" / "__init__.py"), "True"]
