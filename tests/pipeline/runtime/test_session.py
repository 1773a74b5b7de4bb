"""Spark starts from settings, quietly, without a network, and its workers run the driver's code."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foresail import HOME
from foresail.pipeline.errors import JavaError, SparkStartError
from foresail.pipeline.runtime.session import _check_known, configuration, cores_of, start_spark
from foresail.pipeline.settings import Settings, read_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WITHOUT_NETWORK = ["unshare", "--net", "--map-root-user"]
LOOPBACK_UP = """
import fcntl, socket, struct
with socket.socket() as any_socket:  # a new network namespace has its loopback switched off
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 1))
"""
WORKER_SCRIPT = """
import os
from foresail.pipeline.runtime.session import start_spark
from foresail.pipeline.settings import read_settings
os.chdir("/")
spark = start_spark(read_settings(environment={}), short_work=True)

def where(batches):
    import foresail.pipeline, pyarrow as pa
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"file": [foresail.pipeline.__file__]})

print(spark.range(1).mapInArrow(where, "file string").first().file)
"""


def spark_settings(**spark: object) -> Settings:
    return Settings.model_validate({"spark": spark})


def network_can_be_taken_away() -> bool:
    if not shutil.which("unshare"):
        return False
    return subprocess.run([*WITHOUT_NETWORK, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("master", "cores"),
    [
        ("local", 1),
        ("local[3]", 3),
        ("local[3,2]", 3),
        ("local[3, 2]", 3),
        ("local[*]", os.cpu_count()),
        ("yarn", None),
    ],
)
def test_a_local_master_tells_its_cores(master: str, cores: int | None) -> None:
    assert cores_of(master) == cores


def test_shuffles_have_as_many_partitions_as_cores() -> None:
    assert configuration(spark_settings(master="local[3]"), [])["spark.sql.shuffle.partitions"] == "3"
    assert configuration(spark_settings(shuffle_partitions=9), [])["spark.sql.shuffle.partitions"] == "9"
    assert "spark.sql.shuffle.partitions" not in configuration(spark_settings(master="yarn"), [])


def test_jars_are_on_the_class_path_locally_and_sent_to_a_cluster() -> None:
    jars = [Path("/a b/x.jar"), Path("/y.jar")]
    local, cluster = (configuration(spark_settings(master=master), jars) for master in ("local[1]", "spark://h:7077"))
    assert (local["spark.driver.extraClassPath"], local.get("spark.jars")) == ("/a b/x.jar:/y.jar", None)
    assert (cluster["spark.jars"], cluster.get("spark.driver.extraClassPath")) == ("/a b/x.jar,/y.jar", None)


def test_only_local_masters_are_kept_to_the_loopback_address() -> None:
    assert configuration(spark_settings(), [])["spark.driver.host"] == "127.0.0.1"
    assert "spark.driver.host" not in configuration(spark_settings(master="yarn"), [])


def test_the_users_conf_has_the_last_word_and_adds_to_javas_options() -> None:
    chosen = configuration(
        spark_settings(conf={"spark.sql.session.timeZone": "CET", "spark.driver.extraJavaOptions": "-Dx=1"}), []
    )
    assert chosen["spark.sql.session.timeZone"] == "CET"
    assert chosen["spark.driver.extraJavaOptions"].endswith(" -Dx=1")
    assert "log4j2.configurationFile=file:" in chosen["spark.driver.extraJavaOptions"]


def test_only_short_work_forgoes_the_optimising_compiler() -> None:
    options = [configuration(spark_settings(), [], short)["spark.driver.extraJavaOptions"] for short in (False, True)]
    assert ["TieredStopAtLevel" in option for option in options] == [False, True]


def test_a_local_directory_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SparkStartError, match=r"file/spill: .*spark\.local_directory"):
        start_spark(spark_settings(local_directory=tmp_path / "file" / "spill"))


def test_without_java_spark_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(JavaError, match="JAVA_HOME=/nowhere"):
        start_spark(read_settings(environment={}))


@pytest.mark.spark
def test_sedona_answers_in_sql_and_through_its_column_functions(spark: "SparkSession") -> None:
    from sedona.spark.sql.st_constructors import ST_Point
    from sedona.spark.sql.st_functions import ST_X

    assert spark.sql("SELECT ST_X(ST_Point(1.5, 2.0)) AS x").first().x == 1.5
    assert spark.range(1).select(ST_X(ST_Point("id", "id")).alias("x")).first().x == 0.0


@pytest.mark.spark
def test_sedona_also_answers_in_a_new_sql_session(spark: "SparkSession") -> None:
    assert spark.newSession().sql("SELECT ST_Y(ST_Point(1.5, 2.0)) AS y").first().y == 2.0


@pytest.mark.spark
def test_times_are_in_utc(spark: "SparkSession") -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"


@pytest.mark.spark
@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("spark.sql.shufle.partitions", "spark.sql.shuffle.partitions"),
        ("spark.driver.memmory", "spark.driver.memory"),
    ],
)
def test_a_misspelt_key_names_the_right_one(spark: "SparkSession", key: str, meant: str) -> None:
    with pytest.raises(SparkStartError, match=f"--conf {key}: .*Did you mean '{meant}'"):
        _check_known({key: "1"}, spark)


@pytest.mark.spark
@pytest.mark.parametrize("key", ["spark.sql.shuffle.partitions", "spark.hadoop.fs.s3a.endpoint", "spark.my.own.thing"])
def test_known_open_and_private_keys_are_taken(spark: "SparkSession", key: str) -> None:
    _check_known({key: "1"}, spark)


@pytest.mark.spark
@pytest.mark.skipif(not network_can_be_taken_away(), reason="this user may not take the network away")
def test_without_a_network_spark_starts_and_ends_without_a_word_and_workers_run_our_code(tmp_path: Path) -> None:
    checkout = tmp_path / "another checkout"
    shutil.copytree(HOME, checkout / "foresail")
    command = [*WITHOUT_NETWORK, sys.executable, "-c", LOOPBACK_UP + WORKER_SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=checkout)
    assert done.stderr == ""
    assert done.stdout.strip() == str(checkout / "foresail" / "pipeline" / "__init__.py")
    assert done.returncode == 0
