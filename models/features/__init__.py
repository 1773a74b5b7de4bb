"""Learned features: the leaves of a shallow tree, as conditions that a pattern's alphabet can hold."""

from foresail.models.features.learning import LearnedFeatures, learn_features, with_features
from foresail.models.features.words import Attributes, attributes_of_entry

__all__ = ["Attributes", "LearnedFeatures", "attributes_of_entry", "learn_features", "with_features"]
