"""A model comes back from its file as it was; files that are cut short, changed or of another pattern are refused."""

import io
import json
from random import Random
from typing import Any

import numpy as np
import pytest

from foresail.models.archive import Archive, from_bytes, to_bytes
from foresail.models.counts import count
from foresail.models.errors import ModelFileError, OtherPatternError
from foresail.models.files import model_from_bytes, model_to_bytes
from foresail.models.model import Model, ModelSettings, build
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions.text import text_of
from tests.models.forecasting import model_of, random_text
from tests.models.letters import MINUTE, lettered, symbols_of

PATTERN = lettered("a ; b", features="c", max_gap_us=30 * MINUTE)


def some_model(step: int = MINUTE) -> Model:
    return model_of(PATTERN, [random_text(Random(n), 40, "abcx") for n in range(3)], step=step).with_scores({"f1": 0.5})


def test_a_model_comes_back_from_its_bytes() -> None:
    model = some_model()
    back = model_from_bytes(model_to_bytes(model), pattern=PATTERN)
    assert back.header == model.header
    assert [text_of(c) for c in back.conditions] == [text_of(c) for c in model.conditions]
    for one, other in zip(back.decisions, model.decisions, strict=True):
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    assert np.array_equal(back.chain.step, model.chain.step)
    assert model_to_bytes(back) == model_to_bytes(model)


def test_the_header_holds_the_pattern_to_compile_again() -> None:
    back = model_from_bytes(model_to_bytes(some_model()))
    again = compile_pattern(back.header.spec)
    back.check(again)
    assert back.max_gap_us == 30 * MINUTE
    assert back.header.spec.features[0].text == 'letter == "c"'


def test_seconds_are_kept_where_the_step_varies() -> None:
    random = np.random.default_rng(1)
    symbols = symbols_of(PATTERN, "abxabc" * 10)
    times = np.cumsum(random.integers(1, 100, len(symbols))) * 1_000_000
    model = build(PATTERN, count(symbols, times, np.array([0, len(symbols)]), PATTERN), ModelSettings())
    back = model_from_bytes(model_to_bytes(model))
    assert back.seconds is not None
    assert np.array_equal(back.seconds, model.seconds)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_cut_short_is_refused(share: float) -> None:
    content = model_to_bytes(some_model())
    with pytest.raises(ModelFileError, match=r"model\.npz: this is no model file, or it is cut short"):
        model_from_bytes(content[: int(share * len(content))], "model.npz")


def test_a_changed_file_is_refused() -> None:
    content = bytearray(model_to_bytes(some_model()))
    for place in range(200, len(content), 997):
        damaged = content.copy()
        damaged[place] ^= 0xFF
        with pytest.raises(ModelFileError):
            model_from_bytes(bytes(damaged))


def test_a_file_with_a_pickle_in_it_is_not_opened() -> None:
    buffer = io.BytesIO()
    np.savez(buffer, header=np.array([{"kind": "model"}], dtype=object))
    with pytest.raises(ModelFileError, match="this is no model file"):
        model_from_bytes(buffer.getvalue())


def test_counts_are_not_a_model() -> None:
    content = to_bytes(Archive("counts", {}, {"a": np.zeros(1)}))
    with pytest.raises(ModelFileError, match="this is a counts file of format 1, not a model file"):
        model_from_bytes(content)


def rewritten(change: dict[str, Any], values: dict[str, Any] | None = None) -> bytes:
    archive = from_bytes(model_to_bytes(some_model()), "model", "test")
    changed = json.loads(json.dumps(archive.values)) | (values or {})
    return to_bytes(Archive("model", changed, {**archive.arrays, **change}))


def test_tables_that_point_outside_are_refused() -> None:
    step = some_model().chain.step.copy()
    step[0, 0] = len(step)
    with pytest.raises(ModelFileError, match="do not fit together"):
        model_from_bytes(rewritten({"chain_step": step}))


def test_a_header_that_lacks_something_is_refused() -> None:
    with pytest.raises(ModelFileError, match="the model cannot be understood"):
        model_from_bytes(rewritten({}, {"settings": {"learn": {}, "unknown": 1}}))


def test_a_model_for_another_version_is_refused_with_both_versions() -> None:
    content = model_to_bytes(some_model())
    with pytest.raises(OtherPatternError, match="this is of lettered version 1, not lettered version 2"):
        model_from_bytes(content, pattern=lettered("a ; b", features="c", version=2))
