"""Foresail recognises and forecasts complex events in the tracks of vessels and vehicles.

In the source tree the four folders below are links to those of the same name at the top; an installed package has them
as they are. Everything is imported through this package, so that nobody's own `models.py` is taken for ours.
"""

from pathlib import Path

HOME = Path(__file__).parent
"""Where the package lies: its code and every data file are below."""

if not (HOME / "patterns").is_dir():
    msg = (
        f"{HOME / 'patterns'}: is not a folder, because the links of the source tree were not kept. "
        "Clone again to a file system with links: git clone -c core.symlinks=true."
    )
    raise ImportError(msg)

__version__ = "0.1.0"
__all__ = ["HOME", "__version__"]
