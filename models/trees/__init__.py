"""Trees whose leaves hold a vector: the hazard of a match in each span of the horizon, or the chance by its end."""

from foresail.models.trees.spans import Spans, spans_of
from foresail.models.trees.trees import Trees

__all__ = ["Spans", "Trees", "spans_of"]
