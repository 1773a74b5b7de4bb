"""The branch of the live line that makes pairs of tracks: positions in order, at common times, who is near whom.

It reads the messages a second time beside the branch of positions, which tells of late and rejected ones; here they are
dropped. What comes out are events like any others, one track for each pair, in buckets of their own.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from foresail.geo import PairSettings, legs_of_previous, pairs_of_streamed_legs
from foresail.geo.proximity import LEG_COLUMNS
from foresail.geo.proximity_stream import DEFAULT_BUCKETS, PREVIOUS
from foresail.pipeline.stages.derive import REMEMBERED, DeriveOptions, with_speeds
from foresail.pipeline.stream.bucket.input_rows import EVENT
from foresail.pipeline.stream.bucket.operator import beside_previous
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.query.kernel_columns import Incoming, beside, bucket_of

ARRIVED = "arrived_us"
KEYS = ("bucket", "kind", "track", "time", "offset", ARRIVED, "payload", "packed")


def pair_settings(within_m: float, attributes: Collection[str] | None = None) -> PairSettings:
    """How pairs are made; with `attributes` only those of each track are carried of which a pair shows one."""
    carried = PairSettings().attributes
    if attributes is not None:
        carried = tuple(name for name in carried if {f"{name}_a", f"{name}_b"} & set(attributes))
    return PairSettings(distance_m=within_m, attributes=(*carried, ARRIVED))


def pair_bucket_rules(rules: BucketRules, settings: PairSettings) -> BucketRules:
    """How buckets of pairs keep time: the events of a pair come in order, but one pair may be behind another."""
    return replace(
        rules, out_of_order_us=0, keep_same_time=False, rerun_us=0, timers_wait_us=settings.lateness_s * 1_000_000
    )


def pair_rows(
    incoming: Incoming,
    labels: Sequence[int],
    pair_labels: Sequence[int],
    settings: PairSettings,
    rules: BucketRules,
    filling: DeriveOptions | None = None,
) -> DataFrame:
    """Pairs of tracks as rows of the line, without control messages and ticks.

    `labels` are the buckets in which positions wait to be put in order, as `rules` say; `pair_labels` those of pairs.
    With `filling`, speeds that were not sent are those of the way since the previous position, as it says.
    """
    legs = legs_of_previous(_in_order(incoming, labels, settings, rules, filling))
    found = pairs_of_streamed_legs(legs, settings, max(DEFAULT_BUCKETS, 2 * len(pair_labels)))
    return found.select(
        bucket_of(F.col("track"), pair_labels).alias("bucket"),
        F.lit(EVENT).alias("kind"),
        "track",
        "time",
        F.lit(0).cast("long").alias("offset"),
        F.greatest(f"{ARRIVED}_a", f"{ARRIVED}_b").alias(ARRIVED),
        F.lit(None).cast("string").alias("payload"),
        F.lit(None).cast("binary").alias("packed"),
        *(name for name in found.columns if name not in KEYS and not name.startswith(ARRIVED)),
    )


def _in_order(
    incoming: Incoming,
    labels: Sequence[int],
    settings: PairSettings,
    rules: BucketRules,
    filling: DeriveOptions | None,
) -> DataFrame:
    """The positions in order of time, each with the one before it; late ones are left out."""
    kept = [name for name in settings.attributes if name in incoming.rows.columns]
    # what is compared with the position before where attributes are derived: of no use here
    unused = [name for name in REMEMBERED if name not in (*LEG_COLUMNS, *kept)]
    # rejected messages are left out after this step: Spark takes seconds to plan a filter over what cleans them
    positions = incoming.rows.withColumn("payload", F.lit(None).cast("string")).select(
        *dict.fromkeys((*KEYS, *LEG_COLUMNS, *kept)),
        *(F.lit(None).cast("double").alias(name) for name in unused),
    )
    met = beside_previous(beside(positions, incoming, labels), replace(rules, rerun_us=0))
    events = met.where(F.col("kind") == EVENT)
    complete = with_speeds(events, filling) if filling and set(filling.fill_speeds) & set(kept) else events
    return complete.select(*LEG_COLUMNS, *PREVIOUS, *kept)
