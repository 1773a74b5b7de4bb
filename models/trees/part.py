"""What makes a model one of trees: its inputs, its trees, and how both are kept in a model's file.

The chain stays beside them: it follows the automaton, keeps the history of tracks, and tells how long events take.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foresail.models.inputs.columns import InputColumn, columns_as_json
from foresail.models.inputs.plan import InputPlan
from foresail.models.trees.spans import Spans
from foresail.models.trees.trees import Trees

ModelKind: TypeAlias = Literal["chain", "hazard", "forest"]
TREES = "trees_"
"""How the arrays of trees are called in a file."""
MOST_COLUMNS = 256


@dataclass(frozen=True, slots=True, eq=False)
class TreePart:
    """Trees over the inputs of events."""

    plan: InputPlan
    trees: Trees
    events: int
    """Events that they were fitted on."""

    @property
    def kind(self) -> str:
        """`hazard` or `forest`."""
        return self.trees.kind

    def with_trees(self, trees: Trees) -> "TreePart":
        """The same inputs read by other trees."""
        return replace(self, trees=trees)

    def fingerprint(self) -> str:
        """A short hash of all of it."""
        digest = sha256(json.dumps(self.as_json(), sort_keys=True).encode())
        for name, array in sorted(self.arrays().items()):
            digest.update(name.encode() + np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def as_json(self) -> dict[str, Any]:
        """All of it that is not an array."""
        return {
            "kind": self.kind,
            "columns": columns_as_json(self.plan.columns),
            "ends": list(self.trees.spans.ends),
            "events": self.events,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays, named as in a file."""
        return {f"{TREES}{name}": array for name, array in self.trees.arrays().items()}


def part_from(held: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> TreePart:
    """The part that `as_json` and `arrays` took apart; what does not fit together is a ValueError."""
    if len(held["columns"]) > MOST_COLUMNS:
        msg = f"{len(held['columns'])} columns; {MOST_COLUMNS} are the limit"
        raise ValueError(msg)
    columns = tuple(_column(one) for one in held["columns"])
    plan = InputPlan(columns)
    ends = tuple(int(end) for end in held["ends"])
    if not ends or ends[0] < 1 or list(ends) != sorted(set(ends)):
        msg = "the spans of the horizon do not ascend"
        raise ValueError(msg)
    own = {name.removeprefix(TREES): array for name, array in arrays.items() if name.startswith(TREES)}
    trees = Trees.of(str(held["kind"]), Spans(ends), own, len(plan.inputs))
    if not all(np.isfinite(own[name]).all() for name in ("value", "base", "bend", "shift")):
        msg = "a leaf is no number"
        raise ValueError(msg)
    return TreePart(plan, trees, int(held["events"]))


def _column(held: Mapping[str, Any]) -> InputColumn:
    if held["kind"] not in ("number", "angle", "step"):
        msg = f"a column of the kind '{held['kind']}'"
        raise ValueError(msg)
    return InputColumn(str(held["name"]), held["kind"], tuple(map(str, held["words"])))
