"""Which inputs trees get from which columns, and the recent past of tracks from which they come."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foresail.models.inputs.columns import InputColumn
from foresail.models.kernels.compilation import past_kernel
from foresail.models.kernels.past import (
    ANGLE_INPUTS,
    KEPT,
    LONG,
    NEVER,
    NO_GAP,
    NUMBER_INPUTS,
    SHORT,
    STEP_INPUTS,
    TRACK_INPUTS,
    Past,
)
from foresail.patterns.recognition.events import LAT, LON

PastState: TypeAlias = Past
KINDS = ("number", "angle", "step")
INPUTS_OF = {"number": NUMBER_INPUTS, "angle": ANGLE_INPUTS, "step": STEP_INPUTS}
Asked: TypeAlias = Literal["now", "change", "slope", "mean", "before", "since", "track"]


@dataclass(frozen=True, slots=True)
class Input:
    """One number that trees read: what it tells, of which attribute, over how many events."""

    asked: Asked
    name: str
    """The attribute, or the fact of the track."""
    events: int = 0
    words: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """A name that is no other input's."""
        over = f" over {self.events}" if self.events else ""
        return self.name if self.asked in ("now", "track") else f"{self.name}, {self.asked}{over}"


TRACK_FACTS = (
    *("step_s", "hour", "sailed_short_m", "sailed_long_m", "net_m"),
    *("state", "state_events", "state_min", "match_events", "match_min"),
)
assert len(TRACK_FACTS) == TRACK_INPUTS, "the kernel writes as many"


def fresh_past(tracks: int, columns: int) -> PastState:
    """Of tracks of which nothing has been read, with room for the values of so many columns."""
    return Past(
        count=np.zeros(tracks, dtype=np.int64),
        times=np.zeros((tracks, KEPT), dtype=np.int64),
        legs=np.zeros((tracks, KEPT)),
        ring=np.zeros((tracks, KEPT * columns)),
        before=np.zeros((tracks, columns)),
        since=np.zeros((tracks, columns), dtype=np.int64),
        state=np.zeros(tracks, dtype=np.int32),
        state_since=np.zeros(tracks, dtype=np.int64),
        state_events=np.zeros(tracks, dtype=np.int64),
        match_time=np.full(tracks, NEVER, dtype=np.int64),
        match_events=np.full(tracks, NEVER, dtype=np.int64),
        positive=np.zeros(tracks, dtype=np.uint8),
    )


@dataclass(frozen=True)
class InputPlan:
    """The columns in order; the inputs are those of each column, then those of the track."""

    columns: tuple[InputColumn, ...]

    @cached_property
    def kinds(self) -> NDArray[np.int32]:
        """Per column its kind, as the kernel numbers them."""
        return np.array([KINDS.index(column.kind) for column in self.columns], dtype=np.int32)

    @cached_property
    def place(self) -> tuple[int, int]:
        """Which columns are longitude and latitude; -1 where they are not among them."""
        names = [column.name for column in self.columns]
        return (names.index(LON), names.index(LAT)) if LON in names and LAT in names else (-1, -1)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """All inputs in the order of the kernel."""
        found: list[Input] = []
        for column in self.columns:
            now = Input("now", column.name, words=column.words)
            if column.kind == "step":
                found += [now, Input("before", column.name, words=column.words), Input("since", column.name)]
                continue
            found += [now, *(Input("change", column.name, back) for back in (1, SHORT, LONG))]
            found.append(Input("slope", column.name, SHORT))
            if column.kind == "number":
                found.append(Input("mean", column.name, LONG))
        return (*found, *(Input("track", fact) for fact in TRACK_FACTS))

    @cached_property
    def raw(self) -> NDArray[np.int64]:
        """The inputs that are an attribute as it is, without any past."""
        return np.array([n for n, one in enumerate(self.inputs) if one.asked == "now"], dtype=np.int64)

    def values(self, columns: Mapping[str, NDArray[Any]], events: int) -> NDArray[np.float64]:
        """The columns of a batch side by side; what it lacks is unknown."""
        values = np.full((events, len(self.columns)), np.nan)
        for n, column in enumerate(self.columns):
            if column.key in columns:
                values[:, n] = columns[column.key]
        return values

    def advance(
        self,
        values: NDArray[np.float64],
        times: NDArray[np.int64],
        first_of: NDArray[np.int64],
        states: NDArray[np.int32],
        accepting: NDArray[np.bool_],
        max_gap_us: int | None,
        past: PastState,
    ) -> NDArray[np.float32]:
        """The inputs after each event; `past`, a row per track, is brought up to date."""
        out = np.empty((len(times), len(self.inputs)), dtype=np.float32)
        gap = NO_GAP if max_gap_us is None else max_gap_us
        past_kernel()(self.kinds, *self.place, accepting, gap, values, times, first_of, states, past, out)
        return out
