"""What `foresail recognise` writes beside its matches when asked: GeoJSON for maps, and the page for people."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from geo import read_layers
from pipeline.jobs.enrich import events_folder
from pipeline.jobs.recognise import RecogniseRequest
from pipeline.progress import Progress
from pipeline.reports.recognition import REPORT_FILE, write_recognition_report
from pipeline.sinks.geojson import write_geojson
from pipeline.sources.parquet_files import usable_files
from pipeline.sources.table import read_events
from pipeline.stages.whole_matches import placed, read_matches, whole_matches

GEOJSON_FILE = "matches.geojson"


def write_outputs(
    spark: SparkSession,
    request: RecogniseRequest,
    summary: Mapping[str, Any],
    progress: Progress,
    geojson: bool = False,
    report: bool = False,
) -> dict[str, str]:
    """Write what is asked for, take away what an earlier run wrote and this one does not; where each is."""
    written = {"geojson": request.out / GEOJSON_FILE, "report": request.out / REPORT_FILE}
    for file in written.values():
        file.unlink(missing_ok=True)
    if not geojson and not report:
        return {}
    matches = Path(summary["output"])
    files = usable_files([events_folder(path) for path in request.events], request.skip_corrupt)
    events = read_events(spark, files.paths, request.types, request.time_unit).good
    if geojson:
        with progress.step(f"writing {GEOJSON_FILE}"):
            write_geojson(placed(whole_matches(read_matches(spark, matches)), events), written["geojson"])
    if report:
        with progress.step(f"writing {REPORT_FILE}"):
            layers = read_layers(request.layers, request.layer_cache) if request.layers else ()
            write_recognition_report(
                spark, matches, events, request.catalog, layers, request.out, summary.get("skipped", {})
            )
    asked = {"geojson": geojson, "report": report}
    return {name: str(file) for name, file in written.items() if asked[name]}
