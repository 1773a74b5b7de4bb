from foresail.pipeline.stream.learning.rolling import Rolling


def outcomes(tp: float, fp: float, fn: float, tn: float) -> dict[str, float]:
    return {"tp": tp, "fp": fp, "fn": fn, "tn": tn, "squares": fp + fn}


def test_scores_are_those_of_the_last_forecasts_only() -> None:
    rolling = Rolling(window=100)
    rolling.add(outcomes(0, 50, 50, 0))
    rolling.add(outcomes(50, 0, 0, 50))
    assert rolling.scores() == {"f1": 1.0, "mcc": 1.0, "brier": 0.0, "settled": 100.0}


def test_a_few_forecasts_say_nothing() -> None:
    rolling = Rolling(window=100)
    rolling.add(outcomes(0, 20, 20, 0))
    assert not rolling.tells()
    rolling.add(outcomes(0, 10, 0, 0))
    assert rolling.tells()
