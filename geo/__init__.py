"""Where: layers, measures, Sedona enrichment and proximity pairs, as Column and DataFrame functions."""

from geo.enrichment import STRATEGIES, Choice, Strategy, choose, enrich
from geo.errors import GeoError
from geo.layers import Layer, LayerSpec, read_layer, read_layers
from geo.nearby import near_features
from geo.proximity import PairSettings, legs, pairs, pairs_of_legs
from geo.proximity_stream import legs_of_previous, legs_of_stream, pairs_of_stream, pairs_of_streamed_legs
from geo.worker import publish, reload_layers

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
