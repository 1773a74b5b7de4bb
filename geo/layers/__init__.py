"""Layers: declared by the user, read from many formats, checked, cached by content, indexed for workers."""

from foresail.geo.layers.check import LayerReport
from foresail.geo.layers.index import Answer, LayerIndex, open_index
from foresail.geo.layers.spec import LayerSpec, read_layer_specs
from foresail.geo.layers.store import Layer, read_layer, read_layers

__all__ = [
    "Answer",
    "Layer",
    "LayerIndex",
    "LayerReport",
    "LayerSpec",
    "open_index",
    "read_layer",
    "read_layer_specs",
    "read_layers",
]
