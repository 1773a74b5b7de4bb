"""A scheme carried out: the Spark plan whose workers write the matches, for events of either kind of source."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.spec import Output
from foresail.pipeline.batch.gathering import GATHERED_DDL, bucket_keys
from foresail.pipeline.batch.kernel_columns import FamilyGroup, has_places
from foresail.pipeline.batch.match_writer import WRITTEN_DDL, Writing
from foresail.pipeline.batch.parquet_reader import NearLayer
from foresail.pipeline.batch.parquet_source import ParquetSource, Piece, in_pieces
from foresail.pipeline.batch.planner import Choice, Scheme
from foresail.pipeline.batch.skewed_tracks import Slices
from foresail.pipeline.batch.sliced import SPECULATED_DDL, Speculate, Stitch
from foresail.pipeline.batch.sorted_rows import Partition
from foresail.pipeline.batch.tally import Tally
from foresail.pipeline.batch.workers import InPlace, Receive, Search, Send
from foresail.pipeline.results.match_table import match_batch
from foresail.pipeline.stages.recognise import Recognise


@dataclass(frozen=True, slots=True)
class Work:
    """What to look for, in which events, and where the matches go."""

    stage: Recognise
    events: DataFrame
    """The events as Spark reads them."""
    source: ParquetSource | None
    """The events as workers read them, where they can."""
    folder: str
    tally: Tally | None = None
    skip_corrupt: bool = False
    updates: bool = True
    """Whether open episodes are told at each further detection."""
    slices: Slices = field(default_factory=dict)
    """Long tracks, and where to cut them."""
    say: Callable[[str], None] = lambda _: None
    """Where to tell what was not as expected."""


def run_scheme(work: Work, choice: Choice) -> int:
    """Find and write the matches; how many there are."""
    rows = written(work, choice).collect()
    unsettled = sorted(row.unsettled for row in rows if row.unsettled)
    if not unsettled:
        return sum(row.matches for row in rows)
    for track in unsettled:
        work.say(f"track {track}: some pattern remembers more than a slice of it, so it is run again in one piece")
    return run_scheme(_begun_anew(replace(work, slices=without(work.slices, unsettled))), choice)


def without(slices: Slices, tracks: Collection[str]) -> Slices:
    """The same without these tracks, which stay whole."""
    return {track: cuts for track, cuts in slices.items() if track not in tracks}


def _begun_anew(work: Work) -> Work:
    """The same work as if nothing had been written and counted yet."""
    for file in Path(work.folder).glob("*.parquet"):
        file.unlink()
    if work.tally is not None:
        work.tally.value = Counter()
    return work


def written(work: Work, choice: Choice) -> DataFrame:
    """A row for each file of matches, written when it is asked for."""
    parts = split(work.stage, choice.groups) if choice.in_place or not work.slices else split_by_memory(work.stage)
    frames = [_written(work, part, choice, counts_events=n == 0) for n, part in enumerate(parts)]
    return reduce(DataFrame.unionAll, frames)


def split(stage: Recognise, groups: int) -> list[Recognise]:
    """The patterns in so many groups of about the same number; families over one layer stay together."""
    units: list[CompiledPattern | FamilyGroup] = [*stage.families, *stage.plain]
    return [_stage_of(stage, units[n::groups]) for n in range(groups)]


def split_by_memory(stage: Recognise) -> list[Recognise]:
    """Patterns whose runs are few numbers, which can be sliced, and those that need a long track in one piece."""
    light = tuple(pattern for pattern in stage.plain if _is_light(pattern))
    heavy = tuple(pattern for pattern in stage.plain if not _is_light(pattern))
    parts = [replace(stage, plain=light, families=()), replace(stage, plain=heavy)]
    return [part for part in parts if part.patterns]


def can_be_sliced(stage: Recognise) -> bool:
    """Whether `split_by_memory` puts all of these patterns among those that can be sliced."""
    return not stage.families and all(map(_is_light, stage.plain))


def _is_light(pattern: CompiledPattern) -> bool:
    return pattern.spec.output is Output.DETECT and pattern.memory is None


def _stage_of(stage: Recognise, units: Sequence[CompiledPattern | FamilyGroup]) -> Recognise:
    plain = tuple(unit for unit in units if isinstance(unit, CompiledPattern))
    families = tuple(unit for unit in units if isinstance(unit, FamilyGroup))
    return replace(stage, plain=plain, families=families)


def _written(work: Work, stage: Recognise, choice: Choice, counts_events: bool) -> DataFrame:
    places = has_places(work.events)
    layers = near_layers(stage.families)
    if work.source is None or layers is None:
        return _through_spark(work, stage, choice, places, counts_events)
    search = Search(
        stage.plain, stage.by_layer, layers, places, counts_events, work.skip_corrupt, work.updates,
    )  # fmt: skip
    spark = work.events.sparkSession
    if choice.in_place:
        whole = [tuple(work.source.pieces)] if choice.scheme is Scheme.PATTERN else [(p,) for p in work.source.pieces]
        worker = Writing(InPlace(tuple(whole), search, work.tally), work.folder, places)
        return _tasks(spark, len(whole)).mapInArrow(worker, WRITTEN_DDL)
    slices = work.slices if can_be_sliced(stage) else {}
    pieces: list[tuple[Piece, ...]] = [(p,) for p in in_pieces(work.source, spark.sparkContext.defaultParallelism)]
    send = Send(tuple(pieces), search, bucket_keys(choice.buckets), slices, work.tally)
    sent = _tasks(spark, len(pieces)).mapInArrow(send, GATHERED_DDL)
    spread = sent.repartition(choice.buckets, "bucket")
    writing = Writing(Receive(search, work.tally), work.folder, places)
    if not slices:
        return spread.mapInArrow(writing, WRITTEN_DDL)
    speculated = spread.mapInArrow(Speculate(search, replace(writing, prefix="whole")), SPECULATED_DDL)
    last = Stitch(search, replace(writing, prefix="long"), work.tally)
    return speculated.repartition(len(slices), "track").mapInArrow(last, WRITTEN_DDL)


def near_layers(families: Sequence[FamilyGroup]) -> tuple[NearLayer, ...] | None:
    """The layers of the families as workers open them; None where one can only be joined by Spark."""
    layers = [group.layer for group in families]
    return tuple(layer for layer in layers if layer) if all(layers) else None


def _through_spark(work: Work, stage: Recognise, choice: Choice, places: bool, counts_events: bool) -> DataFrame:
    own = replace(stage, partitions=choice.buckets, whole_tracks=choice.in_place)
    worker = Partition(stage.plain, stage.by_layer, work.tally, match_batch, counts_events, work.updates)
    return own.sorted_rows(work.events).mapInArrow(Writing(worker, work.folder, places), WRITTEN_DDL)


def _tasks(spark: SparkSession, count: int) -> DataFrame:
    """One row for each task, each in a partition of its own."""
    return spark.range(0, max(1, count), 1, max(1, count))
