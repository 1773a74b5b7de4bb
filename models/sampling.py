"""Whether events come as often as those that a model was trained on: its contexts and horizon are counted in events."""

import numpy as np
from numpy.typing import NDArray

from foresail.models.model import Model

TOLERANCE = 0.25
"""Steps that differ by less than this share are the same."""


def usual_step_s(times: NDArray[np.int64], first_of: NDArray[np.int64]) -> float | None:
    """The median seconds between neighbouring events of a track; None where no track has two."""
    if not len(times):
        return None
    later = np.ones(len(times), dtype=np.bool_)
    later[first_of[:-1][np.diff(first_of) > 0]] = False
    places = np.flatnonzero(later)
    return float(np.median(times[places] - times[places - 1])) / 1e6 if len(places) else None


def step_warning(model: Model, step_s: float | None) -> str | None:
    """What to tell the user when events come at another step than in training; None when all is well."""
    trained_s = model.header.sampling_step_s
    if step_s is None or trained_s is None or abs(step_s - trained_s) <= TOLERANCE * trained_s:
        return None
    return (
        f"{model.pattern}: events come every {step_s:g} s, the model {model.version} was trained on one every "
        f"{trained_s:g} s. Its forecasts will be off: resample the events, or train on such as these."
    )
