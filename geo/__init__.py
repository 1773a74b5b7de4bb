"""Where: layers, measures, Sedona enrichment and proximity pairs, as Column and DataFrame functions."""

from geo.enrichment import STRATEGIES, Choice, Strategy, choose, enrich
from geo.errors import GeoError
from geo.layers import Layer, LayerSpec, read_layer, read_layers

__all__ = [
    "STRATEGIES",
    "Choice",
    "GeoError",
    "Layer",
    "LayerSpec",
    "Strategy",
    "choose",
    "enrich",
    "read_layer",
    "read_layers",
]
