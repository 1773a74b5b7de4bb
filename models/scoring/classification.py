"""Forecasts of the kind `within` against what came true: the confusion of each event and the scores made of it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.models.limits import reaches

Probabilities = NDArray[np.float64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Classification:
    """Scores of one model at one threshold; None where the events do not define a score."""

    threshold: float
    tp: int
    fp: int
    tn: int
    fn: int
    precision: float
    recall: float
    f1: float
    specificity: float | None
    mcc: float
    roc_auc: float | None
    pr_auc: float | None
    brier: float | None

    @property
    def events(self) -> int:
        """How many events were scored."""
        return self.tp + self.fp + self.tn + self.fn


def score_within(probability: Probabilities, truth: Booleans, threshold: float) -> Classification:
    """The scores when a forecast is positive from `threshold` on."""
    return score_decided(probability, reaches(probability, threshold), truth, threshold)


def score_decided(probability: Probabilities, positive: Booleans, truth: Booleans, threshold: float) -> Classification:
    """The scores of forecasts already decided, as where each fold had a threshold of its own."""
    from sklearn.metrics import (  # noqa: PLC0415 - takes seconds to import: commands that score nothing don't pay
        average_precision_score,
        brier_score_loss,
        confusion_matrix,
        f1_score,
        matthews_corrcoef,
        precision_score,
        recall_score,
        roc_auc_score,
    )

    tn, fp, fn, tp = (int(n) for n in confusion_matrix(truth, positive, labels=[False, True]).ravel())
    both = bool(truth.any() and not truth.all())
    return Classification(
        threshold=float(threshold),
        tp=tp,
        fp=fp,
        tn=tn,
        fn=fn,
        precision=float(precision_score(truth, positive, zero_division=0)),
        recall=float(recall_score(truth, positive, zero_division=0)),
        f1=float(f1_score(truth, positive, zero_division=0)),
        specificity=tn / (tn + fp) if tn + fp else None,
        mcc=float(matthews_corrcoef(truth, positive)) if both and positive.any() and not positive.all() else 0.0,
        roc_auc=float(roc_auc_score(truth, probability)) if both else None,
        pr_auc=float(average_precision_score(truth, probability)) if truth.any() else None,
        brier=float(brier_score_loss(truth, probability, pos_label=True)) if len(truth) else None,
    )
