"""What the saved state of a line belongs to: for each of its parts the patterns or models, in the order of columns.

A checkpoint outlives the line that wrote it, so its state tells its own form. A line that finds another form than its
own goes on with the patterns and models that both have, begins the others anew, and says which these are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foresail.models.family_forecaster import fresh_family_forecaster_state
from foresail.models.forecaster import fresh_forecaster_state
from foresail.models.model import Model
from foresail.patterns.recognition.family_states import FamilyStates
from foresail.patterns.recognition.forms import PatternForm, RecogniserForm
from foresail.patterns.recognition.recogniser import RecogniserState
from foresail.patterns.recognition.sets import fresh_set_states
from foresail.patterns.recognition.starts import nothing_begun, words_for
from foresail.patterns.recognition.track_state import fresh_states

Kind: TypeAlias = Literal["patterns", "families", "models", "family_models"]
LoadModel: TypeAlias = Callable[[str, str], Model | None]
"""The model of a pattern by its version; None where it is not to be had any more."""


_NO_PATTERNS = RecogniserForm()


@dataclass(frozen=True, slots=True)
class ModelForm:
    """One model, and how many symbols of history it keeps."""

    pattern: str
    version: str
    places: int


@dataclass(frozen=True, slots=True)
class PartForm:
    """One part of a line: patterns or models that read plain events, or the features of one layer."""

    kind: Kind
    layer: str | None = None
    recognised: RecogniserForm = _NO_PATTERNS
    models: tuple[ModelForm, ...] = ()


@dataclass(frozen=True, slots=True)
class LineForm:
    """The parts of a line, in the order of their states."""

    parts: tuple[PartForm, ...]

    def of(self, kind: Kind) -> tuple[PartForm, ...]:
        """The parts of that kind."""
        return tuple(part for part in self.parts if part.kind == kind)

    def as_plain(self) -> list[dict[str, Any]]:
        """The form as JSON can hold it."""
        return [asdict(part) for part in self.parts]


def form_from(plain: Sequence[Mapping[str, Any]]) -> LineForm:
    """What `as_plain` made."""

    def recognised(held: Mapping[str, Any]) -> RecogniserForm:
        groups = (held["patterns"], held["counting"])
        return RecogniserForm(*(tuple(PatternForm(**some) for some in group) for group in groups))

    return LineForm(
        tuple(
            PartForm(
                part["kind"],
                part["layer"],
                recognised(part["recognised"]),
                tuple(ModelForm(**some) for some in part["models"]),
            )
            for part in plain
        )
    )


class Counted(NamedTuple):
    """How far each track has been read: what every part knows alike."""

    seen: NDArray[np.int64]
    last_time: NDArray[np.int64]
    tie: NDArray[np.int64]


NO_TRACKS = Counted(*(np.empty(0, dtype=np.int64) for _ in Counted._fields))


def counted(form: LineForm, parts: Sequence[Any]) -> Counted:
    """How far the tracks of these states have been read."""
    for part, state in zip(form.parts, parts, strict=True):
        if part.kind == "patterns":
            return Counted(*(getattr(state.detecting, name) for name in Counted._fields))
        if part.kind == "families":
            far, some = state.rows_at[:-1], np.diff(state.rows_at) > 0
            whole = Counted(*(np.zeros(len(far), dtype=np.int64) for _ in Counted._fields))
            for name in Counted._fields:
                getattr(whole, name)[some] = getattr(state.states, name)[far[some]]
            return whole
    return NO_TRACKS


def blank(part: PartForm, tracks: Counted) -> Any:
    """The state of a part that begins with tracks which others have read so far."""
    number, models = len(tracks.seen), len(part.models)
    places = sum(model.places for model in part.models)
    begun = nothing_begun(words_for(part.recognised.most_runs), number)
    if part.kind == "patterns":
        detecting = fresh_states(part.recognised, number)._replace(**tracks._asdict())
        return RecogniserState(detecting, begun, tuple(fresh_set_states(number) for _ in part.recognised.counting))
    if part.kind == "families":
        states = fresh_states(part.recognised, number)._replace(**tracks._asdict())
        return FamilyStates(np.arange(number + 1, dtype=np.int64), np.full(number, -1, dtype=np.int32), states, begun)
    if part.kind == "models":
        followed = fresh_forecaster_state(number, models, places)
        return followed._replace(seen=tracks.seen, last_time=tracks.last_time)
    near = fresh_family_forecaster_state(number, models, places)
    return near._replace(seen=tracks.seen, last_time=tracks.last_time)


class LeftModels:
    """The models that followed tracks before, as far as they are still to be had."""

    def __init__(self, part: PartForm, load: LoadModel) -> None:
        self.models = [load(model.pattern, model.version) for model in part.models]
        self.history_at = np.cumsum([0, *(model.places for model in part.models)]).astype(np.int64)


def what_begins_anew(before: LineForm, after: LineForm, load: LoadModel) -> list[str]:
    """What is different for someone who reads the results, a sentence each."""
    return [*_of_patterns(before, after), *_of_models(before, after, load)]


def _of_patterns(before: LineForm, after: LineForm) -> Iterator[str]:
    was, now = _patterns(before), _patterns(after)
    for name, pattern in now.items():
        old = was.get(name)
        if old is None:
            yield f"{name} version {pattern.version}: is new here and begins now"
        elif old.version != pattern.version:
            yield f"{name}: version {pattern.version} in place of {old.version} begins anew"
        elif old != pattern:
            yield f"{name} version {pattern.version}: is not what it was under that version, and begins anew"
    for name in was:
        if name not in now:
            yield f"{name}: is looked for no more; what was under way ends without a word"


def _of_models(before: LineForm, after: LineForm, load: LoadModel) -> Iterator[str]:
    was, now = _models(before), _models(after)
    for name, version in now.items():
        if name not in was:
            yield f"{name}: is forecast from now on, by {version}"
        elif was[name] != version and load(name, was[name]) is None:
            yield f"{name}: {version} begins anew, for {was[name]} is not in the store any more"
        elif was[name] != version:
            yield f"{name}: is forecast by {version} in place of {was[name]}, with the histories there are"
    for name in was:
        if name not in now:
            yield f"{name}: is forecast no more"


def _patterns(form: LineForm) -> dict[str, PatternForm]:
    parts = [part.recognised for part in form.parts]
    return {pattern.name: pattern for part in parts for pattern in (*part.patterns, *part.counting)}


def _models(form: LineForm) -> dict[str, str]:
    return {model.pattern: model.version for part in form.parts for model in part.models}
