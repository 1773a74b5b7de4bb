"""The versioned set of patterns: entries as analysts write them, the files they stand in, and the built-in ones."""

from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.catalog.loader import Catalog, built_in_catalog, parse_override, read_catalog
from foresail.patterns.catalog.nodes import CatalogError

__all__ = ["Catalog", "CatalogError", "PatternEntry", "built_in_catalog", "parse_override", "read_catalog"]
