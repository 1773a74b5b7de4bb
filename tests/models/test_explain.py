"""A forecast is explained in words that an analyst reads, with the curve behind it."""

import re
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from foresail.models.explain import explain, symbol_text
from foresail.models.model import Model
from tests.models.forecasting import model_of, random_text
from tests.models.letters import lettered, symbols_of

PATTERN = lettered("a ; b", features="c")
MODEL = model_of(PATTERN, [random_text(Random(n), 80, "abcx") for n in range(5)], order=2, horizon=10, within=5)


def after(model: Model, text: str) -> int:
    x = 0
    for symbol in symbols_of(PATTERN, text):
        x = int(model.chain.step[x, symbol])
    return x


def test_the_sentence_names_the_probability_the_progress_and_the_context() -> None:
    x = after(MODEL, "xca")
    told = explain(MODEL, x)
    share = f"{MODEL.decisions.probability[x]:.0%}"
    assert f"lettered is expected within 5 events with a probability of {share}" in told.sentence
    assert "the pattern is under way (at least 1 event to go)" in told.sentence
    assert told.context == ("c", "a")
    assert "the last 2 events were c, then a" in told.sentence


def test_the_curve_is_the_waiting_time() -> None:
    x = after(MODEL, "xx")
    told = explain(MODEL, x)
    assert told.events.tolist() == list(range(1, 11))
    assert told.probability == pytest.approx(MODEL.waiting[x, :10])
    assert told.seconds.tolist() == [60.0 * n for n in range(1, 11)]


@pytest.mark.parametrize(
    ("kind", "threshold", "says"),
    [
        ("interval", 0.1, r"is expected in \d+ to \d+ events \(\d+ to \d+ min\) with a probability of"),
        ("interval", 1.0, "no interval within 10 events reaches 100% for lettered"),
        ("most_likely", 0.1, r"is expected in \d+ events, the likeliest number"),
    ],
)
def test_every_kind_has_its_words(kind: str, threshold: float, says: str) -> None:
    model = MODEL.with_settings(kind=kind, threshold=threshold)  # type: ignore[arg-type]
    assert re.search(says, explain(model, after(model, "xa")).sentence)


def test_start_match_and_no_context_have_words() -> None:
    assert "nothing of the pattern has been seen yet (at least 2 events to go)" in explain(MODEL, 0).sentence
    assert "the events before it tell nothing more" in explain(MODEL, 0).sentence
    assert "lettered has just matched: no forecast is made here" in explain(MODEL, after(MODEL, "ab")).sentence


def test_a_symbol_is_named_by_what_holds() -> None:
    (a,), (none,) = symbols_of(PATTERN, "a"), symbols_of(PATTERN, "x")
    assert symbol_text(MODEL, int(a)) == "a"
    assert symbol_text(MODEL, int(none)) == "none of a, b, c"


def test_seconds_are_unknown_where_no_time_was_counted() -> None:
    model = model_of(PATTERN, ["a", "b"], order=0)
    assert np.isnan(explain(model, 0).seconds).all()


def test_a_learned_condition_is_told_in_words() -> None:
    texts = ("7000 <= port.distance_m < 8000 and 7 <= speed_kn < 11", *MODEL.header.condition_texts[1:])
    header = replace(MODEL.header, condition_names=("leaf_18", "b", "c"), condition_texts=texts)
    model = replace(MODEL, header=header)
    (a,), (none,) = symbols_of(PATTERN, "a"), symbols_of(PATTERN, "x")
    assert symbol_text(model, int(a)) == "7 to 8 km off the port, 7 to 11 kn"
    assert symbol_text(model, int(none)) == "none of b, c"
