"""Warnings are marked by what came of them, and explained with their waiting-time curve."""

from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import numpy as np
import pytest

from foresail.models.inputs.plan import InputPlan
from foresail.models.trees.part import TreePart
from foresail.models.trees.spans import spans_of
from foresail.models.trees.trees import Trees, joined_forest
from foresail.pipeline.reports.forecast_section import examples, explained, warning_groups, warnings_table
from foresail.pipeline.reports.warned import Warned, Warnings
from tests.models.forecasting import model_of, random_text
from tests.models.letters import lettered

MODEL = model_of(
    lettered("a ; b", features="c"),
    [random_text(Random(n), 80, "abcx") for n in range(5)],
    order=2,
    horizon=10,
    within=5,
)
EVIL = "<script>alert(1)</script>"


def warned(probability: float = 0.5, came_after: int | None = None, lon: float | None = 1.0) -> Warned:
    time = datetime(2026, 3, 2, 10, 4, 5, tzinfo=UTC)
    return Warned("lettered", EVIL, EVIL, time, 9, probability, 1, "v", lon, 50.0, came_after)


def test_right_and_wrong_warnings_are_groups_of_their_own() -> None:
    right, wrong = warning_groups(Warnings((warned(0.9, 3), warned(0.4), warned(0.3, lon=None)), 3), {})
    assert [mark.weight for mark in right.marks] == [0.9]
    assert "it came 3 events later" in right.marks[0].lines
    assert (len(wrong.marks), wrong.total) == (1, 2), "one has no place"


def test_the_examples_are_an_early_sure_right_one_and_the_surest_wrong_one() -> None:
    chosen = examples([warned(0.9, 1), warned(0.6, 5), warned(0.3), warned(0.8)])
    assert [(each.probability, each.came_after) for each in chosen] == [(0.6, 5), (0.8, None)]


def test_an_explanation_has_words_context_and_curve_and_escapes_names() -> None:
    made = explained(Warnings((warned(0.6, 4), warned(0.7)), 2), {"lettered": MODEL}, {})
    assert "is expected within 5 events with a probability of" in made
    assert "It came 4 events later." in made
    assert "It did not come in that time." in made
    assert made.count('aria-label="waiting time"') == 2
    assert made.count(">it came</text>") == 1
    assert EVIL not in made


def test_a_warning_of_trees_is_explained_by_what_moved_it() -> None:
    spans = spans_of(10, 5)
    same, none = np.ones(len(spans)), np.zeros(len(spans))
    trees = Trees("hazard", joined_forest([], none), spans, same, none)
    model = MODEL.with_trees(TreePart(InputPlan(()), trees, 1))
    right = replace(warned(0.6, 4), because="for it: speed kn 3.2; against it: " + EVIL)
    made = explained(Warnings((right, warned(0.7)), 2), {"lettered": model}, {})
    assert "A match is expected within 5 events with a probability of 60%" in made
    assert "What counts most for it: speed kn 3.2; against it: " in made
    assert "No input counts more than others." in made
    assert "It came 4 events later." in made
    assert "waiting time" not in made, "the chain beside the trees is not what forecasts"
    assert EVIL not in made


@pytest.mark.parametrize("shown", [(), (warned(0.6, 4), warned())])
def test_the_table_has_a_line_for_each_model(shown: tuple[Warned, ...]) -> None:
    made = warnings_table(Warnings(shown, len(shown)), {"lettered": MODEL})
    assert "<td>Lettered</td>" in made
    assert ("1 (50%)" in made) == bool(shown)
