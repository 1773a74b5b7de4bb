"""Forecasts as files: a Parquet folder or JSON lines, swapped into place when complete."""

import shutil
from pathlib import Path

from pyspark.sql import DataFrame

from foresail.pipeline.sinks.forecast_files import LINES, TABLE
from foresail.pipeline.sinks.matches import write_json_lines
from foresail.pipeline.sinks.output_folder import replaced


def write_forecasts(forecasts: DataFrame, folder: Path, form: str) -> Path:
    """Write `forecasts/` or `forecasts.jsonl` below `folder`; the other form of an earlier run goes away.

    JSON lines are made from the Parquet, so that forecasting is the last stage of its Spark job and counted once.
    """
    table, lines = folder / TABLE, folder / LINES
    with replaced(table) as staging:
        forecasts.write.option("compression", "zstd").parquet(str(staging))
    if form != "jsonl":
        lines.unlink(missing_ok=True)
        return table
    write_json_lines(forecasts.sparkSession.read.schema(forecasts.schema).parquet(str(table)), lines)
    shutil.rmtree(table)
    return lines
