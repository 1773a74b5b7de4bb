"""The evaluation as values: what `foresail evaluate` writes to `evaluation.json` and the page is drawn from.

`as_json` of an `Evaluation` is the whole contract: keys may be added, never renamed.

Forecasts of the kind `interval` against when the match came: coverage, spread, error, interval score.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresail.models.scoring.differences import Difference
from foresail.models.scoring.measures import Classification, Earliness, ReliabilityBin, ScoresAtDistance

NO_INTERVAL = 0
"""In `earliest`, where no interval reaches the threshold."""


@dataclass(frozen=True, slots=True)
class IntervalScores:
    """Scores over the events that have an interval; None where there are none."""

    nominal: float
    """The mass that an interval is to hold."""
    forecasts: int
    none: int
    """Events without an interval: nothing reaches the nominal mass."""
    unresolved: int
    """Intervals after which no match came as far as forecasts look: not covered, and without an error to measure."""
    coverage: float | None
    """The share of all intervals that the match fell into; to be compared with the nominal mass."""
    mean_spread: float | None
    rmse: float | None
    mae: float | None
    interval_score: float | None
    """Width plus 2/alpha times the miss, alpha = 1 - nominal; the lower the better (Gneiting, Raftery 2007)."""


def score_intervals(
    earliest: NDArray[np.int64], latest: NDArray[np.int64], until: NDArray[np.int64], nominal: float
) -> IntervalScores:
    """The scores; `until` is the number of events to the match, 0 where there is none."""
    has, resolved = earliest != NO_INTERVAL, until > 0
    scored = has & resolved
    low, high, came = (a[scored].astype(np.float64) for a in (earliest, latest, until))
    counts = (int(has.sum()), int((~has).sum()), int((has & ~resolved).sum()))
    if not len(came):
        return IntervalScores(nominal, *counts, 0.0 if counts[0] else None, None, None, None, None)
    miss = np.maximum(low - came, 0) + np.maximum(came - high, 0)
    error = (low + high) / 2 - came
    alpha = max(1 - nominal, 1e-9)
    return IntervalScores(
        nominal,
        *counts,
        coverage=float((miss == 0).sum()) / counts[0],
        mean_spread=float((high - low).mean()),
        rmse=float(np.sqrt((error**2).mean())),
        mae=float(np.abs(error).mean()),
        interval_score=float((high - low + 2 / alpha * miss).mean()),
    )


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
    wider: tuple[IntervalScores, ...] = ()
    """The same of intervals that are to hold more."""
    crps: float | None = None
    """The mean continuous ranked probability score of the waiting time, in events; the lower the better."""


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
    differences: tuple[Difference, ...] = ()
    """How much better models are than the boosting that one would try instead, for each w."""


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
