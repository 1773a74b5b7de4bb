"""Why trees say what they say: credits add up to what the paths moved, and inputs are told in words."""

import numpy as np
import pytest

from foresail.models.inputs.columns import InputColumn
from foresail.models.inputs.plan import Input, InputPlan
from foresail.models.kernels.compilation import crediting_kernel
from foresail.models.kernels.trees import DEEPEST
from foresail.models.trees.boosting import BoostSettings, boosted
from foresail.models.trees.fitting import Examples
from foresail.models.trees.forest import ForestSettings, grown_forest
from foresail.models.trees.part import TreePart
from foresail.models.trees.reasons import in_words, reasons
from foresail.models.trees.spans import spans_of
from foresail.models.trees.trees import Trees

EVENTS = 600
EVERY = np.ones(EVENTS, dtype=np.bool_)
PLAN = InputPlan((InputColumn("speed_kn", "number"),))


@pytest.fixture(scope="module")
def examples() -> Examples:
    """Waiting times whose pace follows the first input alone."""
    rng = np.random.default_rng(5)
    inputs = rng.normal(0, 1, (EVENTS, len(PLAN.inputs))).astype(np.float32)
    until = rng.geometric(1 / (1 + np.exp(2 - 2 * inputs[:, 0].astype(np.float64))))
    inputs[rng.random(inputs.shape) < 0.05] = np.nan
    spans = spans_of(20, 5)
    return Examples(inputs, spans.outcomes(until, np.full(EVENTS, 40)), EVERY, spans)


@pytest.fixture(scope="module", params=["hazard", "forest"])
def trees(request: pytest.FixtureRequest, examples: Examples) -> Trees:
    told = (examples.inputs, examples.outcomes, examples.spans, EVERY)
    if request.param == "forest":
        return grown_forest(*told, ForestSettings(trees=8, least_events=5))
    return boosted(*told, None, BoostSettings(rounds=12, least_events=5), 12)


def test_credits_add_up_to_what_the_paths_moved(trees: Trees, examples: Examples) -> None:
    rows = np.arange(EVENTS)
    hazard = trees.hazards(examples.inputs)
    for span in range(len(trees.spans)):
        weight = np.tile(np.arange(len(trees.spans)) == span, (EVENTS, 1)).astype(np.float64)
        credit = np.zeros((EVENTS, examples.inputs.shape[1] + 1))
        room = np.empty((DEEPEST, 4), dtype=np.int32)
        crediting_kernel()(trees.forest, weight, examples.inputs, rows, room, credit)
        column = span if trees.forest.value.shape[1] > 1 else 0
        told = trees.forest.base[span] + trees.forest.value[trees.forest.roots, column].sum() + credit.sum(axis=1)
        if trees.kind == "forest":
            np.testing.assert_allclose(told, trees.within(hazard, trees.spans.ends[span]), atol=1e-4)
        else:
            np.testing.assert_allclose(1 / (1 + np.exp(-told)), hazard[:, span], atol=1e-5)


def test_the_input_that_decides_gets_most_of_the_credit_with_its_sign(trees: Trees, examples: Examples) -> None:
    rows = np.flatnonzero(~np.isnan(examples.inputs[:, 0]))
    credit = trees.credits(examples.inputs, rows, 5)
    mean = np.abs(credit).mean(axis=0)
    assert mean[0] > 2 * mean[1:].max()
    deciding = examples.inputs[rows, 0]
    assert (credit[deciding > 1, 0] > 0).mean() > 0.9
    assert (credit[deciding < -1, 0] < 0).mean() > 0.9


def test_reasons_name_the_inputs_that_count_with_their_values(trees: Trees, examples: Examples) -> None:
    part = TreePart(PLAN, trees, EVENTS)
    rows = np.array([int(np.nanargmax(examples.inputs[:, 0])), int(np.nanargmin(examples.inputs[:, 0]))])
    high, low = reasons(part, examples.inputs, rows, 5)
    assert high.startswith(f"for it: speed kn {examples.inputs[rows[0], 0]:.3g}")
    assert f"against it: speed kn {examples.inputs[rows[1], 0]:.3g}" in low
    assert reasons(part, examples.inputs, np.empty(0, dtype=np.int64), 5) == []


@pytest.mark.parametrize(
    ("one", "value", "said"),
    [
        (Input("now", "port_distance_m"), 7211.4, "port distance m 7,211"),
        (Input("now", "engine", words=("idle", "off")), 1.0, "engine off"),
        (Input("now", "engine", words=("idle", "off")), float("nan"), "engine unknown"),
        (Input("change", "speed_kn", 5), -3.14159, "speed kn down by 3.14 over 5 events"),
        (Input("change", "speed_kn", 1), 0.0, "speed kn unchanged since the event before"),
        (Input("change", "speed_kn", 15), float("nan"), "speed kn unknown 15 events ago"),
        (Input("slope", "speed_kn", 5), 0.25, "speed kn rising by 0.25 a minute"),
        (Input("mean", "speed_kn", 15), 9.5, "speed kn 9.5 on average over 15 events"),
        (Input("before", "nav_status"), 5.0, "nav status 5 before"),
        (Input("since", "nav_status"), 12.0, "nav status the same for 12 min"),
        (Input("track", "state_events"), 4.0, "the automaton has stood there for 4 events"),
        (Input("track", "match_events"), float("nan"), "the last match was an unknown number of events ago"),
    ],
)
def test_an_input_is_told_in_words(one: Input, value: float, said: str) -> None:
    assert in_words(one, value) == said
