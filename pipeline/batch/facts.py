"""The facts that the planner reads, told from the paths of the events and from the patterns."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame

from foresail.pipeline.batch.kernel_columns import has_places
from foresail.pipeline.batch.parquet_source import LAT, LON, ParquetSource, Unfit, parquet_source
from foresail.pipeline.batch.planner import Choice, Facts, Scheme, choose
from foresail.pipeline.batch.running import near_layers
from foresail.pipeline.batch.skewed_tracks import Slices, long_tracks
from foresail.pipeline.errors import InputError
from foresail.pipeline.sources.kafka import SCHEME as KAFKA
from foresail.pipeline.stages.recognise import Recognise


@dataclass(frozen=True, slots=True)
class Prepared:
    """How the events will be read and spread."""

    source: ParquetSource | None
    choice: Choice
    slices: Slices = field(default_factory=dict)
    """Long tracks, and where to cut them."""


def prepare(
    paths: Sequence[str], events: DataFrame, stage: Recognise, wanted: Scheme, as_read: bool, vouched: str | None = None
) -> Prepared:
    """The choice for these events; with `as_read` unset their columns are changed after reading, so Spark reads them.

    `vouched` is the folder whose layout holds for `paths` when these are files of it.
    """
    found = parquet_source(paths, columns_read(stage, events), vouched) if as_read else Unfit("columns are converted")
    if near_layers(stage.families) is None:
        found = Unfit("a family is joined by Spark")
    source = found if isinstance(found, ParquetSource) else None
    facts = _facts(paths, events, stage, found, wanted)
    if wanted is Scheme.SOURCE and facts.whole_tracks is None:
        msg = (
            f"--scheme source: {facts.not_whole}. Take --scheme partition, or lay the events out by track: "
            "`foresail ingest`, `simulate` and `enrich` do."
        )
        raise InputError(msg)
    cores = facts.cores
    slices = long_tracks(source, cores) if source else {}
    choice = choose(replace(facts, long_tracks=len(slices)), wanted)
    return Prepared(source, choice, {} if choice.in_place else slices)


def columns_read(stage: Recognise, events: DataFrame) -> tuple[str, ...]:
    """The columns of the events that recognition reads, besides track, time and offset."""
    known = set(events.columns)
    read = (a.key for p in stage.patterns for a in p.attributes)
    owners = {p.spec.family for p in stage.patterns}
    plain = [key for key in read if key in known or key.partition(".")[0] not in owners]
    trees = (column.name for column in stage.inputs)
    return tuple(dict.fromkeys([*plain, *trees, *((LON, LAT) if has_places(events) else ())]))


def _facts(
    paths: Sequence[str], events: DataFrame, stage: Recognise, found: ParquetSource | Unfit, wanted: Scheme
) -> Facts:
    cores = events.sparkSession.sparkContext.defaultParallelism
    plain = Facts(cores=cores, units=len(stage.plain) + len(stage.families))
    if isinstance(found, ParquetSource):
        files = replace(plain, events=found.rows, files=len(found.pieces))
        if found.layout is None:
            return replace(files, not_whole="the Parquet files are not laid out by track")
        return replace(files, tracks=found.layout.tracks, whole_tracks="Parquet laid out by track")
    if all(path.startswith(KAFKA) for path in paths):
        keyed = "the topic is keyed by track, as --scheme source says" if wanted is Scheme.SOURCE else None
        return replace(plain, whole_tracks=keyed, not_whole="a topic need not be keyed by track")
    return replace(plain, not_whole=found.reason)
