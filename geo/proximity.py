"""Who is near whom: pairs of tracks as tracks of their own, so that the same automata recognise encounters.

Tracks are brought to common times (every `step_s`) by going straight from one position to the next; pairs are sought
among positions of one time and neighbouring cells in space, never among all. A cell is a cube of four times the
distance; a position is entered in every cube that a box of the distance around it touches, and a pair counts in the
cube of its middle, so that each is found once. Cubes know neither poles nor the 180th meridian.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from foresail.geo.errors import AttributeClashError, StrategyError
from foresail.geo.joins import metres_to
from foresail.geo.measures.spheroid import ECCENTRICITY_SQUARED, place_in_space

KNOTS_PER_METRE_PER_SECOND = 3600.0 / 1852.0
CUBE_SIDES = 4.0
LEG_COLUMNS = ("track", "time", "lon", "lat")
BEFORE = ("before_time", "before_lon", "before_lat")
AXES = ("x", "y", "z")
MEASURES = ("distance_m", "relative_speed_kn", "cpa_m", "time_to_cpa_s")


@dataclass(frozen=True, slots=True)
class PairSettings:
    """How near two tracks must be, at which times they are compared, how long a silence may be bridged."""

    distance_m: float = 500.0
    step_s: int = 60
    max_gap_s: int = 600
    lateness_s: int = 1200
    """In a stream: how far one of two tracks may be behind the other; more than `max_gap_s`."""
    attributes: tuple[str, ...] = ("speed_kn", "course_deg", "vessel_type", "ship_type", "name")

    def __post_init__(self) -> None:
        for name in ("distance_m", "step_s", "max_gap_s", "lateness_s"):
            if not getattr(self, name) > 0:
                msg = f"pairs: {name} is {getattr(self, name)}. Give a number above 0."
                raise StrategyError(msg)


def pairs(events: DataFrame, settings: PairSettings | None = None) -> DataFrame:
    """One row per pair of tracks and common time at which they are within the distance; `track` is "a|b", a < b."""
    settings = settings or PairSettings()
    return pairs_of_legs(legs(events, settings), settings)


def legs(events: DataFrame, settings: PairSettings) -> DataFrame:
    """Each position with the one before it in its track; a batch's way, `geo.proximity_stream` has a stream's."""
    order = ["time", *(["offset"] if "offset" in events.columns else [])]
    within_track = Window.partitionBy("track").orderBy(*order)
    before = {new: F.lag(name).over(within_track) for name, new in zip(LEG_COLUMNS[1:], BEFORE, strict=True)}
    return known_positions(events, settings).withColumns(before)


def known_positions(events: DataFrame, settings: PairSettings) -> DataFrame:
    """The positions on earth, with the attributes that pairs carry."""
    missing = [name for name in LEG_COLUMNS if name not in events.columns]
    if missing:
        msg = f"events: no column '{missing[0]}'. Pairs need {', '.join(LEG_COLUMNS)}."
        raise AttributeClashError(msg)
    kept = [name for name in (*settings.attributes, "offset") if name in events.columns]
    known = events.where((F.abs("lon") <= 180.0) & (F.abs("lat") <= 90.0) & F.col("time").isNotNull())
    return known.select(*LEG_COLUMNS, *kept)


def pairs_of_legs(legs: DataFrame, settings: PairSettings) -> DataFrame:
    """Pairs of a batch of legs (`track time lon lat before_time before_lon before_lat` and attributes)."""
    kept = [name for name in settings.attributes if name in legs.columns]
    cubes = in_common_cubes(legs, kept, settings)
    a, b = (cubes.select(*[F.col(name).alias(f"{name}_{side}") for name in cubes.columns]) for side in "ab")
    same = [F.col(f"{name}_a") == F.col(f"{name}_b") for name in ("time", *(f"c{axis}" for axis in AXES))]
    return pairs_of_cubes(a.join(b, [*same, F.col("track_a") < F.col("track_b")]), kept, settings)


def in_common_cubes(legs: DataFrame, kept: Sequence[str], settings: PairSettings) -> DataFrame:
    """The tracks at common times, one row for every cube that the box of the distance around a position touches."""
    common = _at_common_times(legs, kept, settings)
    half, cube = settings.distance_m / 2.0, settings.distance_m * CUBE_SIDES
    for axis in AXES:
        low, high = (F.floor((F.col(axis) + sign * half) / cube).cast("long") for sign in (-1, 1))
        common = common.withColumn(f"c{axis}", F.explode(F.sequence(low, high)))
    return common


def pairs_of_cubes(met: DataFrame, kept: Sequence[str], settings: PairSettings) -> DataFrame:
    """The pairs within the distance among those that met in a cube, each once, with what they have in common."""
    near = met.where(_middle_is_here(settings) & _is_near(settings))
    return _pair_events(near, kept).where(F.col("distance_m") <= settings.distance_m)


def _at_common_times(legs: DataFrame, kept: Sequence[str], settings: PairSettings) -> DataFrame:
    """The track at every multiple of the step between two positions, with its velocity in space."""
    end = F.unix_micros("time") / 1e6
    begin = F.unix_micros("before_time") / 1e6
    bridged = F.col("before_time").isNotNull() & (end > begin) & (end - begin <= settings.max_gap_s)
    # Without a position before it, a position stands for itself alone, if it lies on a common time.
    first = F.when(bridged, F.floor(begin / settings.step_s) + 1).otherwise(F.ceil(end / settings.step_s))
    last = F.floor(end / settings.step_s)
    once = F.coalesce(begin != end, F.lit(True))  # of several positions at one time the first counts
    ticks = F.when(once & (first <= last), F.sequence(first.cast("long"), last.cast("long"))).otherwise(
        F.array().cast("array<long>")
    )
    here, before = (place_in_space(F, F.col(f"{p}lon"), F.col(f"{p}lat")) for p in ("", "before_"))
    span = F.when(bridged, end - begin)
    rows = legs.select(
        "*", F.explode(ticks).alias("tick"), *_numbered("h", here), *_numbered("b", before), span.alias("span")
    )
    behind = F.unix_micros("time") / 1e6 - F.col("tick") * settings.step_s
    share = F.coalesce(behind / F.col("span"), F.lit(0.0))
    place = {
        axis: F.col(f"h{axis}") + share * (F.coalesce(f"b{axis}", f"h{axis}") - F.col(f"h{axis}")) for axis in AXES
    }
    speed = {
        f"v{axis}": F.coalesce((F.col(f"h{axis}") - F.col(f"b{axis}")) / F.col("span"), F.lit(0.0)) for axis in AXES
    }
    at = F.timestamp_seconds(F.col("tick") * settings.step_s)
    return rows.withColumns({**place, **speed, "time": at}).select("track", "time", *AXES, *speed, *kept)


def _numbered(prefix: str, place: tuple[Column, Column, Column]) -> list[Column]:
    return [column.alias(f"{prefix}{axis}") for axis, column in zip(AXES, place, strict=True)]


def _middle_is_here(settings: PairSettings) -> Column:
    cube = settings.distance_m * CUBE_SIDES
    here = F.lit(True)
    for axis in AXES:
        here &= F.floor((F.col(f"{axis}_a") + F.col(f"{axis}_b")) / 2.0 / cube) == F.col(f"c{axis}_a")
    return here


def _is_near(settings: PairSettings) -> Column:
    apart2 = sum((F.pow(F.col(f"{axis}_b") - F.col(f"{axis}_a"), F.lit(2.0)) for axis in AXES), F.lit(0.0))
    return apart2 <= settings.distance_m**2


def _pair_events(near: DataFrame, kept: Sequence[str]) -> DataFrame:
    """Distance, relative speed, and the closest point of approach if both keep course and speed."""
    apart = [F.col(f"{axis}_b") - F.col(f"{axis}_a") for axis in AXES]
    moving = [F.col(f"v{axis}_b") - F.col(f"v{axis}_a") for axis in AXES]
    closing = sum((d * v for d, v in zip(apart, moving, strict=True)), F.lit(0.0))
    speed2 = sum((v * v for v in moving), F.lit(0.0))
    to_cpa = F.when(speed2 > 1e-6, F.greatest(F.lit(0.0), -closing / speed2)).otherwise(0.0)
    at_cpa = sum(((d + v * F.col("time_to_cpa_s")) ** 2 for d, v in zip(apart, moving, strict=True)), F.lit(0.0))
    ends = near.withColumns({name: column for side in "ab" for name, column in _degrees(side).items()})
    rows = ends.withColumns(
        {
            "time_to_cpa_s": to_cpa,
            "relative_speed_kn": F.sqrt(speed2) * KNOTS_PER_METRE_PER_SECOND,
            "distance_m": metres_to(F.col("lon_b"), F.col("lat_b"), "lon_a", "lat_a"),
        }
    ).withColumn("cpa_m", F.least(F.sqrt(at_cpa), F.col("distance_m")))
    middle = _lon_lat(*[(F.col(f"{axis}_a") + F.col(f"{axis}_b")) / 2.0 for axis in AXES])
    return rows.select(
        F.concat_ws("|", "track_a", "track_b").alias("track"),
        F.col("time_a").alias("time"),
        middle[0].alias("lon"),
        middle[1].alias("lat"),
        *MEASURES,
        *[f"{name}_{side}" for side in "ab" for name in ("track", "lon", "lat", *kept)],
    )


def pair_schema(events: T.StructType, settings: PairSettings) -> T.StructType:
    """The columns of pairs of such events, as `_pair_events` names them."""
    kinds = {field.name: field.dataType for field in events.fields}
    kept = [name for name in settings.attributes if name in kinds]
    numbers = dict.fromkeys(("lon", "lat", *MEASURES), T.DoubleType())
    sides = {f"{name}_{side}": kinds[name] for side in "ab" for name in ("track", "lon", "lat", *kept)}
    columns = {"track": T.StringType(), "time": T.TimestampType(), **numbers, **sides}
    return T.StructType([T.StructField(name, kind) for name, kind in columns.items()])


def _degrees(side: str) -> dict[str, Column]:
    lon, lat = _lon_lat(*[F.col(f"{axis}_{side}") for axis in AXES])
    return {f"lon_{side}": lon, f"lat_{side}": lat}


def _lon_lat(x: Column, y: Column, z: Column) -> tuple[Column, Column]:
    """Back to degrees; a place on a straight way between positions lies at most metres below the spheroid."""
    return F.degrees(F.atan2(y, x)), F.degrees(F.atan2(z, F.sqrt(x * x + y * y) * (1.0 - ECCENTRICITY_SQUARED)))
