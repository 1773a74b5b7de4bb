from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from foresail.models.forecasts import Forecasts
from foresail.models.kernels.decisions import Decisions
from foresail.patterns.recognition.matches import NO_FEATURE, NOT_COUNTED, Matches, no_registers
from foresail.patterns.recognition.protocol import Finding
from foresail.pipeline.stream.bucket.ordering import Ordered
from foresail.pipeline.stream.learning.outcomes import Outcomes, Rolling, chosen

MODEL: Any = SimpleNamespace(pattern="p", settings=SimpleNamespace(events_ahead=3))
PATTERN: Any = SimpleNamespace(name="p")


def forecasts(first: int, positive: list[int]) -> Forecasts:
    n = len(positive)
    none, unknown = np.zeros(n, dtype=np.int32), np.full(n, np.nan, dtype=np.float32)
    said = Decisions(
        emitted=np.ones(n, dtype=np.uint8),
        model=none,
        chain=none,
        state=none,
        probability=np.where(positive, 0.8, 0.1),
        positive=np.array(positive, dtype=np.uint8),
        earliest=none,
        latest=none,
        most_likely=none,
        earliest_s=unknown,
        latest_s=unknown,
        most_likely_s=unknown,
    )
    events = np.arange(n, dtype=np.int32)
    return Forecasts(events, none - 1, events, said, np.arange(first, first + n))


def match_at(*events: tuple[int, int]) -> Finding:
    """Matches by row of the batch and index in the track."""
    n = len(events)
    none = np.zeros(n, dtype=np.int64)
    matches = Matches(
        event=np.array([event for event, _ in events], dtype=np.int64),
        pattern=none.astype(np.int32),
        status=none.astype(np.uint8),
        index=np.array([index for _, index in events], dtype=np.int64),
        time=none,
        start_time=none,
        first_start_time=none,
        id_time=none,
        id_tie=none,
        count=none + NOT_COUNTED,
        omitted=none,
        feature=none.astype(np.int32) + NO_FEATURE,
        members=none[:0],
        members_end=none,
        register_index=no_registers(n),
        register_time=no_registers(n),
    )
    return Finding(SimpleNamespace(patterns=(PATTERN,)), matches)


def track(events: int) -> Ordered:
    return Ordered(pd.DataFrame({"n": range(events)}), np.array(["t"], dtype=object), np.array([0, events]))


def test_a_forecast_is_right_when_the_match_comes_within_its_events() -> None:
    outcomes = Outcomes(1, None)
    outcomes.read(forecasts(1, [1, 1, 0, 0, 0, 0, 0]), [MODEL], match_at((3, 4)), track(7))
    # positive at 1 and 2 with a match at 4; negative at 3 with a match at 4; negative at 4 with none until 7
    squares = outcomes.tally["p"].pop("squares")
    outcome = {name: outcomes.tally["p"][name] for name in ("tp", "fp", "fn", "tn")}
    assert outcome == {"tp": 2.0, "fp": 0.0, "fn": 1.0, "tn": 1.0}
    assert squares == pytest.approx(2 * 0.2**2 + 0.9**2 + 0.1**2)
    assert len(outcomes.saved()) == 3  # type: ignore[arg-type]


def test_a_forecast_without_an_interval_expects_nothing() -> None:
    said = forecasts(1, [0] * 4)
    said.decisions.probability[:] = np.nan
    outcomes = Outcomes(1, None)
    outcomes.read(said, [MODEL], match_at((3, 4)), track(4))
    assert outcomes.tally["p"]["squares"] == outcomes.tally["p"]["fn"] == 3.0


def test_what_is_open_is_settled_in_a_later_micro_batch() -> None:
    first = Outcomes(1, None)
    first.read(forecasts(1, [1, 0]), [MODEL], None, track(2))
    assert first.tally == {}
    later = Outcomes(1, first.saved())
    later.read(forecasts(3, [0, 0, 0]), [MODEL], match_at((0, 3)), track(3))
    assert (later.tally["p"]["tp"], later.tally["p"]["fn"]) == (1.0, 1.0)


def test_only_changes_are_told_across_micro_batches() -> None:
    before: dict[str, bool] = {}
    one = chosen(forecasts(1, [0, 1, 1, 0, 1]), "changes", track(5), before, None)
    assert one.index.tolist() == [2, 4, 5]
    two = chosen(forecasts(6, [1, 1, 0]), "changes", track(3), before, None)
    assert two.index.tolist() == [8]
    assert before == {}


def test_events_without_a_forecast_leave_open_what_was_open() -> None:
    first = Outcomes(1, None)
    first.read(forecasts(1, [1]), [MODEL], None, track(1))
    later = Outcomes(1, first.saved())
    later.read(forecasts(2, []), [MODEL], None, track(1))
    assert len(later.saved()) == 1  # type: ignore[arg-type]
    assert later.tally == {}


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


def test_settled_forecasts_are_also_counted_by_their_probability() -> None:
    outcomes = Outcomes(1, None)
    ordered = track(10)
    outcomes.read(forecasts(1, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0]), [MODEL], match_at((3, 4)), ordered)
    rolling = Rolling(100)
    rolling.add(outcomes.tally["p"])
    binned = rolling.by_probability()
    assert sum(binned["forecasts"]) == rolling.settled()
    assert binned["forecasts"][16] == 2
    assert binned["happened"][16] == 2
    assert sum(binned["happened"]) == rolling.portions[0]["tp"] + rolling.portions[0]["fn"]
