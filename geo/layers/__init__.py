"""Layers: declared by the user, read from many formats, checked, cached by content, indexed for workers."""

from typing import TYPE_CHECKING

from foresail.geo.lazy import lazily

if TYPE_CHECKING:
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

__getattr__ = lazily(
    {
        "Answer": "foresail.geo.layers.index",
        "Layer": "foresail.geo.layers.store",
        "LayerIndex": "foresail.geo.layers.index",
        "LayerReport": "foresail.geo.layers.check",
        "LayerSpec": "foresail.geo.layers.spec",
        "open_index": "foresail.geo.layers.index",
        "read_layer": "foresail.geo.layers.store",
        "read_layer_specs": "foresail.geo.layers.spec",
        "read_layers": "foresail.geo.layers.store",
    }
)
