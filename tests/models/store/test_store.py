"""The store keeps every version, serves one, and is never seen half changed, whoever writes and whatever breaks."""

import errno
import itertools
import json
import multiprocessing
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from foresail.models.errors import (
    LostModelError,
    ManifestError,
    PromotionError,
    StoreBusyError,
    StoreWriteError,
    UnknownModelError,
)
from foresail.models.files import model_to_bytes
from foresail.models.identity import serial_of
from foresail.models.store import LocalStorage, ModelStore
from tests.models.forecasting import model_of
from tests.models.letters import counts_of_text, lettered

PATTERN = lettered("a ; b")
TEXTS = ["abxab", "abxabab", "xxabxab", "abababx"]


def clock() -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path, clock)


def filled(store: ModelStore, count: int) -> list[str]:
    return [store.add(model_of(PATTERN, [text])) for text in TEXTS[:count]]


def test_a_model_that_is_added_serves_and_the_ones_before_it_stay(store: ModelStore, tmp_path: Path) -> None:
    first, second, third = filled(store, 3)
    assert first.startswith("lettered-v1-0001-")
    assert store.load("lettered").version == third
    assert store.load("lettered", first).version == first
    assert store.load("lettered", "earlier-1").version == second
    assert store.load("lettered", "earlier-2").version == first
    assert store.versions("lettered") == [first, second, third]
    assert store.patterns() == ["lettered"]
    assert (tmp_path / "lettered" / "models" / first / "model.npz").exists()


def test_versions_are_ordered_by_their_serial_beyond_v9_and_9999(store: ModelStore) -> None:
    """By name `v10` stands before `v9`, and `10000` before `9999`."""
    model = model_of(PATTERN, ["abxab"])
    names = ["lettered-v9-0002-aa", "lettered-v10-0003-bb", "lettered-v10-9999-cc", "lettered-v2-10000-dd"]
    for name in names[::-1]:
        store.storage.write(f"lettered/models/{name}/model.npz", model_to_bytes(model))
    assert store.versions("lettered") == names
    assert store.record("lettered").champion == names[-1]
    assert store.resolve("lettered", "earlier-1") == names[-2]
    assert store.add(model_of(PATTERN, ["abxabab"])).startswith("lettered-v1-10001-")
    assert store.prune("lettered", keep=2) == names[:2]


def test_a_challenger_waits_until_it_is_promoted(store: ModelStore) -> None:
    champion = store.add(model_of(PATTERN, ["abxab"]))
    challenger = store.add(model_of(PATTERN, ["abxabab"]), promote=False)
    assert store.load("lettered").version == champion
    assert store.load("lettered", "challenger").version == challenger
    assert store.promote("lettered", why="it is better") == challenger
    assert store.load("lettered").version == challenger
    record = store.record("lettered")
    assert (record.challenger, record.earlier) == (None, (champion,))
    assert record.decisions[-1].why == "it is better"
    assert record.decisions[-1].before == champion
    with pytest.raises(UnknownModelError, match="lettered has no challenger"):
        store.load("lettered", "challenger")


def test_the_same_model_learned_again_changes_nothing(store: ModelStore, tmp_path: Path) -> None:
    first = store.add(model_of(PATTERN, ["abxab"]))
    second = store.add(model_of(PATTERN, ["abxabab"]), promote=False)
    before = (tmp_path / "manifest.json").read_bytes()
    assert store.add(model_of(PATTERN, ["abxab"]), promote=False) == first
    assert store.add(model_of(PATTERN, ["abxabab"]), promote=False) == second
    assert (tmp_path / "manifest.json").read_bytes() == before
    assert store.versions("lettered") == [first, second]
    assert store.add(model_of(PATTERN, ["abxab"], threshold=0.5)) not in (first, second)


def test_a_rollback_returns_to_the_champion_before_and_again_to_the_one_before_that(store: ModelStore) -> None:
    first, second, third = filled(store, 3)
    assert store.rollback("lettered", "it went wrong") == second
    assert store.load("lettered").version == second
    assert store.record("lettered").decisions[-1].before == third
    assert store.rollback("lettered") == first
    with pytest.raises(PromotionError, match="no earlier champion of lettered is left"):
        store.rollback("lettered")


def test_a_champion_whose_files_are_gone_is_told_with_the_way_back(store: ModelStore, tmp_path: Path) -> None:
    first, second, third = filled(store, 3)
    for lost in (third, second):
        (tmp_path / "lettered" / "models" / lost / "model.npz").unlink()
    with pytest.raises(LostModelError, match=rf"champion {third} are gone.*models rollback lettered .*to {first}"):
        store.load("lettered")
    assert store.rollback("lettered") == first
    assert store.load("lettered").version == first
    with pytest.raises(LostModelError, match="gone"):
        store.promote("lettered", third)


def test_a_manifest_with_a_syntax_error_is_told_with_its_line_and_can_be_repaired(
    store: ModelStore, tmp_path: Path
) -> None:
    first, second = filled(store, 2)
    (tmp_path / "manifest.json").write_text('{\n "format": 1,\n "patterns" {}\n}')
    with pytest.raises(ManifestError, match=r"manifest\.json:3:13: the manifest is not JSON.*models repair"):
        store.load("lettered")
    assert store.repair() == "the manifest before the last change"
    assert store.load("lettered").version == first  # the second was the last change
    assert (tmp_path / "manifest.broken.json").exists()
    (tmp_path / "manifest.previous.json").write_text("also broken")
    (tmp_path / "manifest.json").write_text('{"format": 1}')
    with pytest.raises(ManifestError, match="lacks 'patterns'"):
        store.manifest()
    assert "the newest as champion" in store.repair()
    assert store.load("lettered").version == second


