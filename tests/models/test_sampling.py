"""Events at another step than the model was trained on are told apart, with both steps named."""

import numpy as np
import pytest

from foresail.models.sampling import step_warning, usual_step_s
from tests.models.forecasting import model_of
from tests.models.letters import lettered

MODEL = model_of(lettered("a ; b"), ["abxabxab"])


def test_the_usual_step_is_the_median_within_tracks() -> None:
    times = np.array([0, 60, 120, 7000, 7060, 9060]) * 1_000_000
    assert usual_step_s(times, np.array([0, 3, 6])) == 60
    assert usual_step_s(times[:2], np.array([0, 1, 2])) is None
    assert usual_step_s(times[:0], np.array([0])) is None


@pytest.mark.parametrize("step_s", [None, 60.0, 70.0])
def test_about_the_same_step_is_fine(step_s: float | None) -> None:
    assert step_warning(MODEL, step_s) is None


def test_another_step_is_told_with_both() -> None:
    told = step_warning(MODEL, 10.0)
    assert told is not None
    assert "events come every 10 s" in told
    assert "trained on one every 60 s" in told
