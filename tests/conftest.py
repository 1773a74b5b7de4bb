"""What every test may use: one Spark session for the whole run, and the real feeds where they are at hand."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    """The Spark session that all tests share: starting one takes longer than most tests."""
    from pipeline.session import start_spark
    from pipeline.settings import read_settings

    session = start_spark(read_settings(environment={}), application="foresail tests")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real feeds and layers; tests that need it skip on a machine without it."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"{SHARED_DATA} is absent: the real feeds are not part of the project")
    return SHARED_DATA
