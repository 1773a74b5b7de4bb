"""Pattern families by layer, as a process without Spark opens the layers."""

from collections import Counter
from collections.abc import Mapping, Sequence

from foresail.geo.layers import Layer
from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.reach import reach_m
from foresail.patterns.recognition.tables import shared_conditions
from foresail.pipeline.batch.parquet_reader import NearLayer

FamilyEntry = tuple[PatternEntry, CompiledPattern]


def near_layers(
    families: Sequence[FamilyEntry], layers: Mapping[str, Layer]
) -> list[tuple[tuple[CompiledPattern, ...], NearLayer]]:
    """The families of each layer, and how to ask it which of its features are near."""
    found = []
    for name in dict.fromkeys(_layer_of(entry) for entry, _ in families):
        mine = [(entry, pattern) for entry, pattern in families if _layer_of(entry) == name]
        patterns = tuple(pattern for _, pattern in mine)
        found.append((patterns, near_layer(layers[name], patterns, max(_reach_m(*family) for family in mine))))
    return found


def near_layer(layer: Layer, patterns: Sequence[CompiledPattern], reach_m: float) -> NearLayer:
    """How to ask a layer which of its features are within reach, for families over it."""
    owners = sorted({pattern.spec.family for pattern in patterns if pattern.spec.family})
    return NearLayer(
        layer.spec.name, shared_conditions(patterns), tuple(owners), str(layer.folder), reach_m, instance_names(layer)
    )


def instance_names(layer: Layer) -> tuple[str, ...]:
    """What the instance of each feature is called: its name, with its number where several share one."""
    held = layer.index.table["name"].to_pylist()
    times = Counter(held)
    return tuple(
        f"#{number}" if name is None else name if times[name] == 1 else f"{name} #{number}"
        for number, name in enumerate(held)
    )


def _layer_of(entry: PatternEntry) -> str:
    assert entry.for_each is not None, "only families have a layer"
    return entry.for_each.layer


def _reach_m(entry: PatternEntry, pattern: CompiledPattern) -> float:
    assert entry.for_each is not None, "only families have a reach"
    return reach_m(pattern.conditions, entry.for_each.as_, entry.for_each.radius_m, entry.name)
