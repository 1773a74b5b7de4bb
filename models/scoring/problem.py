"""One pattern and the rows it is judged on: what came true of each, and how far each is from a match."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.models.counts import Counts, GroupedCounts, TrackGroups, count, count_groups
from foresail.models.features.words import Attributes
from foresail.models.forecaster import Forecaster
from foresail.models.model import Model, ModelSettings, build
from foresail.models.scoring.sequences import Sequences
from foresail.models.scoring.thresholds import segments
from foresail.models.scoring.truth import Truth
from foresail.models.suffix_tree import LearnSettings
from foresail.models.symbols import SymbolTable
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.typing import AttributeType

SELDOM_KNOWN = 0.01
"""Boosting reads what is known at least so often; it can do with the rest unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One pattern, the rows it is evaluated on, and what came true of them."""

    pattern: CompiledPattern
    """With the features that are written down."""
    plain: CompiledPattern
    """Without features: its automaton says how far a row is from a match."""
    sequences: Sequences
    matched: NDArray[np.bool_]
    truth: Truth
    state: NDArray[np.int32]
    """The state of the plain automaton after each row."""
    horizon: int
    max_order: int
    attributes: Attributes
    """What trees may read."""
    raw: Attributes
    """What boosting reads: all that is known of an event."""
    types: dict[str, AttributeType]
    groups: TrackGroups | None = None
    """The group of each track, where there are to be models by group."""


def problem_of(
    pattern: CompiledPattern,
    plain: CompiledPattern,
    sequences: Sequences,
    attributes: Sequence[str],
    horizon: int,
    max_order: int,
    raw: Sequence[str] = (),
    groups: TrackGroups | None = None,
) -> Problem:
    """The problem that `pattern` poses on these rows; `plain` is the same pattern without features."""
    matched = sequences.matched(plain)
    return Problem(
        pattern=pattern,
        plain=plain,
        sequences=sequences,
        matched=matched,
        truth=sequences.truth(matched),
        state=automaton_states(plain, sequences),
        horizon=horizon,
        max_order=max_order,
        attributes=Attributes.of(sequences.columns, attributes),
        raw=Attributes.of(sequences.columns, list(dict.fromkeys([*attributes, *raw])), least_known=SELDOM_KNOWN),
        types={name: column.type for name, column in sequences.columns.items()},
        groups=groups,
    )


def count_rows(pattern: CompiledPattern, sequences: Sequences, rows: NDArray[np.bool_], max_order: int) -> Counts:
    """The counts of these rows; where rows are left out, history begins anew."""
    kept, first_of = segments(rows, sequences.first_of)
    symbols = SymbolTable(pattern).symbols(sequences.words(pattern.conditions)[kept])
    return count(symbols, sequences.times[kept], first_of, pattern, max_order)


def count_rows_by_group(
    pattern: CompiledPattern, sequences: Sequences, rows: NDArray[np.bool_], groups: TrackGroups, max_order: int
) -> GroupedCounts:
    """The counts of these rows, those of each group of tracks apart."""
    kept, first_of = segments(rows, sequences.first_of)
    symbols = SymbolTable(pattern).symbols(sequences.words(pattern.conditions)[kept])
    of_stretch = TrackGroups(groups.names, groups.of_track[sequences.track[kept[first_of[:-1]]]])
    return count_groups(symbols, sequences.times[kept], first_of, of_stretch, pattern, max_order)


def chain_states(
    model: Model,
    sequences: Sequences,
    groups: Sequence[Model] = (),
    serving: NDArray[np.int64] | None = None,
) -> NDArray[np.int32]:
    """The chain state of a model that forecasts in accepting states too, after each row.

    `serving` says for each sequence whether this model serves it (0) or which of `groups`; chain states are numbered
    through all of them.
    """
    forecaster = Forecaster([model], groups=[groups])
    batch = sequences.batch(forecaster.conditions)
    members = None if serving is None else serving[:, None]
    told, _ = forecaster.advance(batch, forecaster.fresh(batch.key_count, members))
    assert len(told) == len(sequences), "a model that forecasts in accepting states speaks after every event"
    states = np.empty(len(sequences), dtype=np.int32)
    states[told.event] = forecaster.stacks[0].begins[told.model] + told.chain
    return states


def automaton_states(pattern: CompiledPattern, sequences: Sequences) -> NDArray[np.int32]:
    """The automaton state after each row: over the empty context alone the chain is the automaton."""
    counts = count_rows(pattern, sequences, np.ones(len(sequences), dtype=np.bool_), max_order=1)
    settings = ModelSettings(learn=LearnSettings(order=0), horizon=1, forecast_in_accepting=True)
    model = build(pattern, counts, settings)
    states: NDArray[np.int32] = model.chain.state[chain_states(model, sequences)]
    return states
