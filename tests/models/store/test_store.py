"""The store keeps every version of a model and serves the newest."""

from pathlib import Path

import pytest

from models.errors import UnknownModelError
from models.store import ModelStore
from tests.models.forecasting import model_of
from tests.models.letters import counts_of_text, lettered

PATTERN = lettered("a ; b")


def test_the_newest_model_is_the_champion(tmp_path: Path) -> None:
    store = ModelStore(tmp_path)
    first = store.add(model_of(PATTERN, ["abxab"]))
    second = store.add(model_of(PATTERN, ["abxabab"]))
    assert first.startswith("lettered-v1-0001-")
    assert second.startswith("lettered-v1-0002-")
    assert store.load("lettered").version == second
    assert store.load("lettered", first).version == first
    assert store.versions("lettered") == [first, second]
    assert store.patterns() == ["lettered"]
    assert (tmp_path / "lettered" / "models" / first / "model.npz").exists()


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    store = ModelStore(tmp_path)
    with pytest.raises(UnknownModelError, match=r"no model of lettered\. Train one"):
        store.load("lettered")
    version = store.add(model_of(PATTERN, ["abxab"]))
    with pytest.raises(UnknownModelError, match=rf"no model other of lettered\. There are: {version}"):
        store.load("lettered", "other")


def test_counts_lie_beside_the_models(tmp_path: Path) -> None:
    store = ModelStore(tmp_path)
    assert store.counts("text") is None
    store.keep_counts(counts_of_text("abab", "ab", 2))
    kept = store.counts("text")
    assert kept is not None
    assert kept.events == 4
    assert (tmp_path / "text" / "counts.npz").exists()
