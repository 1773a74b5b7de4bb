"""A query ends whenever it is told to, and no micro-batch is half written."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from foresail.pipeline.stream.query.job import WriteGate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
PATIENCE_S = 120


def test_a_micro_batch_on_its_way_is_refused_when_the_line_is_closed(spark: "SparkSession", tmp_path: Path) -> None:
    door, planned, closing, written = WriteGate(), threading.Event(), threading.Event(), list[int]()
    through = door.passing(lambda _, batch: written.append(batch))

    def write(rows: Any, batch: int) -> None:
        if batch == 1:
            planned.set()
            assert closing.wait(PATIENCE_S)
        through(rows, batch)

    writer = spark.readStream.format("rate").load().writeStream.foreachBatch(write)
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    assert planned.wait(PATIENCE_S)
    stopping = threading.Thread(target=door.close, args=(query, spark), daemon=True)
    stopping.start()
    stopping.join(1)
    assert stopping.is_alive(), "Spark waits for the micro-batch that is under way"
    closing.set()
    stopping.join(PATIENCE_S)
    assert not stopping.is_alive()
    assert written == [0]
    commits = {file.name for file in (tmp_path / "checkpoint" / "commits").iterdir() if not file.name.startswith(".")}
    assert commits == {"0"}, "what was refused comes again after a restart"


def test_what_is_being_written_is_written_to_its_end(spark: "SparkSession", tmp_path: Path) -> None:
    door, begun, goes_on, written = WriteGate(), threading.Event(), threading.Event(), list[int]()

    def write(rows: Any, batch: int) -> None:
        begun.set()
        assert goes_on.wait(PATIENCE_S)
        written.append(rows.count())

    writer = spark.readStream.format("rate").load().writeStream.foreachBatch(door.passing(write))
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    assert begun.wait(PATIENCE_S)
    stopping = threading.Thread(target=door.close, args=(query, spark), daemon=True)
    stopping.start()
    stopping.join(0.5)
    goes_on.set()
    stopping.join(PATIENCE_S)
    assert not stopping.is_alive()
    assert len(written) == 1
