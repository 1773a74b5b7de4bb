"""Which patterns a command runs: files and folders, built-in patterns by name, or a whole built-in domain."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from foresail.patterns.catalog.loader import Catalog, built_in_catalog, catalog_of, is_catalog_file, read_catalog
from foresail.patterns.catalog.nodes import CatalogError
from foresail.patterns.errors import nearest


def catalog_named(
    names: Sequence[str], domain: str | None, overrides: Mapping[str, str], languages: bool = False
) -> Catalog:
    """The entries of these paths and built-in names, else all built-in patterns of `domain`.

    Whoever can run other languages than that of patterns says so; else an entry in one of them is an error.
    """
    if not names:
        return Catalog(built_in_catalog(domain, overrides).entries)
    found = _named(names, domain, overrides)
    return found if languages else patterns_alone(found)


def patterns_alone(catalog: Catalog) -> Catalog:
    """The catalog, if all its entries are patterns."""
    for entry in catalog.others:
        msg = (
            f"{entry.name}: is written in {entry.language}, and only patterns go here. Use `foresail try` or recognise."
        )
        raise CatalogError(msg)
    return catalog


def _named(names: Sequence[str], domain: str | None, overrides: Mapping[str, str]) -> Catalog:
    paths = [Path(name) for name in names if _is_path(name)]
    read = read_catalog(paths) if paths else Catalog(())
    own = read.every
    wanted = [name for name in names if not _is_path(name)]
    # read only where one is named: files alone are answered sooner
    built_in = {entry.name: entry for entry in built_in_catalog(domain).every} if wanted else {}
    for name in wanted:
        if name not in built_in:
            msg = f"--patterns {name}: no such file, folder or built-in pattern. {nearest(name, built_in)}".rstrip()
            raise CatalogError(msg)
        if name in {entry.name for entry in own}:
            msg = f"--patterns {name}: a file has a pattern of that name too. Name one of the two."
            raise CatalogError(msg)
    return catalog_of([*own, *(built_in[name] for name in dict.fromkeys(wanted))], overrides)


def files_digest(names: Sequence[str]) -> str:
    """A digest of the catalog files among `names`: it differs when one of them has changed."""
    digest = hashlib.sha256()
    for path in (Path(name) for name in names if _is_path(name)):
        for file in sorted(f for f in path.rglob("*") if is_catalog_file(f.name)) if path.is_dir() else [path]:
            digest.update(f"{file}\0".encode() + (file.read_bytes() if file.is_file() else b""))
    return digest.hexdigest()


def _is_path(name: str) -> bool:
    return Path(name).exists() or "/" in name or is_catalog_file(name)
