"""What forecasters of plain patterns and of families share: the models they ask, stacked and ready to be looked up."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foresail.models.errors import ModelError
from foresail.models.forecasts import Forecasts
from foresail.models.inputs.columns import InputColumn
from foresail.models.kernels.forecast import ALL, CHANGES, POSITIVE
from foresail.models.model import Emission, Model
from foresail.models.numbering import Numbering, shared_conditions
from foresail.models.stack import joined_decisions, stacked
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.recognition.events import EventBatch, Keys
from foresail.patterns.recognition.forms import ModelForm, PartForm
from foresail.patterns.recognition.protocol import Clock, Needs

MembersOf: TypeAlias = Callable[[Keys], NDArray[np.int64] | None]
"""From the names of keys to the place of the model that serves each among those of its pattern, a column a pattern."""
EMISSIONS: dict[Emission, int] = {"all": ALL, "positive": POSITIVE, "changes": CHANGES}


class ModelReader:
    """The models of some patterns, at most one each, and with it those of groups of tracks."""

    def __init__(
        self,
        models: Sequence[Model],
        conditions: Sequence[Condition] | None = None,
        emission: Emission = "all",
        groups: Sequence[Sequence[Model]] | None = None,
        members_of: MembersOf | None = None,
    ) -> None:
        self._members_of = members_of
        check_models(models, emission)
        self.models = tuple(models)
        self.conditions = tuple(conditions) if conditions is not None else shared_conditions(self.models)
        self.emission = emission
        self.history_at = np.cumsum([0, *(model.header.max_order for model in self.models)]).astype(np.int64)
        members = [(model, *own) for model, own in zip(models, groups or [()] * len(models), strict=True)]
        self.emitted_by = tuple(member for own in members for member in own)
        """The models that forecasts name by number: each of `models`, followed by those of its groups."""
        numbers = np.cumsum([0, *(len(own) for own in members)])
        self.stacks = tuple(stacked(own, int(number)) for own, number in zip(members, numbers, strict=False))
        self.decisions = joined_decisions([stack.decisions for stack in self.stacks])
        self.decisions_at = np.cumsum([0, *(len(stack.start) for stack in self.stacks)]).astype(np.int64)
        """Where the decisions of each stack begin among all, and the end."""
        self._numbering = Numbering(self.models, self.conditions)

    @property
    def form(self) -> PartForm:
        """What the states of these models belong to."""
        models = tuple(
            ModelForm(m.pattern, m.version, m.header.max_order, len(m.trees.plan.columns) if m.trees else None)
            for m in self.models
        )
        return PartForm("models" if self.needs.layer is None else "family_models", self.needs.layer, models=models)

    @property
    def needs(self) -> Needs:
        """Conditions, and the values of the columns that trees read."""
        return Needs(self.conditions, columns=tuple(column.key for column in self.input_columns))

    @property
    def keeps_past(self) -> tuple[bool, ...]:
        """Of each model whether it has trees, which read the recent past."""
        return tuple(model.trees is not None for model in self.models)

    @property
    def input_columns(self) -> tuple[InputColumn, ...]:
        """The columns that trees read."""
        return input_columns_of(self.models)

    def expired(self, state: Any, clock: Clock, touched: NDArray[np.bool_]) -> None:  # noqa: ARG002
        """Nothing: a forecast is made of events."""
        return

    def not_yet_emitted(
        self,
        results: Forecasts,
        events: EventBatch,  # noqa: ARG002
        last_time: NDArray[np.int64],  # noqa: ARG002
        until: NDArray[np.int64],  # noqa: ARG002
    ) -> Forecasts:
        """All of them: a clock emits no forecasts."""
        return results

    def runs(self, state: Any) -> int:  # noqa: ARG002
        """None: a chain is in one state at a time."""
        return 0

    @property
    def words(self) -> int:
        """How many 64-bit words hold the conditions of one event."""
        return self._numbering.words

    def starts(self, tracks: int, names: Keys) -> NDArray[np.int32]:
        """Per track and model the chain state to begin in: that of the model which serves the track.

        `names` are those of the tracks, or, without `members_of`, already which of a pattern's models serves each.
        """
        members = names if names is None or self._members_of is None else self._members_of(names)
        if members is None or len(self.emitted_by) == len(self.models):
            return np.zeros((tracks, len(self.models)), dtype=np.int32)
        columns = [stack.begins[members[:, m]] for m, stack in enumerate(self.stacks)]
        return np.stack(columns, axis=1) if columns else np.zeros((tracks, 0), dtype=np.int32)

    def check_no_groups(self) -> None:
        """Tracks are handed from one set of models to another only where one model serves all of them."""
        assert len(self.emitted_by) == len(self.models), "tracks of groups are not migrated"


def input_columns_of(models: Iterable[Model]) -> tuple[InputColumn, ...]:
    """The columns that the trees of these models read, each once."""
    found = (column for model in models if model.trees for column in model.trees.plan.columns)
    return tuple({column.key: column for column in found}.values())


def check_models(models: Sequence[Model], emission: Emission) -> None:
    """Refuse what a forecaster cannot run."""
    names = [model.pattern for model in models]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        msg = f"{twice[0]}: two models for one pattern. Give one of them."
        raise ModelError(msg)
    if emission not in EMISSIONS:
        msg = f"emission is '{emission}'. Choose one of {', '.join(EMISSIONS)}."
        raise ModelError(msg)
