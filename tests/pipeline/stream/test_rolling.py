import pytest

from pipeline.stream.rolling import Rolling


def outcomes(tp: float, fp: float, fn: float, tn: float) -> dict[str, float]:
    return {"tp": tp, "fp": fp, "fn": fn, "tn": tn, "squares": fp + fn}


def test_scores_are_those_of_the_last_forecasts_only() -> None:
    rolling = Rolling(window=100, drop=0.2)
    rolling.add(outcomes(0, 50, 50, 0))
    rolling.add(outcomes(50, 0, 0, 50))
    assert rolling.scores() == {"f1": 1.0, "mcc": 1.0, "brier": 0.0, "settled": 100.0}


def test_a_drop_is_told_once_until_the_model_recovers() -> None:
    rolling = Rolling(window=100, drop=0.2)
    told = []
    for some in (outcomes(50, 0, 0, 50), outcomes(25, 25, 25, 25), outcomes(25, 25, 25, 25), outcomes(50, 0, 0, 50)):
        rolling.add(some)
        told.append(rolling.became_degraded())
    assert told == [False, True, False, False]
    rolling.add(outcomes(0, 50, 50, 0))
    assert rolling.became_degraded()
    assert rolling.scores()["mcc"] == pytest.approx(-1.0)


def test_a_few_forecasts_say_nothing() -> None:
    rolling = Rolling(window=1000, drop=0.1)
    rolling.add(outcomes(0, 20, 20, 0))
    assert not rolling.became_degraded()
