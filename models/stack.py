"""The models that serve one pattern as one table: their chain states, one model after the other.

The first model serves every track; others serve the tracks of one group each. All have the same alphabet and automaton,
so that a track's group is only where it begins: from there on it is one look-up per event, as with one model.
"""

from collections.abc import Sequence
from typing import NamedTuple, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from foresail.models.kernels.decisions import Decisions
from foresail.models.model import Model


class Stack(NamedTuple):
    """Chain states of several models, numbered through."""

    step: NDArray[np.int32]
    begins: NDArray[np.int32]
    """The first chain state of each model."""
    start: NDArray[np.int32]
    """Per chain state the first one of its model."""
    decisions: Decisions


def stacked(members: Sequence[Model], number: int) -> Stack:
    """The tables of these models, of which the first has the number `number`."""
    sizes = [member.chain.states for member in members]
    begins = np.cumsum([0, *sizes[:-1]]).astype(np.int32)
    if len(members) == 1:
        step = members[0].chain.step
    else:
        shifted = zip(begins, members, strict=True)
        step = np.concatenate([member.chain.step + begin for begin, member in shifted])
    return Stack(step, begins, np.repeat(begins, sizes), _together(members, number))


def joined_decisions(parts: Sequence[Decisions]) -> Decisions:
    """The decisions of several tables as one, in their order."""
    if len(parts) == 1:
        return parts[0]
    columns = {}
    for name, kind in get_type_hints(Decisions).items():
        none = np.empty(0, dtype=get_args(get_args(kind)[1])[0])
        columns[name] = np.concatenate([none, *(getattr(part, name) for part in parts)])
    return Decisions(**columns)


def _together(members: Sequence[Model], number: int) -> Decisions:
    numbers = np.arange(number, number + len(members), dtype=np.int32)
    emitted_by = np.repeat(numbers, [member.chain.states for member in members])
    return joined_decisions([member.decisions for member in members])._replace(model=emitted_by)
