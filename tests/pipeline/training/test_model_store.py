"""A store on a Hadoop file system behaves as one in a folder: the same verbs, here on `file:` through Hadoop."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foresail.models.errors import LostModelError, StoreBusyError, StoreWriteError
from foresail.models.store import ModelStore
from foresail.pipeline.training.model_store import HadoopStorage, open_store
from tests.models.forecasting import model_of
from tests.models.letters import counts_of_text, lettered

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
PATTERN = lettered("a ; b")


def test_models_are_added_promoted_rolled_back_and_pruned_through_hadoop(spark: "SparkSession", tmp_path: Path) -> None:
    store = open_store(f"file://{tmp_path}/store", lambda: spark)
    assert isinstance(store.storage, HadoopStorage)
    first = store.add(model_of(PATTERN, ["abxab"]), search={"trials": []})
    second = store.add(model_of(PATTERN, ["abxabab"]), promote=False)
    assert store.load("lettered").version == first
    assert store.promote("lettered") == second
    assert store.rollback("lettered") == first
    assert store.search("lettered") == {"trials": [], "model_version": first}
    assert store.prune("lettered", keep=0) == [second]
    store.keep_counts(counts_of_text("abab", "ab", 2))
    assert store.patterns() == ["lettered"]
    beside = ModelStore(tmp_path / "store")
    assert beside.load("lettered").version == first
    counts = beside.counts("text")
    assert counts is not None
    assert counts.events == 4
    assert not [file.name for file in (tmp_path / "store").rglob("*") if file.name.endswith((".half", ".lock"))]


def test_what_breaks_on_hadoop_is_told_as_in_a_folder(spark: "SparkSession", tmp_path: Path) -> None:
    storage = HadoopStorage(spark, f"file://{tmp_path}/store", wait_s=0.2)
    store = ModelStore(storage)
    version = store.add(model_of(PATTERN, ["abxab"]))
    storage.remove(f"lettered/models/{version}")
    with pytest.raises(LostModelError, match="are gone"):
        store.load("lettered")
    with storage.locked(), pytest.raises(StoreBusyError, match="another writer"):
        store.rollback("lettered")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreWriteError, match="cannot be written"):
        HadoopStorage(spark, f"file://{tmp_path}/file").write("below/it", b"content")


def test_a_plain_folder_needs_no_spark(tmp_path: Path) -> None:
    def never() -> "SparkSession":
        raise AssertionError

    assert open_store(str(tmp_path), never).patterns() == []
