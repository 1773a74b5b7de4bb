"""Lost positions come in bursts, at the measured rates, and times always increase."""

import numpy as np
import pytest

from foresail.pipeline.simulator.scenario import due_times, fault_of, generator, lost


@pytest.mark.parametrize("step_s", [1.0, 10.0, 60.0, 3_600.0])
def test_times_increase_and_stay_in_the_simulation(step_s) -> None:
    times = due_times(generator(1, "test"), 500, step_s, faults=True)
    assert (np.diff(times) > 0).all()
    assert times[0] >= 0
    assert times[-1] < 500 * step_s + 500
    assert (times == np.floor(times)).all()


def test_intervals_have_the_measured_median_and_tail() -> None:
    random = generator(2, "test")
    times = due_times(random, 50_000, 60.0, faults=True)
    gaps = np.diff(times[~lost(random, len(times))])
    median, tail = np.percentile(gaps, [50, 95])
    assert 58 <= median <= 71
    assert 170 <= tail <= 540
    assert 0.01 <= (gaps > 270).mean() <= 0.02


def test_without_faults_positions_come_on_the_dot() -> None:
    assert set(np.diff(due_times(generator(3, "test"), 100, 60.0, faults=False))) == {60.0}


def test_generators_differ_by_purpose_and_number_and_repeat() -> None:
    draws = {generator(1, purpose, number).integers(2**62) for purpose in ("a", "b") for number in (0, 1)}
    assert len(draws) == 4
    assert generator(1, "a", 1).integers(2**62) == generator(1, "a", 1).integers(2**62)


def test_a_fault_that_hits_no_row_is_not_listed() -> None:
    assert fault_of("speed_unknown", np.zeros(3, dtype=bool), np.arange(3.0)) == []
