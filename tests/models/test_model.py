"""A model is built from counts, says what it was trained on, and changes its mind without learning anew."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from foresail.models.counts import count
from foresail.models.decisions import LIKELY_SHARE, NONE, Kind, interval, most_likely, within
from foresail.models.errors import ModelSettingError, OtherPatternError
from foresail.models.model import ModelSettings, build
from foresail.models.suffix_tree import LearnSettings
from foresail.models.waiting import waiting_times
from tests.models.forecasting import model_of, random_text
from tests.models.letters import MINUTE, lettered, symbols_of

PATTERN = lettered("a ; b", features="c")
TEXTS = [random_text(Random(n), 60, "abcx") for n in range(5)]
MODEL = model_of(PATTERN, TEXTS, horizon=20, within=5)


def test_decisions_are_those_of_the_stored_distribution() -> None:
    waiting = waiting_times(MODEL.chain, 20)
    assert MODEL.waiting == pytest.approx(waiting, abs=1e-7)
    assert MODEL.decisions.probability == pytest.approx(within(MODEL.waiting, 5))
    assert MODEL.decisions.positive.tolist() == (MODEL.decisions.probability >= 0.2).tolist()
    likely = interval(MODEL.waiting[:, :5], LIKELY_SHARE * MODEL.decisions.probability)
    assert MODEL.decisions.earliest.tolist() == likely.earliest.tolist()
    assert MODEL.decisions.most_likely.tolist() == most_likely(MODEL.waiting).events.tolist()


def test_no_forecast_is_made_while_a_match_is_told_unless_asked_for() -> None:
    assert (MODEL.decisions.emitted == ~MODEL.chain.accepting).all()
    assert MODEL.chain.accepting.any()
    assert MODEL.with_settings(forecast_in_accepting=True).decisions.emitted.all()


def test_settings_change_without_learning() -> None:
    changed = MODEL.with_settings(kind="interval", threshold=0.3)
    assert changed.waiting is MODEL.waiting
    assert changed.chain is MODEL.chain
    expected = interval(MODEL.waiting, 0.3)
    assert changed.decisions.latest.tolist() == expected.latest.tolist()
    assert changed.decisions.positive.tolist() == (expected.earliest != NONE).tolist()
    assert changed.version == MODEL.version
    point = MODEL.with_settings(kind="most_likely").decisions
    assert point.probability == pytest.approx(most_likely(MODEL.waiting).probability)


def test_the_likeliest_event_stands_beside_the_interval_with_half_of_all_that_the_horizon_holds() -> None:
    said = MODEL.with_settings(kind="most_likely", threshold=0.1).decisions
    likely = interval(MODEL.waiting, LIKELY_SHARE * within(MODEL.waiting, 20))
    assert said.earliest.tolist() == likely.earliest.tolist()
    assert said.latest.tolist() == likely.latest.tolist()
    # the pattern's own `within` has no say: it would cut the interval off
    assert said.latest.max() > 5


def test_where_there_is_no_interval_there_is_no_probability_of_one_either() -> None:
    said = MODEL.with_settings(kind="interval", threshold=0.3).decisions
    none = said.earliest == NONE
    assert none.any()
    assert not none.all()
    assert np.isnan(said.probability[none]).all()
    assert (said.probability[~none] >= 0.3).all()


@pytest.mark.parametrize("kind", ["within", "most_likely"])
def test_the_other_kinds_say_zero_where_nothing_is_expected(kind: Kind) -> None:
    never = model_of(PATTERN, ["axaxcx" * 5]).with_settings(kind=kind).decisions
    assert (never.probability == 0).all()


def test_a_probability_that_is_the_threshold_is_positive() -> None:
    """7 of 10 events are `a`: 0.7 in 32 bits is below 0.7 in 64."""
    low = lettered("a", letters="a")
    exact = model_of(low, ["aaaaaaaxxx" * 10], 0, horizon=1, threshold=0.7, forecast_in_accepting=True, smoothing=0.0)
    assert exact.decisions.probability.max() < 0.7
    assert exact.decisions.positive.all()
    assert exact.with_settings(kind="interval").decisions.positive.all()
    assert exact.with_settings(kind="most_likely").decisions.positive.all()
    assert not exact.with_settings(threshold=0.70001).decisions.positive.any()


def test_smoothing_that_a_large_alphabet_caps_is_said() -> None:
    capped = model_of(PATTERN, TEXTS, smoothing=0.02)
    assert len(capped.codes) == 4
    assert "smoothing 0.02 over 4 symbols is capped: all of them together get 0.05" in " ".join(capped.header.notes)
    assert not any("smoothing" in note for note in MODEL.header.notes)


def test_a_shorter_horizon_is_read_and_a_longer_one_computed_from_the_chain() -> None:
    short = MODEL.with_settings(horizon=3)
    assert short.settings.within == 3
    assert short.decisions.probability == pytest.approx(within(MODEL.waiting, 3))
    long = MODEL.with_settings(horizon=40, within=30)
    assert long.decisions.probability == pytest.approx(waiting_times(MODEL.chain, 40)[:, :30].sum(axis=1), abs=1e-6)


def test_a_larger_horizon_never_lowers_the_probability() -> None:
    ahead = [MODEL.with_settings(within=n).decisions.probability for n in range(1, 21)]
    assert all((later >= earlier).all() for earlier, later in pairwise(ahead))


def test_minutes_come_from_the_sampling_step() -> None:
    assert MODEL.header.constant_step_s == 60
    known = MODEL.decisions.earliest != NONE
    assert MODEL.decisions.earliest_s[known] == pytest.approx(60.0 * MODEL.decisions.earliest[known])
    assert np.isnan(MODEL.decisions.earliest_s[~known]).all()


def test_minutes_follow_the_symbols_where_the_step_varies() -> None:
    symbols = symbols_of(PATTERN, "xaxbab" * 20)
    slow = np.isin(symbols, symbols_of(PATTERN, "b"))
    times = np.cumsum(np.where(slow, 600, 60)).astype(np.int64) * 1_000_000
    counts = count(symbols, times, np.array([0, len(symbols)]), PATTERN, 2)
    model = build(PATTERN, counts, ModelSettings(learn=LearnSettings(order=1)))
    assert model.header.constant_step_s is None
    assert model.seconds is not None
    x = 0
    for symbol in symbols_of(PATTERN, "xa"):
        x = model.chain.step[x, symbol]
    assert model.seconds[x, 0] == pytest.approx(600, rel=0.01)


def test_no_match_in_training_is_said_and_forecast_as_zero() -> None:
    model = model_of(PATTERN, ["axaxcx" * 5])
    assert model.header.training.matches == 0
    assert "no match in the training data" in model.header.notes[0]
    assert (model.decisions.probability == 0).all()
    assert not model.decisions.positive.any()
    assert (model.decisions.earliest == NONE).all()
    assert (model.with_settings(threshold=0.0).decisions.positive == 0).all()


def test_an_order_beyond_the_longest_track_is_said() -> None:
    model = model_of(PATTERN, ["ab", "xab"], order=4)
    assert any("no track is as long as order 4" in note for note in model.header.notes)


def test_a_symbol_never_seen_can_be_forecast_from() -> None:
    model = model_of(PATTERN, ["abxabx" * 5])
    (unseen,) = symbols_of(PATTERN, "c")
    x = model.chain.step[0, unseen]
    assert 0 < model.decisions.probability[x] <= 1


def test_a_model_for_another_pattern_is_refused() -> None:
    with pytest.raises(OtherPatternError, match="over another alphabet \\(features c instead of c, d\\)"):
        MODEL.check(lettered("a ; b", features="cd"))
    with pytest.raises(OtherPatternError, match="this is of lettered version 1, not lettered version 2"):
        MODEL.check(lettered("a ; b", features="c", version=2))
    MODEL.check(PATTERN)


def test_counts_of_another_alphabet_are_refused() -> None:
    counts = count(symbols_of(PATTERN, "ab"), np.arange(2) * MINUTE, np.array([0, 2]), PATTERN, 2)
    with pytest.raises(OtherPatternError, match="counts: this is of lettered version 1 over another alphabet"):
        build(lettered("a ; b"), counts, ModelSettings(learn=LearnSettings(order=1)))


def test_versions_name_the_pattern_the_serial_and_the_content() -> None:
    assert MODEL.version.startswith("lettered-v1-0000-")
    assert MODEL.with_serial(12).version == MODEL.version.replace("-0000-", "-0012-")
    assert model_of(PATTERN, TEXTS, horizon=20, within=5).version == MODEL.version
    assert model_of(PATTERN, TEXTS[:4]).version != MODEL.version


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"horizon": 0}, "horizon is 0 events"),
        ({"within": 61}, "within is 61 events, the horizon 60"),
        ({"threshold": 1.5}, "threshold is 1.5"),
        ({"kind": "never"}, "kind is 'never'. Choose one of within, interval, most_likely"),
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(ModelSettingError, match=says):
        ModelSettings(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ModelSettingError):
        MODEL.with_settings(**wrong)  # type: ignore[arg-type]
