"""Trees with a vector in each leaf as plain arrays: asked by a kernel, kept in a file, explained along their paths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.models.kernels.compilation import crediting_kernel, judging_kernel, spreading_kernel
from foresail.models.kernels.trees import CHANCES, DEEPEST, HAZARDS, SPAN, Forest
from foresail.models.trees.spans import Spans

MOST_NODES = 8_000_000
ARRAYS = ("roots", "feature", "limit", "left", "right", "unknown_left", "value", "base")
LINKS = {"hazard": HAZARDS, "forest": CHANCES}


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """A fitted model: from the inputs of an event to the hazard of each span."""

    kind: str
    """`hazard` or `forest`."""
    forest: Forest
    spans: Spans
    bend: NDArray[np.float64]
    shift: NDArray[np.float64]
    """Recalibration of each span's log-odds: bend * odds + shift."""

    def hazards(self, inputs: NDArray[np.float32], rows: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Per row (of those named) the hazard of each span."""
        asked = np.arange(len(inputs)) if rows is None else rows
        found = np.empty((len(asked), len(self.spans)))
        room = np.empty((DEEPEST, 3), dtype=np.int32)
        judging_kernel()(self.forest, LINKS[self.kind], self.bend, self.shift, inputs, asked, room, found)
        return found

    def credits(self, inputs: NDArray[np.float32], rows: NDArray[np.int64], events: int) -> NDArray[np.float64]:
        """Per row and input how much it moves the chance of a match within so many events, along the trees' paths.

        Of boosted trees to first order, each span's log-odds weighed by how the chance follows it; of a forest exactly.
        """
        found = np.zeros((len(rows), inputs.shape[1] + 1))
        room = np.empty((DEEPEST, 4), dtype=np.int32)
        crediting_kernel()(self.forest, self._weights(inputs, rows, events), inputs, rows, room, found)
        return found[:, :-1]

    def _weights(self, inputs: NDArray[np.float32], rows: NDArray[np.int64], events: int) -> NDArray[np.float64]:
        ends = np.array(self.spans.ends)
        if self.kind == "forest":
            held = np.searchsorted(ends, events)
            return np.tile(np.arange(len(ends)) == min(held, len(ends) - 1), (len(rows), 1)).astype(np.float64)
        hazard = self.hazards(inputs, rows)
        share = np.clip((events - (ends - self.spans.lengths)) / self.spans.lengths, 0.0, 1.0)
        return (1.0 - self.within(hazard, events))[:, None] * share * hazard * self.bend

    def waiting(self, hazard: NDArray[np.float64], horizon: int) -> NDArray[np.float64]:
        """Per row the probability that the next match comes with the n-th event from now."""
        found = np.empty((len(hazard), horizon))
        spreading_kernel()(hazard, self.spans.lengths, found)
        return found

    def within(self, hazard: NDArray[np.float64], events: int) -> NDArray[np.float64]:
        """Per row the probability of a match within so many events."""
        survived = np.ones(len(hazard))
        begin = 0
        for s, end in enumerate(self.spans.ends):
            share = min(max(events - begin, 0), end - begin) / (end - begin)
            if s == len(self.spans) - 1 and events > end:
                share = (events - begin) / (end - begin)
            survived *= (1.0 - hazard[:, s]) ** share
            begin = end
        return 1.0 - survived

    def recalibrated(self, bend: NDArray[np.float64], shift: NDArray[np.float64]) -> "Trees":
        """The same trees with other log-odds."""
        return Trees(self.kind, self.forest, self.spans, bend, shift)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a file keeps of them."""
        held = {name: np.asarray(getattr(self.forest, name)) for name in ARRAYS}
        return held | {"bend": self.bend, "shift": self.shift}

    @classmethod
    def of(cls, kind: str, spans: Spans, arrays: Mapping[str, NDArray[Any]], inputs: int) -> "Trees":
        """The trees of a file; refused where a kernel would not survive them."""
        forest = Forest(**{name: arrays[name] for name in ARRAYS})
        nodes, width = len(forest.feature), len(spans)
        inner = forest.left >= 0
        kinds = {"roots": np.int32, "feature": np.int32, "limit": np.float32, "left": np.int32, "right": np.int32}
        sound = (
            kind in LINKS
            and 0 < nodes <= MOST_NODES
            and all(getattr(forest, name).dtype == kind_of for name, kind_of in kinds.items())
            and forest.unknown_left.dtype == np.uint8
            and forest.value.dtype == np.float32
            and all(len(getattr(forest, name)) == nodes for name in ("limit", "left", "right", "unknown_left"))
            and forest.value.shape in ((nodes, width), (nodes, 1))
            and all(arrays[name].shape == (width,) for name in ("base", "bend", "shift"))
            and all(arrays[name].dtype == np.float64 for name in ("base", "bend", "shift"))
            and _inside(forest.roots, 0, nodes)
            and _inside(forest.feature[inner], SPAN, inputs)
            # a child comes after its parent, so that no path is endless
            and bool((forest.left[inner] > np.flatnonzero(inner)).all() and _inside(forest.left[inner], 0, nodes))
            and bool((forest.right[inner] > np.flatnonzero(inner)).all() and _inside(forest.right[inner], 0, nodes))
            and _shallow(forest)
        )
        if not sound:
            msg = "the trees do not fit together"
            raise ValueError(msg)
        return cls(kind, forest, spans, arrays["bend"], arrays["shift"])


def _shallow(forest: Forest) -> bool:
    """Whether no path has more nodes than a walk has room for."""
    level = np.unique(forest.roots)
    for _ in range(DEEPEST):
        inner = level[forest.left[level] >= 0]
        if not len(inner):
            return True
        level = np.unique(np.concatenate([forest.left[inner], forest.right[inner]]))
    return False


def _inside(values: NDArray[np.int32], first: int, end: int) -> bool:
    return bool(not len(values) or (values.min() >= first and values.max() < end))


class SingleTree(NamedTuple):
    """One tree as arrays, its nodes numbered from 0, the root; a child comes after its parent."""

    feature: NDArray[Any]
    limit: NDArray[Any]
    left: NDArray[Any]
    right: NDArray[Any]
    unknown_left: NDArray[Any]
    value: NDArray[Any]


def joined_forest(trees: Sequence[SingleTree], base: NDArray[np.float64], width: int = 1) -> Forest:
    """Single trees one after the other; without any, one leaf that adds nothing."""
    held = list(trees) or [_nothing(width)]
    roots = np.cumsum([0, *(len(tree.feature) for tree in held[:-1])]).astype(np.int32)

    def stacked(arrays: Sequence[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
        return np.ascontiguousarray(np.concatenate(arrays), dtype=kind)

    def moved(side: str) -> NDArray[Any]:
        own = zip(roots, (getattr(tree, side) for tree in held), strict=True)
        return stacked([np.where(child >= 0, child + root, -1) for root, child in own], np.int32)

    return Forest(
        roots,
        stacked([tree.feature for tree in held], np.int32),
        stacked([tree.limit for tree in held], np.float32),
        moved("left"),
        moved("right"),
        stacked([tree.unknown_left for tree in held], np.uint8),
        stacked([tree.value for tree in held], np.float32),
        np.ascontiguousarray(base, dtype=np.float64),
    )


def _nothing(width: int) -> SingleTree:
    leaf = np.full(1, -1)
    return SingleTree(np.zeros(1), np.zeros(1), leaf, leaf, np.zeros(1), np.zeros((1, width)))
