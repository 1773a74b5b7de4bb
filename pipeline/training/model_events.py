"""Events that models are learned from, wherever they lie: in a table of Spark, or in a frame of this process."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions import AttributeType
from foresail.pipeline.batch.partition import LayerPatterns
from foresail.pipeline.training.count import Counted
from foresail.pipeline.training.sample import Sample
from foresail.pipeline.training.symbols import Membership


class ModelEvents(Protocol):
    """What training and evaluation ask of events; every answer is the same, whoever gives it."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of their columns."""
        ...

    @property
    def types(self) -> Mapping[str, AttributeType]:
        """What conditions can read, and as what."""
        ...

    def sample(self, attributes: Sequence[str], reach: Mapping[str, float], most_events: int) -> Sample:
        """Whole tracks with these attributes, and the features that come within reach of them, by layer."""
        ...

    def memberships(self, attributes: Iterable[str]) -> dict[str, Membership]:
        """For each attribute the value that each track has most often."""
        ...

    def counted(
        self,
        plain: tuple[CompiledPattern, ...],
        families: LayerPatterns,
        reach: Mapping[str, float],
        max_order: int,
        groups: Mapping[str, Membership],
    ) -> Counted:
        """The counts of each pattern over all events; of those in `groups`, by name, each group of tracks apart."""
        ...
