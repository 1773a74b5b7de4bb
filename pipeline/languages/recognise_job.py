"""`foresail recognise` for entries in other languages: the rows of their own table, and a summary."""

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from foresail.pipeline.errors import OptionError
from foresail.pipeline.languages.runner import Found, ResultTable, runner_of
from foresail.pipeline.local.sorted_events import Named
from foresail.pipeline.local.trying import EventSource
from foresail.pipeline.progress import Progress
from foresail.pipeline.sinks.output_folder import claim_output, replaced

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from foresail.pipeline.jobs.recognise_request import RecogniseRequest

ROWS_PER_FILE = 1_000_000


def run_languages(request: "RecogniseRequest", progress: Progress, spark: "SparkSession | None") -> dict[str, Any]:
    """Find what the entries of the catalog say, write the rows; the summary."""
    began = time.monotonic()
    runner = runner_of(request.catalog)
    assert runner is not None, "the catalog has entries in another language"
    claim_output(request.out, "recognise")
    found = runner.in_spark(spark, request, progress) if spark is not None else None
    engine = "spark"
    if found is None:
        engine = "local"
        with progress.step("recognising"):
            source = EventSource(tuple(request.events), Named(time_unit=request.time_unit), request.types or {})
            found = runner.in_files(request.catalog, source)
            place = write_rows(runner.results, found.table, request.out, request.form)
    else:
        place = request.out / (f"{runner.results.name}.jsonl" if request.form == "jsonl" else runner.results.name)
    with replaced(request.out / "rejected.jsonl") as staging:
        staging.write_text("".join(f"{row}\n" for row in found.rejected), encoding="utf-8")
    for stale in {file.name for file in request.out.glob("*.trig")} - set(found.files):
        (request.out / stale).unlink()
    for name, text in found.files.items():
        with replaced(request.out / name) as staging:
            staging.write_text(text, encoding="utf-8")
    for note in found.notes:
        progress.say(note)
    return summary_of(found, runner.results, time.monotonic() - began) | {"engine": engine, "output": str(place)}


def summary_of(found: Found, results: ResultTable, seconds: float) -> dict[str, Any]:
    """The figures of a run, as every command gives them."""
    return {
        "events": found.events,
        "rejected": len(found.rejected),
        results.name: sum(found.counts.values()),
        f"{results.name}_by_{results.by}": dict(found.counts),
        "limits": dict(found.limits),
        "notes": list(found.notes),
        "seconds": round(seconds, 3),
        "events_per_second": round(found.events / seconds) if seconds else 0,
    }


def write_rows(results: ResultTable, table: pa.Table, out: Path, form: str) -> Path:
    """The rows as `NAME/` (Parquet) or `NAME.jsonl`; the other form goes away."""
    folder, lines = out / results.name, out / f"{results.name}.jsonl"
    if form == "jsonl":
        with replaced(lines) as staging, staging.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in results.json_lines(table))
        shutil.rmtree(folder, ignore_errors=True)
        return lines
    with replaced(folder) as staging:
        staging.mkdir()
        for number, begin in enumerate(range(0, max(table.num_rows, 1), ROWS_PER_FILE)):
            pq.write_table(table.slice(begin, ROWS_PER_FILE), staging / f"part-{number:05d}.parquet")
    lines.unlink(missing_ok=True)
    return folder


def check_form(form: str, report: bool, positions: bool) -> None:
    """What is made of matches only is wrong usage for other languages."""
    asked = {"--report": report, "--positions": positions, f"--format {form}": form in ("geojson", "trig")}
    for option, wanted in asked.items():
        if wanted:
            msg = f"{option}: is made of matches of patterns. Leave it out for other languages."
            raise OptionError(msg)
