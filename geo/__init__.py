"""Where: layers, measures, Sedona enrichment and proximity pairs, as Column and DataFrame functions."""

from typing import TYPE_CHECKING

from foresail.geo.lazy import lazily

if TYPE_CHECKING:
    from foresail.geo.enrichment import STRATEGIES, Choice, Strategy, choose, enrich
    from foresail.geo.errors import GeoError
    from foresail.geo.layers import Layer, LayerSpec, read_layer, read_layers
    from foresail.geo.nearby import near_features
    from foresail.geo.proximity import PairSettings, legs, pairs, pairs_of_legs
    from foresail.geo.proximity_stream import legs_of_previous, pairs_of_streamed_legs
    from foresail.geo.worker import publish

__all__ = [
    "STRATEGIES",
    "Choice",
    "GeoError",
    "Layer",
    "LayerSpec",
    "PairSettings",
    "Strategy",
    "choose",
    "enrich",
    "legs",
    "legs_of_previous",
    "near_features",
    "pairs",
    "pairs_of_legs",
    "pairs_of_streamed_legs",
    "publish",
    "read_layer",
    "read_layers",
]

__getattr__ = lazily(
    {
        "Choice": "foresail.geo.enrichment",
        "choose": "foresail.geo.enrichment",
        "enrich": "foresail.geo.enrichment",
        "GeoError": "foresail.geo.errors",
        "Layer": "foresail.geo.layers",
        "LayerSpec": "foresail.geo.layers",
        "legs": "foresail.geo.proximity",
        "legs_of_previous": "foresail.geo.proximity_stream",
        "near_features": "foresail.geo.nearby",
        "pairs": "foresail.geo.proximity",
        "pairs_of_legs": "foresail.geo.proximity",
        "pairs_of_streamed_legs": "foresail.geo.proximity_stream",
        "PairSettings": "foresail.geo.proximity",
        "publish": "foresail.geo.worker",
        "read_layer": "foresail.geo.layers",
        "read_layers": "foresail.geo.layers",
        "STRATEGIES": "foresail.geo.enrichment",
        "Strategy": "foresail.geo.enrichment",
    }
)
