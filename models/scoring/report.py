"""The evaluation as values: what `foresail evaluate` writes to `evaluation.json` and the page is drawn from.

`as_json` of an `Evaluation` is the whole contract: keys may be added, never renamed.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

from foresail.models.scoring.calibration import ReliabilityBin
from foresail.models.scoring.classification import Classification
from foresail.models.scoring.distance import ScoresAtDistance
from foresail.models.scoring.earliness import Earliness
from foresail.models.scoring.intervals import IntervalScores

ALL = "all"
"""The fold that holds the test events of all folds."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One line of the table: a model on one fold, or on the test events of all folds."""

    pattern: str
    model: str
    fold: str
    """`0`, `1`, ... or `all`."""
    within: int
    scores: Classification
    calibration_error: float | None
    log_loss: float | None = None
    """Of the next symbol; None for models that have no symbols."""
    seconds: float = 0.0
    """To train and to forecast."""

    @property
    def as_json(self) -> dict[str, Any]:
        """The row with its scores beside its names."""
        held = asdict(self)
        scores = held.pop("scores")
        return {**held, **scores}


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    """The scores at one threshold."""

    threshold: float
    precision: float
    recall: float
    f1: float
    mcc: float


@dataclass(frozen=True, slots=True)
class WithinPoint:
    """The scores when a match counts that comes within so many events, at the best threshold of the validation data."""

    within: int
    positives: float
    """The share of events that a match follows so soon."""
    scores: Classification
    calibration_error: float | None


@dataclass(frozen=True, slots=True)
class ModelScores:
    """One model over the test events of all folds: the curves behind its row."""

    model: str
    symbols: int | None
    contexts: int | None
    chain_states: int | None
    reliability: tuple[ReliabilityBin, ...]
    thresholds: tuple[ThresholdPoint, ...]
    by_distance: tuple[ScoresAtDistance, ...]
    by_within: tuple[WithinPoint, ...]
    earliness: Earliness
    intervals: IntervalScores | None


@dataclass(frozen=True, slots=True)
class LearnedFeature:
    """A leaf of the tree as a condition of the alphabet."""

    name: str
    text: str
    events: int
    """Training events in it."""
    mean_until: float
    """Their mean number of events until the next match, capped at the horizon."""


@dataclass(frozen=True, slots=True)
class ForecastPlace:
    """Where a forecast was right or wrong, for the map."""

    lon: float
    lat: float
    outcome: str
    """`tp`, `fp` or `fn`; the many true negatives are left out."""
    probability: float
    track: str
    time: str


@dataclass(frozen=True, slots=True)
class PatternEvaluation:
    """All models of one pattern."""

    pattern: str
    version: int
    says: str
    instance: str | None
    """The layer of a pattern family, whose features are forecast one by one."""
    within: int
    horizon: int
    events: int
    """Events (of a family: events and near features) that were looked at."""
    scored: int
    censored: int
    """Events too near the end of their track to know what came."""
    accepting: int
    """Events on which the pattern was being detected, when no forecast is made."""
    matches: int
    step_s: float | None
    """The usual time from one event to the next."""
    models: tuple[ModelScores, ...]
    features: tuple[LearnedFeature, ...]
    places_of: str
    """The model whose forecasts the places show."""
    places: tuple[ForecastPlace, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What one run of `foresail evaluate` found."""

    by: str
    folds: int
    gap: int
    """Events left out between training and test."""
    criterion: str
    events: int
    """Events at hand, of which `sampled_events` of `sampled_tracks` whole tracks were evaluated."""
    sampled_events: int
    tracks: int
    sampled_tracks: int
    seconds: float
    rows: tuple[ScoreRow, ...]
    patterns: tuple[PatternEvaluation, ...]
    skipped: dict[str, str] = field(default_factory=dict)
    """Patterns that could not be evaluated, with the reason."""

    @property
    def as_json(self) -> dict[str, Any]:
        """What is written to `evaluation.json`."""
        held = asdict(self)
        return held | {"rows": [row.as_json for row in self.rows]}
