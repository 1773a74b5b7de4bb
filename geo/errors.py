"""The faults of layers and events that a user can mend. Each message is one line: where, what, and the way out."""


class GeoError(Exception):
    """Anything that stops a layer from being read or events from being enriched."""


class LayersFileError(GeoError):
    """The file that declares the layers is missing, is not YAML, or says something impossible."""


class LayerReadError(GeoError):
    """A layer's file is missing, empty, or in a format that cannot be read."""


class ReferenceSystemError(GeoError):
    """A layer does not say its coordinate reference system, or says one that its coordinates contradict."""


class GeometryError(GeoError):
    """A feature's geometry is invalid and may not be repaired."""


class StrategyError(GeoError):
    """A join strategy is unknown, or cannot serve these events or this layer."""


class AttributeClashError(GeoError):
    """An event already has a column that enrichment would add, or lacks one that it needs."""
