"""The code that executors run: the driver's own, in one archive that Spark unpacks where each executor works.

The compiled kernels go with it, so that no executor spends a minute compiling them.
"""

import hashlib
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

from foresail import HOME

PACKAGES = ("pipeline", "geo", "models", "patterns")
UNPACKED = "foresail-code"
"""The folder, below the working folder of an executor, that the archive becomes."""
COMPILED = (".nbi", ".nbc")


def shipped_code(cache: Path) -> Path:
    """The archive of the code as it is now; made when there is none of this code and these kernels yet."""
    files = [*_files()]
    archive = cache / f"code-{_digest(files)}.tar.gz"
    if not archive.exists():
        cache.mkdir(parents=True, exist_ok=True)
        staging = archive.with_name(f".{archive.name}.{os.getpid()}")
        with tarfile.open(staging, "w:gz", compresslevel=1) as tar:
            for file in files:
                tar.add(file, _name(file))
        staging.replace(archive)
    return archive


def _files() -> Iterator[Path]:
    """Every source and data file of the package and its folders, and the kernels that are compiled."""
    yield from sorted(HOME.glob("*.py"))
    for package in PACKAGES:
        for file in sorted((HOME / package).rglob("*")):
            if file.is_file() and (file.suffix in COMPILED or "__pycache__" not in file.parts):
                yield file


def _name(file: Path) -> str:
    """What the file is called in the archive: as below a folder on Python's path."""
    return str(file.relative_to(HOME.parent))


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        facts = file.stat()
        digest.update(f"{_name(file)}\0{facts.st_size}\0{facts.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:16]
