"""The model store that a place names: a folder, or a URI of any file system that Hadoop knows."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from foresail.models.store import ModelStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_URI = re.compile(r"[a-z][a-z0-9+.-]+:.*")


def is_uri(place: str) -> bool:
    """Whether `place` is no folder of this machine."""
    return _URI.fullmatch(place) is not None


def open_store(place: str, spark: "Callable[[], SparkSession]") -> ModelStore:
    """The store at `place`; Spark is started only for a URI such as hdfs://host/models."""
    if not is_uri(place):
        return ModelStore(Path(place))
    from foresail.pipeline.training.storage_hadoop import HadoopStorage  # noqa: PLC0415 - a folder needs no Spark

    return ModelStore(HadoopStorage(spark(), place))
