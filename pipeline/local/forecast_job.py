"""`foresail forecast --engine local`: the same rows, ids and summary as the job on Spark, in plain processes."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from foresail.models.groups import PER_TRACK
from foresail.models.reader import input_columns_of
from foresail.models.store import ModelStore
from foresail.patterns.recognition.events import EventBatch
from foresail.pipeline.batch.forecast_worker import BeginForecasting, ForecastWalk
from foresail.pipeline.batch.parquet_source import ParquetSource, Unfit
from foresail.pipeline.batch.workers import Search
from foresail.pipeline.conditions.arrow import attribute_types as arrow_types
from foresail.pipeline.errors import InputError
from foresail.pipeline.fitting import OF_COMMANDS, attributes_read_by
from foresail.pipeline.local.engine import Counts, Task, run_over_files
from foresail.pipeline.local.forecasting import Asked, EventColumns, ask_models, forecast_batches, frame_events
from foresail.pipeline.local.layers import LayersAtHand, layers_at_hand
from foresail.pipeline.local.sorted_events import Named
from foresail.pipeline.local.stored_events import events_at, places_in, schema_of, stored_source
from foresail.pipeline.local.trying import EventSource, read_source
from foresail.pipeline.progress import Progress
from foresail.pipeline.results.forecast_table import FORECAST_ROWS, forecast_rows
from foresail.pipeline.sinks.forecast_files import finish_forecasts, replaced_forecasts
from foresail.pipeline.sinks.output_folder import claim_output
from foresail.pipeline.sources.parquet_files import usable_files
from foresail.pipeline.training.model_store import is_uri
from foresail.pipeline.training.serving import families_of, forecast_summary, inputs_of, plain_of
from foresail.pipeline.training.symbols import Membership

if TYPE_CHECKING:
    from foresail.pipeline.jobs.forecast_request import ForecastRequest

ENGINE = "local"
NAMED = ("track", "pattern", "model_version", "instance", "kind")


def run_local_forecast(request: "ForecastRequest", progress: Progress) -> dict[str, Any]:
    """Forecast the patterns of the catalog; the summary."""
    began = time.monotonic()
    claim_output(request.out, "forecast")
    if is_uri(str(request.models)):
        msg = f"--models {request.models}: is read through Spark. Leave --engine local out, or copy it to a folder."
        raise InputError(msg)
    files = usable_files([events_at(path) for path in request.events], skip_corrupt=False)
    layers = layers_at_hand(request.layers, request.layer_cache, progress.say)
    store = ModelStore(Path(request.models))
    source = stored_source(files.paths, files.folder, _read_columns(request, store), bool(request.types))
    asked = None if isinstance(source, Unfit) else _asked_of_files(request, source, layers, store)
    with progress.step("forecasting"), replaced_forecasts(request.out) as staging:
        if asked is not None:
            assert isinstance(source, ParquetSource), "models are asked of files that can be read"
            counts = run_over_files(
                _task(asked, places_in(schema_of(source))), source, staging, source.layout is not None
            )
            rows = {"rows_read": source.rows, "rejected": 0, "rejected_reasons": {}}
        else:
            asked, counts, rows = _in_memory(request, layers, store, staging, progress)
    place = finish_forecasts(request.out, request.form)
    summary = forecast_summary(asked.served, counts, place, time.monotonic() - began, asked.warnings)
    for warning in summary["warnings"]:
        progress.say(warning)
    return summary | rows | {"skipped": asked.skipped, "engine": ENGINE}


def _read_columns(request: "ForecastRequest", store: ModelStore) -> list[str]:
    read = [a.key for entry in request.catalog for a in attributes_read_by(entry, features=True)]
    learned = [name for entry in request.catalog if entry.learn for name in entry.learn.attributes]
    trees = [entry.name for entry in request.catalog if entry.forecast and entry.forecast.model != "chain"]
    models = [store.load(name, request.version) for name in trees if store.versions(name)]
    return list(dict.fromkeys([*read, *learned, *(column.name for column in input_columns_of(models))]))


def _asked_of_files(
    request: "ForecastRequest", source: ParquetSource, layers: LayersAtHand, store: ModelStore
) -> Asked | None:
    """The models for files that processes read; None where they need a look at all events first."""
    schema = schema_of(source)
    known = EventColumns(schema.names, arrow_types(schema), layers.by_name)
    grouped: list[str] = []

    def memberships(attributes: Any) -> dict[str, Membership]:
        wanted = list(attributes)
        grouped.extend(name for name in wanted if name != PER_TRACK)
        return {name: Membership() for name in wanted}

    asked = ask_models(request.catalog, known, store, request.emission, request.choosing, memberships, OF_COMMANDS)
    return None if grouped else asked


def _in_memory(
    request: "ForecastRequest", layers: LayersAtHand, store: ModelStore, staging: Path, progress: Progress
) -> tuple[Asked, Counts, dict[str, Any]]:
    read = read_source(EventSource(tuple(request.events), Named(time_unit=request.time_unit), request.types or {}))
    for note in read.notes:
        progress.say(note)
    events = frame_events(request.catalog, read.events, layers)
    asked = ask_models(
        request.catalog,
        EventColumns.of(events),
        store,
        request.emission,
        request.choosing,
        events.memberships,
        OF_COMMANDS,
    )
    counts: Counts = Counter()
    task = _task(asked, read.events.has_places)
    task.write(forecast_batches(asked, read.events, counts), staging, 0)
    reasons = {reason: len(rows) for reason, rows in read.events.rejected.items()}
    reasons |= {"unreadable": len(read.unreadable)} if read.unreadable else {}
    rejected = sum(reasons.values())
    return asked, counts, {"rows_read": len(read.events) + rejected, "rejected": rejected, "rejected_reasons": reasons}


@dataclass(frozen=True, slots=True)
class _Begin:
    """Makes the walk whose rows are written as they are."""

    begin: BeginForecasting

    def __call__(self) -> "_Rows":
        return _Rows(self.begin())


@dataclass(frozen=True, slots=True)
class _Rows:
    walk: ForecastWalk

    @property
    def counts(self) -> Counts:
        return self.walk.counts

    def advance(self, events: EventBatch) -> Iterator[pa.RecordBatch]:
        return map(forecast_rows, self.walk.advance(events))

    def finish(self) -> Iterator[pa.RecordBatch]:
        return self.walk.finish()


def _task(asked: Asked, places: bool) -> Task:
    inputs = inputs_of(asked.served)
    search = Search(plain_of(asked.served), families_of(asked.served), asked.layers, places, inputs=inputs)
    return Task(search, _Begin(asked.begin), FORECAST_ROWS, NAMED)
