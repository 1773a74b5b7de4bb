"""Where: layers, measures, Sedona enrichment and proximity pairs, as Column and DataFrame functions."""

from foresail.geo.enrichment import STRATEGIES, Choice, Strategy, choose, enrich
from foresail.geo.errors import GeoError
from foresail.geo.layers import Layer, LayerSpec, read_layer, read_layers
from foresail.geo.nearby import near_features
from foresail.geo.proximity import PairSettings, legs, pairs, pairs_of_legs
from foresail.geo.proximity_stream import legs_of_previous, legs_of_stream, pairs_of_stream, pairs_of_streamed_legs
from foresail.geo.worker import publish, reload_layers

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
    "legs_of_stream",
    "near_features",
    "pairs",
    "pairs_of_legs",
    "pairs_of_stream",
    "pairs_of_streamed_legs",
    "publish",
    "read_layer",
    "read_layers",
    "reload_layers",
]
