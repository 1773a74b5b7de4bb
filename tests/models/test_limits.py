"""What misses a limit by less than the stated share reaches it."""

import numpy as np

from foresail.models.limits import STORED, least, reaches


def test_a_probability_reaches_the_threshold_from_just_below_and_not_from_farther() -> None:
    border = least(0.7, STORED)
    assert border < 0.7
    assert reaches(np.array([0.7, border, np.nextafter(border, 0), 0.6]), 0.7).tolist() == [True, True, False, False]
