"""Which patterns a command runs: files and folders, built-in patterns by name, or a whole built-in domain."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from foresail.patterns.catalog.loader import Catalog, built_in_catalog, read_catalog
from foresail.patterns.catalog.nodes import CatalogError
from foresail.patterns.catalog.overrides import apply_overrides
from foresail.patterns.errors import nearest


def catalog_named(names: Sequence[str], domain: str | None, overrides: Mapping[str, str]) -> Catalog:
    """The patterns of these paths and built-in names, else all built-in ones of `domain`."""
    if not names:
        return built_in_catalog(domain, overrides)
    paths = [Path(name) for name in names if _is_path(name)]
    own = read_catalog(paths).entries if paths else ()
    built_in = {entry.name: entry for entry in built_in_catalog(domain)}
    wanted = [name for name in names if not _is_path(name)]
    for name in wanted:
        if name not in built_in:
            msg = f"--patterns {name}: no such file, folder or built-in pattern. {nearest(name, built_in)}".rstrip()
            raise CatalogError(msg)
        if name in {entry.name for entry in own}:
            msg = f"--patterns {name}: a file has a pattern of that name too. Name one of the two."
            raise CatalogError(msg)
    return Catalog(apply_overrides([*own, *(built_in[name] for name in dict.fromkeys(wanted))], overrides))


def files_digest(names: Sequence[str]) -> str:
    """A digest of the catalog files among `names`: it differs when one of them has changed."""
    digest = hashlib.sha256()
    for path in (Path(name) for name in names if _is_path(name)):
        for file in sorted(path.rglob("*.y*ml")) if path.is_dir() else [path]:
            digest.update(f"{file}\0".encode() + (file.read_bytes() if file.is_file() else b""))
    return digest.hexdigest()


def _is_path(name: str) -> bool:
    return Path(name).exists() or "/" in name or name.endswith((".yaml", ".yml"))
