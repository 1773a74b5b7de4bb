"""Cleaning that needs the neighbours of a position in its track: repeats, swapped coordinates, spikes and jumps.

Every row that is taken out of a track has a reason in `late_reason`; the rest is what the track is made of.
"""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.stages.derive import DeriveOptions, haversine_m, is_jump
from foresail.pipeline.stages.policy import Policy

DUPLICATES = {
    "exact_duplicate": "the same track, time and place once more",
    "same_time": "the same track and time in another place; the first received was kept",
}
"""In what ways a row repeats an instant of its track."""

VOUCHING_ROWS, VOUCHING_S = 3, 1800
"""A swapped place is believed for positions so near to it in the track: from further off a ship can be anywhere."""


@dataclass(frozen=True, slots=True)
class SettledTracks:
    """Positions as their tracks keep them, which of these were mended, and those taken out, with a `late_reason`."""

    kept: DataFrame
    mended: DataFrame
    repeated: DataFrame
    rejected: DataFrame


def settle(positions: DataFrame, policy: Policy, options: DeriveOptions) -> SettledTracks:
    """Tracks without repeats, spikes and stray pieces; `positions` have an `age` (0: stored before, 1: new)."""
    marked = _mark_repeats(positions, policy)
    unique = marked.filter(F.col("late_reason").isNull()).drop("late_reason")
    placed = _mark_swaps(unique, options)
    on_earth = placed.filter(F.col("late_reason").isNull())
    checked = _mark_spikes(on_earth, options) if policy.spikes == "reject" else on_earth
    repeated = marked.filter(F.col("late_reason").isNotNull())
    rejected = placed.filter(F.col("late_reason").isNotNull())
    if policy.spikes == "reject":
        rejected = rejected.unionByName(checked.filter(F.col("late_reason").isNotNull()))
    staying = checked.filter(F.col("late_reason").isNull()).drop("late_reason")
    kept, mended = staying.drop("turned"), staying.filter("turned")
    if policy.jumps == "flag":
        return SettledTracks(kept, mended, repeated, rejected)
    pieces = _with_pieces(kept, options)
    if policy.jumps == "split":
        return SettledTracks(_split(pieces), mended, repeated, rejected)
    judged = _mark_stray_pieces(pieces, policy.min_piece)
    strays = judged.filter(F.col("late_reason").isNotNull())
    kept = judged.filter(F.col("late_reason").isNull()).drop("late_reason")
    return SettledTracks(kept, mended, repeated, rejected.drop("turned").unionByName(strays))


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


def _mark_swaps(positions: DataFrame, options: DeriveOptions) -> DataFrame:
    """A latitude beyond 90 is put back as the longitude (`turned`) where positions before and after lie around it.

    Otherwise the row is rejected: a latitude may be wrong in other ways than that.
    """
    in_time = Window.partitionBy("track").orderBy("time", "age", "source", "offset")
    sound = F.when(F.abs("lat") <= 90, F.struct("time", "lon", "lat"))
    last, following = F.col("last"), F.col("following")
    around = positions.withColumns(
        {
            name: F.coalesce(*(F.lag(sound, sign * rows).over(in_time) for rows in range(1, VOUCHING_ROWS + 1)))
            for name, sign in (("last", 1), ("following", -1))
        }
    )
    turned = F.struct("time", F.col("lat").alias("lon"), F.col("lon").alias("lat"))
    beyond = F.coalesce(F.abs("lat") > 90, F.lit(False))
    vouched = _vouched(last, turned, options) & _vouched(turned, following, options)
    marked = around.withColumn("turned", beyond & F.coalesce(vouched, F.lit(False)))
    return _turn(marked.withColumn("late_reason", F.when(beyond & ~F.col("turned"), "position_out_of_range"))).drop(
        "last", "following"
    )