def test_a_full_disk_leaves_the_store_as_it_was(
    store: ModelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = filled(store, 1)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StoreWriteError, match=r"No space left on device.*is as it was: free some space"):
            store.add(model_of(PATTERN, ["abxabab"]))
    assert store.versions("lettered") == [first]
    assert store.load("lettered").version == first
    assert not list(tmp_path.rglob("*.half"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can only be mounted by root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(file: Path) -> None:
    with suppress(OSError), file.open("wb", buffering=0) as handle:
        while handle.write(b"0" * 4096):
            pass


def test_a_disk_that_is_really_full_is_told_and_goes_on_when_there_is_room(small_disk: Path) -> None:
    store = ModelStore(small_disk / "models")
    (first,) = filled(store, 1)
    fill(small_disk / "filler")
    with pytest.raises(StoreWriteError, match="No space left on device"):
        store.add(model_of(PATTERN, ["abxabab"]))
    with pytest.raises(StoreWriteError, match="No space left on device"):
        store.keep_scores("lettered", first, "a day", {"mcc": 0.5})
    assert (store.versions("lettered"), store.load("lettered").version) == ([first], first)
    (small_disk / "filler").unlink()
    assert store.add(model_of(PATTERN, ["abxabab"])) == store.load("lettered").version


def test_a_promotion_is_refused_when_another_one_was_quicker(store: ModelStore) -> None:
    first, second, third = filled(store, 3)
    with pytest.raises(PromotionError, match=f"is {third} by now, not {second}: another promotion was quicker"):
        store.promote("lettered", first, expected=second)
    assert store.load("lettered").version == third


def promote_often(folder: Path, versions: list[str]) -> None:
    store = ModelStore(folder)
    for version in versions:
        store.promote("lettered", version)


def test_two_writers_at_once_lose_no_decision_and_readers_always_see_a_whole_store(
    store: ModelStore, tmp_path: Path
) -> None:
    versions = filled(store, 4)
    begun = len(store.record("lettered").decisions)
    writers = [
        multiprocessing.get_context("fork").Process(target=promote_often, args=(tmp_path, turns * 5))
        for turns in (versions[:2], versions[2:])
    ]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert store.load("lettered").version in versions
    assert [writer.exitcode for writer in writers] == [0, 0]
    decisions = store.record("lettered").decisions[begun:]
    assert 10 <= len(decisions) <= 20  # promoting the champion again is no decision
    for before, after in itertools.pairwise(decisions):
        assert after.before == before.version


def test_a_store_that_is_held_for_too_long_is_told(tmp_path: Path) -> None:
    with LocalStorage(tmp_path).locked(), pytest.raises(StoreBusyError, match="another writer has held the store"):
        ModelStore(LocalStorage(tmp_path, wait_s=0.1)).add(model_of(PATTERN, ["abxab"]))


def test_pruning_spares_champion_challenger_and_the_newest_others(store: ModelStore, tmp_path: Path) -> None:
    first, second, third, fourth = filled(store, 4)
    challenger = store.add(model_of(PATTERN, ["bbbab"]), promote=False)
    store.promote("lettered", first)
    assert store.prune("lettered", keep=1) == [second, third]
    assert store.versions("lettered") == [first, fourth, challenger]
    assert store.record("lettered").earlier == (fourth,)
    assert not (tmp_path / "lettered" / "models" / second).exists()
    assert store.prune("lettered", keep=1) == []


def test_the_number_of_a_pruned_model_is_not_given_again(store: ModelStore) -> None:
    first, second = filled(store, 2)
    store.rollback("lettered")
    assert store.prune("lettered", keep=0) == [second]
    again = store.add(model_of(PATTERN, ["bbbab"]))
    assert serial_of(again) == 3, "a name stands for one model for ever: workers keep models by name"
    assert store.versions("lettered") == [first, again]


def test_what_is_not_there_is_named(store: ModelStore) -> None:
    with pytest.raises(UnknownModelError, match=r"no model of lettered\. Train one"):
        store.load("lettered")
    (version,) = filled(store, 1)
    with pytest.raises(UnknownModelError, match=rf"no model other of lettered\. There are: {version}"):
        store.load("lettered", "other")
    with pytest.raises(UnknownModelError, match="lettered has no earlier-1"):
        store.load("lettered", "earlier-1")


def test_a_store_without_a_manifest_serves_the_newest_model(store: ModelStore, tmp_path: Path) -> None:
    first, second = filled(store, 2)
    (tmp_path / "manifest.json").unlink()
    assert store.load("lettered").version == second
    assert store.rollback("lettered") == first


def test_counts_lie_beside_the_models(store: ModelStore, tmp_path: Path) -> None:
    assert store.counts("text") is None
    store.keep_counts(counts_of_text("abab", "ab", 2))
    kept = store.counts("text")
    assert kept is not None
    assert kept.events == 4
    assert (tmp_path / "text" / "counts.npz").exists()


def test_the_manifest_can_be_read_by_people(store: ModelStore, tmp_path: Path) -> None:
    (version,) = filled(store, 1)
    held = json.loads((tmp_path / "manifest.json").read_text())
    assert held["patterns"]["lettered"]["champion"] == version
    assert held["patterns"]["lettered"]["models"][version]["order"] == 2
    assert held["patterns"]["lettered"]["decisions"][0]["at"] == "2026-01-01T00:00:00+00:00"


def test_how_the_settings_were_chosen_is_kept_with_the_model(store: ModelStore) -> None:
    tried = {"seed": 1, "trials": [{"order": 2, "score": 0.4}]}
    version = store.add(model_of(PATTERN, ["abxab"]), search=tried)
    assert store.search("lettered") == {**tried, "model_version": version}
    store.add(model_of(PATTERN, ["abxabab"]))
    assert store.search("lettered") is None
