"""Cleaning that needs the neighbours of a position in its track: repeats, spikes and jumps.

Every row that is taken out of a track has a reason in `late_reason`; the rest is what the track is made of.
"""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipeline.stages.derive import DeriveOptions, haversine_m, is_jump
from pipeline.stages.policy import Policy

DUPLICATES = {
    "exact_duplicate": "the same track, time and place once more",
    "same_time": "the same track and time in another place; the first received was kept",
}
"""In what ways a row repeats an instant of its track."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Positions as their tracks keep them, and those that were taken out, with a `late_reason`."""

    kept: DataFrame
    repeated: DataFrame
    rejected: DataFrame


def settle(positions: DataFrame, policy: Policy, options: DeriveOptions) -> Settled:
    """Tracks without repeats, spikes and stray pieces; `positions` have an `age` (0: stored before, 1: new)."""
    marked = _mark_repeats(positions, policy)
    unique = marked.filter(F.col("late_reason").isNull()).drop("late_reason")
    checked = _mark_spikes(unique, options) if policy.spikes == "reject" else _unmarked(unique)
    repeated = marked.filter(F.col("late_reason").isNotNull())
    rejected = checked.filter(F.col("late_reason").isNotNull())
    kept = checked.filter(F.col("late_reason").isNull()).drop("late_reason")
    if policy.jumps == "flag":
        return Settled(kept, repeated, rejected)
    pieces = _with_pieces(kept, options)
    if policy.jumps == "split":
        return Settled(_split(pieces), repeated, rejected)
    judged = _mark_stray_pieces(pieces, policy.min_piece)
    strays = judged.filter(F.col("late_reason").isNotNull())
    return Settled(
        judged.filter(F.col("late_reason").isNull()).drop("late_reason"), repeated, rejected.unionByName(strays)
    )


def came_late() -> Column:
    """Whether a position is earlier in time than the one received just before it in its track."""
    received = Window.partitionBy("track").orderBy("source", "offset")
    return F.coalesce(F.col("time") < F.lag("time").over(received), F.lit(False))



def _mark_repeats(positions: DataFrame, policy: Policy) -> DataFrame:
    if policy.same_time == "keep":
        alike = Window.partitionBy("track").orderBy("time", "lon", "lat", "age", "source", "offset")
        again = F.lag("time").over(alike) == F.col("time")
        here = F.lag("lon").over(alike).eqNullSafe(F.col("lon")) & F.lag("lat").over(alike).eqNullSafe(F.col("lat"))
        return positions.withColumn("late_reason", F.when(again & here, "exact_duplicate"))
    in_time = Window.partitionBy("track").orderBy("time", "age", "source", "offset")
    so_far = in_time.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    first = ~F.coalesce(F.lag("time").over(in_time) == F.col("time"), F.lit(False))
    marked = positions.withColumn("first_place", F.when(first, F.struct("lon", "lat")))
    survivor = F.last("first_place", ignorenulls=True).over(so_far)
    kind = F.when(survivor.eqNullSafe(F.struct("lon", "lat")), "exact_duplicate").otherwise("same_time")
    return marked.withColumn("late_reason", F.when(F.col("first_place").isNull(), kind)).drop("first_place")


def _mark_spikes(positions: DataFrame, options: DeriveOptions) -> DataFrame:
    """A spike is a jump there and back while two positions before and two after lie on one plausible path.

    Two on each side, because two ships that share an MMSI alternate: with one neighbour each would be a spike of the
    other. Where latitude and longitude in each other's place fit the path, the spike is mended instead.
    """
    in_time = Window.partitionBy("track").orderBy("time", "age", "source", "offset")

    def place(steps: int, of: str) -> Column:
        return F.col(of) if steps == 0 else F.lag(of, -steps).over(in_time)

    names = {-2: "before_last", -1: "last", 1: "next", 2: "after_next"}
    around = positions.withColumn(
        "around",
        F.struct(*[F.struct(*[place(n, c).alias(c) for c in ("time", "lon", "lat")]).alias(names[n]) for n in names]),
    )
    here = {"time": F.col("time"), "lon": F.col("lon"), "lat": F.col("lat")}
    turned = {**here, "lon": F.col("lat"), "lat": F.col("lon")}
    before_last, last, following, after = (
        {c: F.col(f"around.{names[n]}.{c}") for c in ("time", "lon", "lat")} for n in (-2, -1, 1, 2)
    )

    def jump(a: dict[str, Column], b: dict[str, Column]) -> Column:
        gap_s = (F.unix_micros(b["time"]) - F.unix_micros(a["time"])) / 1e6
        return is_jump(haversine_m(a["lon"], a["lat"], b["lon"], b["lat"]), gap_s, options)

    surrounded = before_last["lon"].isNotNull() & after["lon"].isNotNull()
    calm = ~jump(before_last, last) & ~jump(last, following) & ~jump(following, after)
    spike = (F.col("age") == 1) & surrounded & jump(last, here) & jump(here, following) & calm
    fits_turned = (F.abs(F.col("lon")) <= 90) & ~jump(last, turned) & ~jump(turned, following)
    judged = around.withColumns({"spike": F.coalesce(spike, F.lit(False))}).withColumn(
        "turned", F.col("spike") & fits_turned
    )
    return judged.withColumns(
        {
            "late_reason": F.when(F.col("spike") & ~F.col("turned"), "position_spike"),
            "lon": F.when(F.col("turned"), F.col("lat")).otherwise(F.col("lon")),
            "lat": F.when(F.col("turned"), F.col("lon")).otherwise(F.col("lat")),
        }
    ).drop("around", "spike", "turned")


def _unmarked(positions: DataFrame) -> DataFrame:
    return positions.withColumn("late_reason", F.lit(None).cast("string"))


def _with_pieces(positions: DataFrame, options: DeriveOptions) -> DataFrame:
    """Number the pieces of each track that jumps cut it into, from 0."""
    in_time = Window.partitionBy("track").orderBy("time", "age", "source", "offset")
    gap_s = (F.unix_micros("time") - F.unix_micros(F.lag("time").over(in_time))) / 1e6
    distance_m = haversine_m(
        F.lag("lon").over(in_time), F.lag("lat").over(in_time), F.col("lon"), F.col("lat")
    )
    jumped = positions.withColumn("jumped", is_jump(distance_m, gap_s, options).cast("int"))
    so_far = in_time.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return jumped.withColumn("piece", F.sum("jumped").over(so_far)).drop("jumped")


def _split(pieces: DataFrame) -> DataFrame:
    named = F.concat("track", F.lit("#"), F.col("piece") + 1)
    return pieces.withColumn("track", F.when(F.col("piece") > 0, named).otherwise(F.col("track"))).drop("piece")


def _mark_stray_pieces(pieces: DataFrame, min_piece: int) -> DataFrame:
    size = F.count("*").over(Window.partitionBy("track", "piece"))
    return pieces.withColumn("late_reason", F.when((size < min_piece) & (F.col("age") == 1), "position_jump")).drop("piece")
