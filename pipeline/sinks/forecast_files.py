"""Forecasts as files, written without Spark: a Parquet folder or JSON lines, swapped into place when complete."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq

from foresail.pipeline.batch.match_writer import UNFINISHED
from foresail.pipeline.results.forecast_table import FORECAST_ROWS
from foresail.pipeline.results.json_rows import json_lines
from foresail.pipeline.sinks.matches import WITHOUT_ROWS
from foresail.pipeline.sinks.output_folder import replaced

TABLE, LINES = "forecasts", "forecasts.jsonl"


@contextmanager
def replaced_forecasts(folder: Path) -> Iterator[Path]:
    """Where processes write the files of `forecasts/`, which take the place of former ones when the block ends well."""
    with replaced(folder / TABLE) as staging:
        staging.mkdir()
        yield staging
        for file in staging.glob(f"{UNFINISHED}*"):
            file.unlink()
        if not any(staging.iterdir()):
            pq.write_table(FORECAST_ROWS.empty_table(), staging / WITHOUT_ROWS, store_schema=False)


def finish_forecasts(folder: Path, form: str) -> Path:
    """The result in its final form: `forecasts/` stays, or becomes `forecasts.jsonl`; the other form goes away."""
    table, lines = folder / TABLE, folder / LINES
    if form != "jsonl":
        lines.unlink(missing_ok=True)
        return table
    with replaced(lines) as staging, staging.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in json_lines(pq.read_table(table)))
    shutil.rmtree(table)
    return lines
