"""`foresail recognise --engine local`: the same rows, ids and summary as the job on Spark, in plain processes."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.compiler import CompiledPattern
from foresail.pipeline.batch.parquet_source import ParquetSource, Unfit
from foresail.pipeline.batch.tally import CORRUPT, matches_summary
from foresail.pipeline.conditions.arrow import attribute_types as arrow_types
from foresail.pipeline.fitting import OF_COMMANDS, attributes_read_by, fit_patterns
from foresail.pipeline.local.engine import Counts, cores, recognise_frame, recognition, run_over_files
from foresail.pipeline.local.layers import LayersAtHand, layers_at_hand, no_layers
from foresail.pipeline.local.runner import Sought
from foresail.pipeline.local.search import prepare_search
from foresail.pipeline.local.sorted_events import MINUTES, Named, SortedEvents
from foresail.pipeline.local.stored_events import events_at, places_in, schema_of, stored_source
from foresail.pipeline.local.trying import EventSource, read_source
from foresail.pipeline.progress import Progress
from foresail.pipeline.reports.page import count_of
from foresail.pipeline.sinks.matches import finish_matches, replaced_matches
from foresail.pipeline.sinks.output_folder import claim_output, replaced
from foresail.pipeline.sources.parquet_files import usable_files
from foresail.pipeline.stages.known_share import attributes_read, little_known, shares_in_files

if TYPE_CHECKING:
    from foresail.pipeline.jobs.recognise_request import Outputs, RecogniseRequest
    from foresail.pipeline.local.track_reader import TrackReader

ENGINE = "local"


def run_local(request: "RecogniseRequest", progress: Progress, asked: "Outputs | None" = None) -> dict[str, Any]:
    """Find the patterns of the catalog in the events, and write what else is asked for; the summary."""
    run = _Run(request, progress)
    summary = run.run()
    return summary | run.write_outputs(summary, asked) if asked else summary


class _Run:
    def __init__(self, request: "RecogniseRequest", progress: Progress) -> None:
        self.request, self.progress = request, progress
        self.seconds: dict[str, float] = {}
        self.layers = no_layers()
        self.found_in: ParquetSource | SortedEvents | None = None

    def run(self) -> dict[str, Any]:
        began = time.monotonic()
        request = self.request
        claim_output(request.out, "recognise")
        paths = [events_at(path) for path in request.events]
        files = usable_files(paths, request.skip_corrupt)
        for file in files.corrupt:
            self.progress.say(f"{file}: cannot be read as Parquet, left out")
        self.layers = layers = layers_at_hand(request.layers, request.layer_cache, self.progress.say)
        source = stored_source(files.paths, files.folder, _read_columns(request.catalog), bool(request.types))
        if isinstance(source, Unfit):
            counts, patterns, skipped, shares, refused, place = self._in_memory(layers)
            reason = f"all in this process: {source.reason}"
        else:
            counts, patterns, skipped, shares, place = self._in_files(source, layers)
            refused = _write_rejected((), request.out)
            laid_out = source.layout is not None
            reason = f"{cores()} processes, files {'read in place' if laid_out else 'sorted by track on the way'}"
        read = attributes_read(patterns, list(shares))
        return {
            **matches_summary(counts, patterns, time.monotonic() - began, self.seconds),
            "rejected": refused,
            "output": str(place),
            "attributes_known": {name: round(share, 4) for name, share in shares.items()},
            "little_known": little_known(read, shares),
            "scheme": "source" if not isinstance(source, Unfit) and source.layout else "partition",
            "scheme_reason": reason,
            "engine": ENGINE,
            "corrupt_files": [*files.corrupt, *(name for kind, name in counts if kind == CORRUPT)],
            "skipped": skipped,
        }

    def _in_files(
        self, source: ParquetSource, layers: LayersAtHand
    ) -> tuple[Counts, tuple[CompiledPattern, ...], dict[str, str], Mapping[str, float], Path]:
        request, self.found_in = self.request, source
        schema = schema_of(source)
        with self._step(f"compiling {count_of(len(request.catalog), 'pattern')}"):
            fitting = fit_patterns(
                request.catalog, arrow_types(schema), schema.names, layers.by_name, request.skip_unfit, OF_COMMANDS
            )
            sought = _sought(fitting.plain, fitting.families, layers, request.episodes == "all")
        places = places_in(schema)
        began = time.monotonic()
        with replaced_matches(request.out, places) as staging, self.progress.step("recognising"):
            task = recognition(sought, places, request.skip_corrupt)
            counts = run_over_files(task, source, staging, source.layout is not None)
        self.seconds["recognising"] = round(time.monotonic() - began, 3)
        place = self._finish()
        asked = [name for names in attributes_read(sought.patterns, schema.names).values() for name in names]
        shares = shares_in_files(source, tuple(dict.fromkeys(asked)))
        return counts, sought.patterns, dict(fitting.skipped), shares, place

    def _in_memory(
        self, layers: LayersAtHand
    ) -> tuple[Counts, tuple[CompiledPattern, ...], dict[str, str], Mapping[str, float], int, Path]:
        request = self.request
        with self._step("reading events"):
            named = Named(time_unit=request.time_unit)
            read = read_source(EventSource(tuple(request.events), named, request.types or {}))
        for note in read.notes:
            self.progress.say(note)
        events = self.found_in = read.events
        with self._step(f"compiling {count_of(len(request.catalog), 'pattern')}"):
            prepared = prepare_search(
                request.catalog, events, layers, request.skip_unfit, request.episodes == "all", OF_COMMANDS
            )
        places = events.has_places
        began = time.monotonic()
        with replaced_matches(request.out, places) as staging, self.progress.step("recognising"):
            counts = recognise_frame(prepared.sought, events, places, staging)
        self.seconds["recognising"] = round(time.monotonic() - began, 3)
        place = self._finish()
        refused = _write_rejected(read.rejected_rows(), request.out)
        patterns = prepared.sought.patterns
        asked = [name for names in attributes_read(patterns, events.columns).values() for name in names]
        shares = {name: events.known_share(name) for name in dict.fromkeys(asked)} if len(events) else {}
        return counts, patterns, dict(prepared.fitting.skipped), shares, refused, place

    def write_outputs(self, summary: Mapping[str, Any], asked: "Outputs") -> dict[str, str]:
        """Write positions, GeoJSON and the page; where each is."""
        written = asked.begin(self.request.out)
        if not written:
            return {}
        # these bring pandas and the pages, and are not always asked for
        from foresail.pipeline.local.recognition_outputs import (  # noqa: PLC0415
            write_geojson,
            write_positions,
            write_report,
        )
        from foresail.pipeline.local.report_reading import LocalReading  # noqa: PLC0415

        request, matches = self.request, Path(summary["output"])
        minutes = MINUTES in _read_columns(request.catalog)
        for name, place in written.items():
            with self.progress.step(f"writing {place.name}"):
                if name == "positions":
                    write_positions(matches, self._reader(), minutes, place)
                elif name == "geojson":
                    write_geojson(matches, place)
                else:
                    reading = LocalReading(matches, self._reader(), minutes)
                    write_report(reading, request.catalog, self.layers.layers, request.out, summary)
        return {name: str(place) for name, place in written.items()}

    def _reader(self) -> "TrackReader":
        from foresail.pipeline.local.track_reader import FileTracks, HeldTracks  # noqa: PLC0415

        assert self.found_in is not None, "the events were read"
        return FileTracks(self.found_in) if isinstance(self.found_in, ParquetSource) else HeldTracks(self.found_in)

    def _finish(self) -> Path:
        with self._step("writing"):
            return finish_matches(None, self.request.out, self.request.form)

    @contextmanager
    def _step(self, text: str) -> Iterator[None]:
        began = time.monotonic()
        with self.progress.step(text):
            yield
        self.seconds[text.split(maxsplit=1)[0]] = round(time.monotonic() - began, 3)


def _sought(plain: tuple[CompiledPattern, ...], families: Sequence[Any], layers: LayersAtHand, updates: bool) -> Sought:
    if not families:
        return Sought(plain, updates=updates)
    from foresail.pipeline.local.near_layers import near_layers  # noqa: PLC0415 - layers are slow to import

    groups = near_layers(families, layers.by_name)
    by_layer = {layer.name: patterns for patterns, layer in groups}
    return Sought(plain, by_layer, tuple(layer for _, layer in groups), updates)


def _read_columns(catalog: Catalog) -> list[str]:
    return list(dict.fromkeys(a.key for entry in catalog for a in attributes_read_by(entry)))


def _write_rejected(rows: Sequence[str], out: Path) -> int:
    """The rejected rows as JSON lines, in place of those of an earlier run; how many there are."""
    with replaced(out / "rejected.jsonl") as staging:
        staging.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return len(rows)
