"""The doctor tries each part and says ok, or what to do."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foresail.pipeline.runtime import doctor
from foresail.pipeline.runtime.doctor import (
    check_broker,
    check_connector,
    check_disk,
    check_jars,
    check_java,
    check_kernels,
    check_memory,
    check_packages,
    check_sedona,
    examine,
    gigabytes,
)
from foresail.pipeline.settings import Settings, read_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = read_settings(environment={})


def settings_with(**sections: object) -> Settings:
    return Settings.model_validate(sections)


def test_what_needs_no_spark_is_well_on_this_machine() -> None:
    findings = [check_java(), check_packages(), check_jars(HERE), check_disk(HERE), check_memory(HERE), check_kernels()]
    assert [finding for finding in findings if not finding.ok] == []


def test_a_java_home_that_leads_nowhere_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    finding = check_java()
    assert not finding.ok
    assert "Install one" in finding.says


def test_a_missing_and_a_wrong_package_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "requires", lambda _: ["no-such-package>=1", "numpy>=99", "ruff; extra == 'dev'"])
    says = check_packages().says
    assert "no-such-package is missing" in says
    assert "numpy is" in says
    assert "wanted numpy>=99" in says
    assert "make setup" in says
    assert "ruff" not in says


def test_missing_jars_are_named(tmp_path: Path) -> None:
    finding = check_jars(settings_with(jars={"directory": tmp_path / "none"}))
    assert not finding.ok
    assert "lacks Sedona, Spark's Kafka connector, the Kafka broker. Run `foresail jars`." in finding.says


def test_a_nearly_full_disk_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LEAST_FREE_GB", 1e9)
    assert not check_disk(HERE).ok


def test_a_place_that_does_not_exist_yet_is_measured_where_it_would_be(tmp_path: Path) -> None:
    assert check_disk(settings_with(spark={"local_directory": tmp_path / "a" / "b"})).ok


@pytest.mark.parametrize(("memory", "says"), [("9000g", "Set it lower"), ("lots", "no amount")])
def test_memory_that_cannot_be_had_is_a_fault(memory: str, says: str) -> None:
    finding = check_memory(settings_with(spark={"driver_memory": memory}))
    assert not finding.ok
    assert says in finding.says


@pytest.mark.parametrize(("text", "gb"), [("2g", 2.147), ("512m", 0.537), ("1048576k", 1.074), ("x", None)])
def test_javas_amounts_are_read(text: str, gb: float | None) -> None:
    assert gigabytes(text) == (gb if gb is None else pytest.approx(gb, abs=0.001))


def test_no_broker_is_fine_and_one_that_does_not_answer_is_not() -> None:
    assert check_broker(HERE).ok
    finding = check_broker(settings_with(kafka={"bootstrap_servers": "127.0.0.1:9"}))
    assert not finding.ok
    assert "127.0.0.1:9 does not answer" in finding.says


@pytest.mark.kafka
def test_a_broker_that_answers_is_fine(broker: str) -> None:
    assert check_broker(settings_with(kafka={"bootstrap_servers": broker})).ok


@pytest.mark.spark
def test_sedona_and_the_connector_are_well(spark: "SparkSession") -> None:
    assert check_sedona(spark).ok
    assert check_connector(spark).ok


@pytest.mark.spark
def test_a_distance_that_differs_from_the_book_is_a_fault(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "KNOWN_DISTANCES_M", (("a step", (0.0, 0.0), (1.0, 0.0), 111_000.0),))
    assert "111319.491 m for a step, which is 111000.000 m" in check_sedona(spark).says


@pytest.mark.spark
def test_a_connector_that_is_not_there_is_a_fault(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "CONNECTOR_CLASS", "no.such.Connector")
    finding = check_connector(spark)
    assert not finding.ok
    assert "no.such.Connector" in finding.says


def test_without_java_the_other_checks_still_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    found = {finding.check: finding.ok for finding in examine(HERE)}
    assert found == {
        "Java": False,
        "Python packages": True,
        "jars": True,
        "disk": True,
        "memory": True,
        "native kernels": True,
        "Spark": False,
        "Sedona": False,
        "Kafka connector": False,
        "Kafka broker": True,
    }
