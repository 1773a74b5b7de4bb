"""`foresail models` as a user calls it: tables for people, one JSON object for programs, faults in one line."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from foresail.models.counts import count
from foresail.models.errors import ModelError, UnknownModelError
from foresail.models.groups import GroupModels
from foresail.models.model import Model, ModelSettings, build
from foresail.models.store import ModelStore
from foresail.pipeline.cli.models import command
from tests.models.forecasting import model_of
from tests.models.letters import MINUTE, lettered, symbols_of

PATTERN = lettered("a ; b")
DAY = "20260101T000000Z-20260102T000000Z"


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    store = ModelStore(tmp_path)
    for version, score in (
        (store.add(model_of(PATTERN, ["abxab"]), search={"seed": 1, "trials": [{"order": 2}]}), 0.5),
        (store.add(model_of(PATTERN, ["abxabab"]), promote=False), 0.6),
    ):
        store.keep_scores("lettered", version, DAY, {"mcc": score})
    return store


def called(store: ModelStore, *words: str) -> Result:
    return CliRunner().invoke(command, [*words, "--models", store.storage.place], catch_exceptions=False)


def told(store: ModelStore, *words: str) -> dict[str, Any]:
    result = called(store, *words, "--json")
    assert result.exit_code == 0
    return dict(json.loads(result.output.splitlines()[-1]))


def test_list_shows_every_model_with_its_alias(store: ModelStore) -> None:
    first, second = store.versions("lettered")
    rows = told(store, "list")["models"]
    assert [(row["version"], row["alias"], row["scores"]) for row in rows] == [
        (first, "champion", {"mcc": 0.5}),
        (second, "challenger", {"mcc": 0.6}),
    ]
    assert "challenger" in called(store, "list", "lettered").output


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    assert "Train one with `foresail train`" in called(ModelStore(tmp_path), "list").output


def test_show_tells_how_a_model_was_learned_and_searched_for(store: ModelStore) -> None:
    held = told(store, "show", "lettered")
    assert held["header"]["settings"]["learn"]["order"] == 2
    assert held["search"]["trials"] == [{"order": 2}]
    assert held["decisions"][0]["what"] == "promoted"
    assert "1 settings tried, seed 1" in called(store, "show", "lettered").output


def test_compare_puts_champion_and_challenger_side_by_side(store: ModelStore) -> None:
    one, other = told(store, "compare", "lettered")["models"]
    assert (one["scores"]["mcc"], other["scores"]["mcc"]) == (0.5, 0.6)
    assert one["events"] < other["events"]
    assert "trained until" in called(store, "compare", "lettered").output


def test_promote_if_better_follows_the_margin_and_says_why(store: ModelStore) -> None:
    first, second = store.versions("lettered")
    kept = told(store, "promote", "lettered", "--if-better", "0.2")
    assert (kept["promoted"], kept["champion"]) == (None, first)
    assert "does not reach the margin" in kept["why"]
    promoted = told(store, "promote", "lettered", "--if-better", "0.05")
    assert (promoted["promoted"], promoted["champion"]) == (second, second)
    assert told(store, "rollback", "lettered")["champion"] == first
    assert "serves: asked for" in called(store, "promote", "lettered", second).output


def test_prune_removes_what_is_not_needed(store: ModelStore) -> None:
    first, _ = store.versions("lettered")
    store.promote("lettered")
    assert told(store, "prune", "--keep", "0")["removed"] == {"lettered": [first]}
    assert "0 models removed" in called(store, "prune").output


def test_a_broken_manifest_can_be_repaired(store: ModelStore, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{")
    assert "made anew from the manifest before the last change" in called(store, "repair").output
    assert store.load("lettered").version


def test_a_forecast_is_explained_by_its_model_and_chain_state_in_words_and_with_a_curve(store: ModelStore) -> None:
    model = store.load("lettered")
    (state,) = [x for x in range(model.chain.states) if model.chain.state[x] and not model.chain.accepting[x]][:1]
    held = told(store, "explain", model.version, str(state))
    assert "the last event was a" in held["sentence"]
    assert held["waiting"] == pytest.approx(model.waiting[state, : model.settings.horizon].tolist(), abs=1e-6)
    shown = called(store, "explain", model.version, str(state)).output
    assert 'a: letter == "a"' in shown
    assert "█" in shown
    assert "is none of them" in called(store, "explain", model.version, "999999").output


def test_the_models_of_groups_are_shown_and_explained(tmp_path: Path) -> None:
    store, group = ModelStore(tmp_path), build_of_group("ferry")
    store.add(model_of(PATTERN, ["abxab"]), groups=GroupModels("vessel_type", {"ferry": group}))
    version = told(store, "show", "lettered")["groups"]["ferry"]
    assert version.endswith("@ferry")
    assert "models per vessel_type" in called(store, "show", "lettered").output
    assert told(store, "explain", version, "0")["model_version"] == version
    with pytest.raises(UnknownModelError, match="no model lettered-v1-0009-abcdef@tug"):
        called(store, "explain", "lettered-v1-0009-abcdef@tug", "0")


def build_of_group(name: str) -> Model:
    symbols = symbols_of(PATTERN, "abababxxab")
    counts = count(symbols, np.arange(len(symbols)) * MINUTE, np.array([0, len(symbols)]), PATTERN, 4)
    return build(PATTERN, counts, ModelSettings(), name)


@pytest.mark.parametrize("verb", ["show", "promote"])
def test_a_path_is_no_version_and_no_pattern(store: ModelStore, verb: str, tmp_path: Path) -> None:
    before = store.manifest()
    secret = tmp_path.parent / f"secret_{verb}"
    secret.mkdir()
    (secret / "model.npz").write_bytes(b"private")
    for words in ((verb, "lettered", f"../../../{secret.name}"), (verb, f"../{secret.name}", "champion")):
        with pytest.raises(ModelError) as caught:
            called(store, *words)
        assert "private" not in str(caught.value)
        assert "not a name but a path" in str(caught.value)
    assert store.manifest() == before
