"""Pattern families joined with their layers: which events are near which features, for the recognition stage."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.reach import reach_m
from foresail.patterns.recognition.tables import shared_conditions
from foresail.pipeline.batch.kernel_columns import FamilyGroup
from foresail.pipeline.batch.parquet_reader import NearLayer
from foresail.pipeline.errors import InputError
from foresail.pipeline.progress import Progress

if TYPE_CHECKING:  # geometry takes as long to load as the rest of a short job, and most jobs have no layers
    from foresail.geo import Layer

NEAR = "__near"


@dataclass(frozen=True, slots=True)
class Family:
    """A compiled family, and the catalog entry it comes from."""

    entry: PatternEntry
    pattern: CompiledPattern

    @property
    def layer(self) -> str:
        """The name of the layer whose features it has an instance for."""
        assert self.entry.for_each is not None, "only families have a layer"
        return self.entry.for_each.layer

    @property
    def reach_m(self) -> float:
        """How near a feature must be to be told apart from one that is far."""
        assert self.entry.for_each is not None, "only families have a reach"
        feature, declared = self.entry.for_each.as_, self.entry.for_each.radius_m
        return reach_m(self.pattern.conditions, feature, declared, self.entry.name)


def family_groups(families: Sequence[Family], layers: "Mapping[str, Layer]") -> tuple[FamilyGroup, ...]:
    """The families by layer, each group with the rows that say which events are near."""
    groups = []
    for name in dict.fromkeys(family.layer for family in families):
        mine = [family for family in families if family.layer == name]
        near = NearRows(layers[name], max(family.reach_m for family in mine))
        patterns = tuple(family.pattern for family in mine)
        groups.append(FamilyGroup(name, patterns, near, near.in_workers(patterns)))
    return tuple(groups)


def layers_at(file: Path | None, cache: Path, progress: Progress) -> "dict[str, Layer]":
    """The layers of a layers file, by name."""
    if file is None:
        return {}
    from foresail.geo import read_layers  # noqa: PLC0415
    from foresail.geo.errors import GeoError  # noqa: PLC0415

    try:
        layers = read_layers(file, cache, progress.say)
    except GeoError as error:
        raise InputError(str(error)) from error
    return {layer.spec.name: layer for layer in layers}


@dataclass(frozen=True, slots=True)
class NearRows:
    """From events to a row per event and feature of `layer` within `radius_m`."""

    layer: "Layer"
    radius_m: float

    def __call__(self, events: DataFrame) -> DataFrame:
        """The event's columns, `feature` and `feature_distance_m`."""
        from foresail.geo.nearby import near_features  # noqa: PLC0415

        near = near_features(events, self.layer, self.radius_m, NEAR)
        distance = F.col(f"{NEAR}.distance_m").alias("feature_distance_m")
        return near.select(*events.columns, self.name_of(F.col(NEAR)).alias("feature"), distance)

    def in_workers(self, patterns: Sequence[CompiledPattern]) -> NearLayer:
        """The same for workers that read events themselves."""
        conditions = shared_conditions(patterns)
        owners = sorted({pattern.spec.family for pattern in patterns if pattern.spec.family})
        return NearLayer(
            self.layer.spec.name, conditions, tuple(owners), str(self.layer.folder), self.radius_m, self.names
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Each feature's name, as `name_of` makes it."""
        held = self.layer.index.table["name"].to_pylist()
        times = Counter(held)
        return tuple(
            f"#{number}" if name is None else name if times[name] == 1 else f"{name} #{number}"
            for number, name in enumerate(held)
        )

    def name_of(self, feature: Column) -> Column:
        """The feature's name; with its number where several share one, so that each is an instance of its own."""
        name, number = feature["name"], feature["number"].cast("string")
        times = Counter(self.layer.index.table["name"].to_pylist())
        shared = [held for held, count in times.items() if held is not None and count > 1]
        numbered = F.concat_ws(" ", name, F.concat(F.lit("#"), number))
        return F.when(name.isNull() | name.isin(shared), numbered).otherwise(name)
