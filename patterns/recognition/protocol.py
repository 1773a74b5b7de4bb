"""What every recogniser offers: plain patterns, families over a layer, models that forecast, and languages to come.

Machine, state and driver are three things. A recogniser is the machine: immutable but for memos, shared by all keys.
Its state has one row per key and belongs to whoever drives it; `Monitor` drives all recognisers of a catalog alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.recognition.events import EventBatch, Keys
from foresail.patterns.recognition.forms import PartForm

NEVER_SEEN = np.iinfo(np.int64).min
"""Until when a key has been read of which nothing has."""
State: TypeAlias = Any
"""Named tuples of arrays, nested: `joining.joined` and a state store can take any of them."""
LoadModel: TypeAlias = Callable[[str, str], Any]
"""The model of a pattern by its version; None where it is not to be had any more."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a recogniser reads of an event."""

    conditions: tuple[Condition, ...]
    """In the order of their bits in the words."""
    layer: str | None = None
    """The layer whose features it has instances for."""
    columns: tuple[str, ...] = ()
    """Values beyond conditions."""


@dataclass(frozen=True, slots=True)
class Clock:
    """How far time has come: before this look at the keys and now, in microseconds."""

    before_us: int
    now_us: int


class Progress(NamedTuple):
    """How far each key has been read: what all recognisers of a monitor know alike."""

    seen: NDArray[np.int64]
    last_time: NDArray[np.int64]
    tie: NDArray[np.int64]
    """Events read before the last one that bear the same time."""


class Results(Protocol):
    """What a recogniser has found in a batch, as columns."""

    kind: ClassVar[str]
    """`match` or `forecast`."""

    @property
    def event(self) -> NDArray[Any]:
        """Per row the event of the batch on which it was found."""

    def __len__(self) -> int: ...


class Recogniser(Protocol):
    """A machine that reads events and keeps a row of state per key.

    What it finds depends on the events of each key alone: never on how they were cut into batches, nor on other keys.
    """

    @property
    def needs(self) -> Needs:
        """What it reads."""

    @property
    def form(self) -> PartForm:
        """What its states belong to."""

    def fresh(self, keys: int, names: Keys = None) -> State:
        """The state of keys of which nothing has been read; their names where these decide which model serves them."""

    def advance(self, events: EventBatch, state: State) -> tuple[Results, State]:
        """What the events complete, and the state after them; `state` has one row per key of the batch."""

    def rearranged(self, state: State, rows: NDArray[np.int64], names: Keys = None) -> State:
        """A state whose row i is row `rows[i]` of `state`, or fresh where that is negative."""

    def joining(self, progress: Progress) -> State:
        """The state of keys that other recognisers have read so far, and this one begins with now."""

    def migrated(self, state: State, before: PartForm, load: LoadModel) -> State:
        """The state of keys that a recogniser of the form `before` has read, as this one goes on with it."""

    def expired(self, state: State, clock: Clock, touched: NDArray[np.bool_]) -> Results | None:
        """What a clock closes though no event has come; `event` of the results is the row in `state`."""

    def not_yet_emitted(
        self, results: Any, events: EventBatch, last_time: NDArray[np.int64], until: NDArray[np.int64]
    ) -> Results:
        """`results` without what a clock has emitted; `last_time` is until when keys were read before `events`."""

    def runs(self, state: State) -> int:
        """How many runs are under way."""


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What one recogniser has found."""

    by: Any
    """The recogniser itself: its patterns or models are what the numbers in `results` count."""
    results: Any

    @property
    def kind(self) -> str:
        """`match` or `forecast`."""
        return str(self.results.kind)

    @property
    def layer(self) -> str | None:
        """The layer whose features the results speak of."""
        layer: str | None = self.by.needs.layer
        return layer
