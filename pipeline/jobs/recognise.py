"""Batch recognition: events in, matches out, and a summary that accounts for every row."""

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from foresail.pipeline.batch.facts import Prepared, prepare
from foresail.pipeline.batch.families import Family, family_groups, layers_at
from foresail.pipeline.batch.kernel_columns import has_places
from foresail.pipeline.batch.running import Work, run_scheme
from foresail.pipeline.batch.tally import CORRUPT, EVENTS, matches_summary, open_tally
from foresail.pipeline.conditions.spark import attribute_types
from foresail.pipeline.fitting import fit_patterns
from foresail.pipeline.jobs.faults import explained
from foresail.pipeline.jobs.recognise_request import RecogniseRequest
from foresail.pipeline.jobs.watch import watched as watched_stages
from foresail.pipeline.progress import Progress
from foresail.pipeline.reports.page import count_of
from foresail.pipeline.runtime.interruption import interruption_delayed
from foresail.pipeline.sinks.matches import finish_matches, replaced_matches, write_rejected
from foresail.pipeline.sinks.output_folder import claim_output
from foresail.pipeline.sources.parquet_files import events_folder, usable_files
from foresail.pipeline.sources.table import REJECTED, Events, read_events
from foresail.pipeline.stages.derive import with_start
from foresail.pipeline.stages.known_share import Watched, attributes_read, little_known, shares_in_files, watched
from foresail.pipeline.stages.recognise import Recognise

if TYPE_CHECKING:
    from foresail.geo import Layer


def run_recognise(spark: SparkSession, request: RecogniseRequest, progress: Progress) -> dict[str, Any]:
    """Find the patterns of the catalog in the events; the summary."""
    try:
        return _Run(spark, request, progress).run()
    except (PySparkException, Py4JJavaError) as error:
        explanation = explained(error, str(spark.sparkContext.master))
        if explanation is None:
            raise
        raise explanation from error


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
            every = read_events(self.spark, files.paths, request.types, request.time_unit)
            events, self.rejected = every.counting()
            events = replace(events, good=with_start(events.good, request.catalog))
        for file in files.corrupt:
            self.progress.say(f"{file}: cannot be read as Parquet, left out")
        with self._step(f"compiling {count_of(len(request.catalog), 'pattern')}"):
            stage, skipped = compile_catalog(
                request, events.good, layers_at(request.layers, request.layer_cache, self.progress)
            )
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
            **matches_summary(self.tally.value, stage.patterns, time.monotonic() - began, self.seconds),
            "rejected": refused,
            "output": str(place),
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
                # where no event passes Spark leaves the counting out, and would be waited for in vain
                none = source or (self.tally.value[EVENTS, ""] and not self.rejected.get[REJECTED])
                refused = write_rejected(None if none else events.rejected, request.out / "rejected.jsonl")
        return place, stages, refused

    @contextmanager
    def _step(self, text: str) -> Iterator[None]:
        began = time.monotonic()
        with self.progress.step(text):
            yield
        self.seconds[text.split(maxsplit=1)[0]] = round(time.monotonic() - began, 3)


def compile_catalog(
    request: RecogniseRequest, events: DataFrame, layers: "Mapping[str, Layer]"
) -> tuple[Recognise, dict[str, str]]:
    """The stage that finds the catalog's patterns, and those left out with the reason."""
    fitting = fit_patterns(request.catalog, attribute_types(events.schema), events.columns, layers, request.skip_unfit)
    families = [Family(entry, pattern) for entry, pattern in fitting.families]
    return Recognise(fitting.plain, family_groups(families, layers)), dict(fitting.skipped)
