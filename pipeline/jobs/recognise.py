"""Batch recognition: events in, matches out, and a summary that accounts for every row."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from foresail.geo import Layer, read_layers
from foresail.geo.errors import GeoError
from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.errors import UnknownAttributeError
from foresail.patterns.spec import without_features
from foresail.pipeline.batch.facts import Prepared, prepare
from foresail.pipeline.batch.families import Family, family_groups
from foresail.pipeline.batch.kernel_columns import has_places
from foresail.pipeline.batch.planner import Scheme
from foresail.pipeline.batch.running import Work, run_scheme
from foresail.pipeline.batch.tally import CORRUPT, EVENTS, MATCHES, OMITTED, ROWS, open_tally
from foresail.pipeline.conditions.spark import attribute_types
from foresail.pipeline.errors import InputError
from foresail.pipeline.jobs.enrich import events_folder
from foresail.pipeline.jobs.faults import explained
from foresail.pipeline.jobs.watch import watched as watched_stages
from foresail.pipeline.progress import Progress
from foresail.pipeline.reports.words import count_of
from foresail.pipeline.runtime.interruption import interruption_delayed
from foresail.pipeline.sinks.matches import finish_matches, replaced_matches, write_rejected
from foresail.pipeline.sinks.output_folder import claim_output
from foresail.pipeline.sources.parquet_files import usable_files
from foresail.pipeline.sources.table import Events, read_events
from foresail.pipeline.stages.known_share import Watched, attributes_read, little_known, shares_in_files, watched
from foresail.pipeline.stages.recognise import Recognise
from foresail.pipeline.stages.since_start import with_start
from foresail.pipeline.unfit import check_layer, check_pairs, unfit


@dataclass(frozen=True, slots=True)
class RecogniseRequest:
    """What to read, what to look for, and where to write."""

    events: Sequence[str]
    catalog: Catalog
    out: Path
    form: str = "parquet"
    types: Mapping[str, str] | None = None
    time_unit: str | None = None
    layers: Path | None = None
    """The layers file that pattern families need."""
    layer_cache: Path = Path("layers")
    skip_unfit: bool = False
    """Leave out, and tell, the patterns that need what the events do not have; otherwise that is an error."""
    scheme: Scheme = Scheme.AUTO
    skip_corrupt: bool = False
    """Go on without files that cannot be read, and tell which; otherwise that is an error."""
    episodes: str = "all"
    """`changes` leaves out the rows `updated`, which an episode has for every detection after it opened."""


def run_recognise(spark: SparkSession, request: RecogniseRequest, progress: Progress) -> dict[str, Any]:
    """Find the patterns of the catalog in the events; the summary."""
    try:
        return _Run(spark, request, progress).run()
    except (PySparkException, Py4JJavaError) as error:
        told = explained(error, str(spark.sparkContext.master))
        if told is None:
            raise
        raise told from error


class _Run:
    """One run: a straight list of steps, each with its seconds."""

    def __init__(self, spark: SparkSession, request: RecogniseRequest, progress: Progress) -> None:
        self.spark, self.request, self.progress = spark, request, progress
        self.seconds: dict[str, float] = {}
        self.tally = open_tally(spark.sparkContext)

    def run(self) -> dict[str, Any]:
        began = time.monotonic()
        request = self.request
        claim_output(request.out, "recognise")
        with self._step("reading events"):
            files = usable_files([events_folder(path) for path in request.events], request.skip_corrupt)
            events = read_events(self.spark, files.paths, request.types, request.time_unit)
            events = replace(events, good=with_start(events.good, request.catalog))
        for file in files.corrupt:
            self.progress.say(f"{file}: cannot be read as Parquet, left out")
        with self._step(f"compiling {count_of(len(request.catalog), 'pattern')}"):
            stage, skipped = compile_catalog(request, events.good, _read_layers(request, self.progress))
        with self._step("planning"):
            prepared = prepare(files.paths, events.good, stage, request.scheme, request.types is None, files.folder)
        choice = prepared.choice
        self.progress.say(f"scheme {choice.scheme}: {choice.reason}")
        for track, cuts in prepared.slices.items():
            self.progress.say(f"track {track}: is long, shared in {len(cuts) + 1} slices")
        read = attributes_read(stage.patterns, events.good.columns)
        asked = tuple(dict.fromkeys(name for names in read.values() for name in names))
        passing = Watched(events.good, ()) if prepared.source else watched(events.good, asked)
        place, stages, refused = self._recognise(stage, replace(events, good=passing.events), prepared)
        # where no event passes Spark leaves the counting out, and would be waited for in vain
        passed = passing.shares if self.tally.value[EVENTS, ""] else dict
        known = shares_in_files(prepared.source, asked) if prepared.source else passed()
        return {
            **self._summary(stage.patterns, time.monotonic() - began, refused, place),
            "attributes_known": {name: round(share, 4) for name, share in known.items()},
            "little_known": little_known(read, known),
            "scheme": str(choice.scheme),
            "scheme_reason": choice.reason,
            "spark_stages": stages,
            "corrupt_files": [*files.corrupt, *(name for kind, name in self.tally.value if kind == CORRUPT)],
            "skipped": skipped,
        }

    def _recognise(self, stage: Recognise, events: Events, prepared: Prepared) -> tuple[Path, dict[str, float], int]:
        request, context = self.request, self.spark.sparkContext
        places = has_places(events.good)
        began = time.monotonic()
        with ExitStack() as unbroken:
            with (
                watched_stages(context, self.progress, "recognising", lambda: self.tally.value) as stages,
                replaced_matches(request.out, places) as staging,
            ):
                source = prepared.source
                work = Work(
                    stage, events.good, source, str(staging), self.tally, request.skip_corrupt,
                    request.episodes == "all", prepared.slices, self.progress.say,
                )  # fmt: skip
                run_scheme(work, prepared.choice)
                unbroken.enter_context(interruption_delayed())  # what is put into place now belongs together
            self.seconds["recognising"] = round(time.monotonic() - began, 3)
            with self._step("writing"):
                place = finish_matches(self.spark, request.out, request.form)
                refused = write_rejected(None if source else events.rejected, request.out / "rejected.jsonl")
        return place, stages, refused

    @contextmanager
    def _step(self, text: str) -> Iterator[None]:
        began = time.monotonic()
        with self.progress.step(text):
            yield
        self.seconds[text.split(maxsplit=1)[0]] = round(time.monotonic() - began, 3)

    def _summary(
        self, patterns: Sequence[CompiledPattern], seconds: float, refused: int, place: Path
    ) -> dict[str, Any]:
        counts = self.tally.value
        found = {pattern.name: counts[MATCHES, pattern.name] for pattern in patterns}
        rows = {pattern.name: counts[ROWS, pattern.name] for pattern in patterns}
        events = counts[EVENTS, ""]
        return {
            "events": events,
            "rejected": refused,
            "matches": sum(found.values()),
            "matches_by_pattern": found,
            "rows": sum(rows.values()),
            "rows_by_pattern": rows,
            "omitted": counts[OMITTED, ""],
            "seconds": round(seconds, 3),
            "seconds_by_step": self.seconds,
            "events_per_second": round(events / seconds),
            "output": str(place),
        }


def compile_catalog(
    request: RecogniseRequest, events: DataFrame, layers: Mapping[str, Layer]
) -> tuple[Recognise, dict[str, str]]:
    """The stage that finds the catalog's patterns, and those left out with the reason."""
    known = attribute_types(events.schema)
    plain: list[CompiledPattern] = []
    families: list[Family] = []
    skipped: dict[str, str] = {}
    for entry in request.catalog:
        try:
            check_pairs(entry, events.columns)
            check_layer(entry, layers, events.columns)
            pattern = compile_pattern(without_features(entry.spec()), known)
        except (UnknownAttributeError, InputError) as error:
            fault = unfit(error)
            if not request.skip_unfit:
                raise fault from None
            skipped[entry.name] = str(fault)
            continue
        if entry.for_each:
            families.append(Family(entry, pattern))
        else:
            plain.append(pattern)
    if not plain and not families:
        msg = f"events: fit none of the {len(request.catalog)} patterns. Columns: {', '.join(events.columns)}."
        raise InputError(msg)
    return Recognise(tuple(plain), family_groups(families, layers)), skipped


def _read_layers(request: RecogniseRequest, progress: Progress) -> dict[str, Layer]:
    if request.layers is None:
        return {}
    try:
        layers = read_layers(request.layers, request.layer_cache, progress.say)
    except GeoError as error:
        raise InputError(str(error)) from error
    return {layer.spec.name: layer for layer in layers}
