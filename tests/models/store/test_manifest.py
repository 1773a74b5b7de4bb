"""Names that would lead out of the store are no names, whoever asks."""

import json
from pathlib import Path

import pytest

from foresail.models.errors import BadNameError, ModelError
from foresail.models.files import model_to_bytes
from foresail.models.store import ModelStore
from foresail.models.store.manifest import inside, is_name
from tests.models.forecasting import model_of
from tests.models.letters import lettered

PATTERN = lettered("a ; b")
PATHS = [
    "../outside",
    "../../../../outside/x",
    "/etc/passwd",
    "a/b",
    "..",
    ".",
    "",
    ".hidden",
    "a\\b",
    "a\nb",
    "x" * 201,
]


@pytest.mark.parametrize("text", PATHS)
def test_a_path_is_no_name(text: str) -> None:
    assert not is_name(text)
    with pytest.raises(BadNameError) as caught:
        inside("lettered", text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    "text", ["port_entry", "port_entry-v1-0003-ab12cd", "port_entry-v1-0003-77e1f0@ferry", "earlier-1"]
)
def test_what_the_store_itself_writes_is_a_name(text: str) -> None:
    assert is_name(text)


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    """A store with a model, and a model beside the store that nobody may reach."""
    store = ModelStore(tmp_path / "store")
    store.add(model_of(PATTERN, ["abxab"]))
    outside = tmp_path / "outside" / "x"
    outside.mkdir(parents=True)
    (outside / "model.npz").write_bytes(model_to_bytes(model_of(PATTERN, ["abxabab"])))
    (outside / "search.json").write_text("{}", encoding="utf-8")
    return store


REACHES = "../../../outside/x"


def test_a_version_outside_the_store_is_neither_loaded_nor_promoted(store: ModelStore, tmp_path: Path) -> None:
    assert (tmp_path / "store" / "lettered" / "models" / REACHES / "model.npz").exists()
    before = store.record("lettered")
    for ask in (
        lambda: store.load("lettered", REACHES),
        lambda: store.load_groups("lettered", REACHES),
        lambda: store.search("lettered", REACHES),
        lambda: store.promote("lettered", REACHES),
        lambda: store.promote_if_better("lettered", 0.1, REACHES),
        lambda: store.resolve("lettered", REACHES),
    ):
        with pytest.raises(BadNameError):
            ask()
    assert store.record("lettered") == before


def test_a_pattern_outside_the_store_is_not_asked_for(store: ModelStore) -> None:
    for ask in (store.versions, store.counts, store.counted, store.load, store.prune, store.rollback):
        with pytest.raises(ModelError):
            ask("../outside")


def test_a_manifest_that_names_a_path_leads_nowhere(store: ModelStore, tmp_path: Path) -> None:
    file = tmp_path / "store" / "manifest.json"
    held = json.loads(file.read_text(encoding="utf-8"))
    held["patterns"]["lettered"]["champion"] = REACHES
    file.write_text(json.dumps(held), encoding="utf-8")
    with pytest.raises(BadNameError):
        store.load("lettered")


def test_a_folder_with_a_strange_name_does_not_stop_the_store(store: ModelStore, tmp_path: Path) -> None:
    (tmp_path / "store" / "a\\b").mkdir()
    assert store.patterns() == ["lettered"]
