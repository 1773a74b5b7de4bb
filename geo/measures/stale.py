"""Compiled kernels of other sources, removed: numba looks at the file of a kernel, not at those of what it calls."""

import hashlib
from pathlib import Path


def discard_stale(folder: Path) -> None:
    """Remove what was compiled beside the sources in `folder`, unless it was compiled from just these sources."""
    sources = sorted(folder.glob("*.py"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    compiled = folder / "__pycache__"
    stamp = compiled / f"measures-{digest}.stamp"
    if stamp.exists() or not compiled.is_dir():
        return
    try:
        for file in compiled.iterdir():
            if file.suffix in (".nbi", ".nbc", ".stamp"):
                file.unlink(missing_ok=True)
        stamp.touch()
    except OSError:
        return  # a folder that cannot be written has kernels of one installation only