def _vouched(start: Column, end: Column, options: DeriveOptions) -> Column:
    """Whether the step between two places is no jump and short; null where a place is missing."""
    gap_s = (F.unix_micros(end.getField("time")) - F.unix_micros(start.getField("time"))) / 1e6
    return (gap_s <= VOUCHING_S) & ~_jump(start, end, options)


def _turn(marked: DataFrame, which: str = "turned") -> DataFrame:
    """Longitude and latitude in each other's place where the column `which` says so."""
    lon, lat, turned = F.col("lon"), F.col("lat"), F.col(which)
    return marked.withColumns({"lon": F.when(turned, lat).otherwise(lon), "lat": F.when(turned, lon).otherwise(lat)})


def _mark_spikes(positions: DataFrame, options: DeriveOptions) -> DataFrame:
    """A spike is a jump there and back while two positions before and two after lie on one plausible path.

    Two on each side, because two ships that share an MMSI alternate: with one neighbour each would be a spike of the
    other. Where latitude and longitude in each other's place fit the path, the spike is mended instead.
    """
    in_time = Window.partitionBy("track").orderBy("time", "age", "source", "offset")
    here, turned = (
        F.struct("time", "lon", "lat"),
        F.struct("time", F.col("lat").alias("lon"), F.col("lon").alias("lat")),
    )
    last, following = F.col("last"), F.col("following")
    stepped = positions.withColumns({"last": F.lag(here).over(in_time), "following": F.lead(here).over(in_time)})
    stepped = stepped.withColumns(
        {
            "jumped": F.when(last.isNotNull(), _jump(last, here, options)),
            "calm_without": ~_jump(last, following, options),
        }
    )
    jumped_before, jumped_after, jumped_later = (F.lag("jumped", -n).over(in_time) for n in (-1, 1, 2))
    alone = F.col("jumped") & jumped_after & ~jumped_before & ~jumped_later & F.col("calm_without")
    marked = stepped.withColumn("spike", F.coalesce(alone & (F.col("age") == 1), F.lit(False)))
    fits = (F.abs("lon") <= 90) & ~_jump(last, turned, options) & ~_jump(turned, following, options)
    judged = marked.withColumn("fits", F.col("spike") & fits)
    return (
        _turn(judged, "fits")
        .withColumns(
            {
                "late_reason": F.when(F.col("spike") & ~F.col("fits"), "position_spike"),
                "turned": F.col("turned") | F.col("fits"),
            }
        )
        .drop("last", "following", "jumped", "calm_without", "spike", "fits")
    )


def _jump(start: Column, end: Column, options: DeriveOptions) -> Column:
    """Whether the step between two places in time is a jump; a place that is missing is none."""
    distance_m = haversine_m(*(place.getField(name) for place in (start, end) for name in ("lon", "lat")))
    gap_s = (F.unix_micros(end.getField("time")) - F.unix_micros(start.getField("time"))) / 1e6
    jump: Column = is_jump(distance_m, gap_s, options)
    return jump


def _with_pieces(positions: DataFrame, options: DeriveOptions) -> DataFrame:
    """Number the pieces of each track that jumps cut it into, from 0."""
    in_time = Window.partitionBy("track").orderBy("time", "age", "source", "offset")
    here = F.struct("time", "lon", "lat")
    jumped = positions.withColumn("jumped", _jump(F.lag(here).over(in_time), here, options).cast("int"))
    so_far = in_time.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return jumped.withColumn("piece", F.sum("jumped").over(so_far)).drop("jumped")


def _split(pieces: DataFrame) -> DataFrame:
    named = F.concat("track", F.lit("#"), F.col("piece") + 1)
    return pieces.withColumn("track", F.when(F.col("piece") > 0, named).otherwise(F.col("track"))).drop("piece")


def _mark_stray_pieces(pieces: DataFrame, min_piece: int) -> DataFrame:
    size = F.count("*").over(Window.partitionBy("track", "piece"))
    return pieces.withColumn("late_reason", F.when((size < min_piece) & (F.col("age") == 1), "position_jump")).drop(
        "piece"
    )
