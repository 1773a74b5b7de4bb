"""What every test may use: one Spark session and one Kafka broker for the whole run, and the real feeds if at hand."""

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
    from foresail.pipeline.runtime.session import start_spark
    from foresail.pipeline.settings import read_settings

    session = start_spark(read_settings(environment={}), application="foresail tests", short_work=True)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real single-node Kafka that all tests share; name topics after the test."""
    from foresail.pipeline.kafka import start_broker, stop_broker
    from foresail.pipeline.kafka.broker import free_port
    from foresail.pipeline.settings import read_settings

    folder = tmp_path_factory.mktemp("kafka")
    status = start_broker(folder, free_port(), read_settings(environment={}).jars.directory)
    assert status.address is not None
    yield status.address
    stop_broker(folder)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real feeds and layers; tests that need it skip on a machine without it."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"{SHARED_DATA} is absent: the real feeds are not part of the project")
    return SHARED_DATA
