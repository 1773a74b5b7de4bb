"""Where: layers, measures, Sedona enrichment and proximity pairs, as Column and DataFrame functions."""

from geo.enrichment import STRATEGIES, Choice, Strategy, choose, enrich
from geo.errors import GeoError
from geo.layers import Layer, LayerSpec, read_layer, read_layers
from geo.nearby import near_features
from geo.proximity import PairSettings, legs, pairs, pairs_of_legs
from geo.worker import publish

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
    "near_features",
    "pairs",
    "pairs_of_legs",
    "publish",
    "read_layer",
    "read_layers",
]
