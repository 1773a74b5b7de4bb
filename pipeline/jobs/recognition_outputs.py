"""What `foresail recognise` writes beside its matches when asked: positions, GeoJSON for maps, the page for people."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from foresail.pipeline.jobs.recognise_request import GEOJSON_FILE, POSITIONS, Outputs, RecogniseRequest
from foresail.pipeline.progress import Progress
from foresail.pipeline.reports.page import REPORT_FILE
from foresail.pipeline.results.whole_matches import marked_positions, placed, read_matches, whole_matches
from foresail.pipeline.sinks.geojson import write_geojson
from foresail.pipeline.sinks.output_folder import replaced
from foresail.pipeline.sources.parquet_files import events_folder, usable_files
from foresail.pipeline.sources.table import read_events
from foresail.pipeline.stages.derive import with_start


def write_outputs(
    spark: SparkSession,
    request: RecogniseRequest,
    summary: Mapping[str, Any],
    progress: Progress,
    geojson: bool = False,
    report: bool = False,
    positions: bool = False,
) -> dict[str, str]:
    """Write what is asked for, take away what an earlier run wrote and this one does not; where each is."""
    written = Outputs(geojson, report, positions).begin(request.out)
    if not written:
        return {}
    matches = Path(summary["output"])
    files = usable_files([events_folder(path) for path in request.events], request.skip_corrupt)
    events = with_start(read_events(spark, files.paths, request.types, request.time_unit).good, request.catalog)
    if positions:
        with progress.step(f"writing {POSITIONS}"), replaced(written["positions"]) as staging:
            marked_positions(read_matches(spark, matches), events).write.parquet(str(staging))
    if geojson:
        with progress.step(f"writing {GEOJSON_FILE}"):
            write_geojson(placed(whole_matches(read_matches(spark, matches)), events), written["geojson"])
    if report:
        with progress.step(f"writing {REPORT_FILE}"):
            # pages take a second to load, and are not always asked for
            from foresail.geo import read_layers  # noqa: PLC0415
            from foresail.pipeline.reports.recognition import write_recognition_report  # noqa: PLC0415
            from foresail.pipeline.reports.spark_reading import SparkReading  # noqa: PLC0415

            layers = read_layers(request.layers, request.layer_cache) if request.layers else ()
            reading = SparkReading(spark, matches, events)
            known = summary.get("skipped", {}), summary.get("little_known", {})
            write_recognition_report(reading, request.catalog, layers, request.out, *known)
    return {name: str(place) for name, place in written.items()}
