"""Derived attributes: what a position says together with the one before it. Definitions: docs/attributes.md.

The arithmetic is one set of Column expressions over a position and its `previous_*` columns. A batch fills those with
window functions, a stream from track state (`foresail.pipeline.stages.derive_stream`); the numbers cannot differ.
"""

from dataclasses import dataclass
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.schemas import DERIVED_COLUMNS
from foresail.pipeline.stages.policy import Policy

DEFAULT_GAP_US = 1_800_000_000
EARTH_RADIUS_M = 6_371_008.8
METRES_PER_NAUTICAL_MILE = 1852.0

REMEMBERED = ("time", "lon", "lat", "speed_kn", "heading_deg", "course_deg")
"""Columns of a position that the next one of its track is compared with."""

PREVIOUS_COLUMNS = (*(f"previous_{name}" for name in REMEMBERED), "status_since", "heard_since")
MINUTES = "minutes_since_start"
KMH_PER_KNOT = 1.852
SPEEDS = {"maritime": ("speed_kn",), "fleet": ("speed_kn", "speed_kmh")}
"""The speeds that positions of a domain have."""


@dataclass(frozen=True, slots=True)
class DeriveOptions:
    """The thresholds behind the Boolean attributes, what counts as a gap, and which speeds are filled in."""

    turn_threshold_deg: float = 15.0
    jump_speed_kn: float = 50.0
    min_jump_m: float = 1000.0
    gap_us: int = DEFAULT_GAP_US
    fill_speeds: tuple[str, ...] = SPEEDS["maritime"]
    """Where these are unknown they are taken from the way since the previous position."""


def options_of(policy: Policy, domain: str) -> DeriveOptions:
    """The options that a policy says for positions of this domain."""
    return DeriveOptions(
        turn_threshold_deg=policy.turn_threshold_deg,
        jump_speed_kn=policy.jump_speed_kn(domain),
        min_jump_m=policy.min_jump_m,
        gap_us=policy.gap_us,
        fill_speeds=SPEEDS[domain] if policy.missing_speed == "fill" else (),
    )


def derive(positions: DataFrame, options: DeriveOptions) -> DataFrame:
    """`positions` with the derived attributes, from the window of each track."""
    return with_attributes(with_previous(as_sent(positions), options.gap_us), options)


def with_previous(positions: DataFrame, gap_us: int = DEFAULT_GAP_US) -> DataFrame:
    """`positions` with the remembered columns of the one before in its track.

    Also since when its status holds, and since when the track has been heard without a gap.
    """
    in_order = _in_time()
    before = {f"previous_{name}": F.lag(name).over(in_order) for name in REMEMBERED}
    changed = F.lag("time").over(in_order).isNull() | ~F.lag(status()).over(in_order).eqNullSafe(status())
    return _with_begins(positions.withColumns(before), {"status_since": changed, "heard_since": _after_silence(gap_us)})


def with_minutes(events: DataFrame, gap_us: int = DEFAULT_GAP_US) -> DataFrame:
    """`events` of any kind with `minutes_since_start` alone."""
    heard = _with_begins(events, {"heard_since": _after_silence(gap_us)})
    return heard.withColumn(MINUTES, _minutes_since("heard_since")).drop("heard_since")


def _in_time() -> WindowSpec:
    return Window.partitionBy("track").orderBy("time", "offset")


def _after_silence(gap_us: int) -> Column:
    """Whether the track is heard for the first time, or again after a gap."""
    previous = F.lag("time").over(_in_time())
    return previous.isNull() | (F.unix_micros("time") - F.unix_micros(previous) > gap_us)


def _with_begins(positions: DataFrame, begins: dict[str, Column]) -> DataFrame:
    """`positions` with the time at which each of these last began in the track."""
    so_far = _in_time().rowsBetween(Window.unboundedPreceding, Window.currentRow)
    marked = positions.withColumns({name: F.when(begin, F.col("time")) for name, begin in begins.items()})
    return marked.withColumns({name: F.last(name, ignorenulls=True).over(so_far) for name in begins})


def status() -> Column:
    """What `status_duration_min` is about: the engine of a vehicle, the navigational status of a vessel."""
    return F.coalesce(F.col("engine"), F.col("nav_status").cast("string"))


def with_attributes(positions: DataFrame, options: DeriveOptions) -> DataFrame:
    """`positions`, which have `PREVIOUS_COLUMNS`, with the derived attributes in their place."""
    measured = with_steps(positions).withColumns(
        {
            "turn_deg": _turn_deg(),
            "drift_deg": F.abs(wrapped_deg(F.col("heading_deg") - F.col("course_deg"))),
            "status_duration_min": F.when(status().isNotNull(), _minutes_since("status_since")),
        }
    )
    compared = measured.withColumns(
        {
            "acceleration": _per_second(F.col("speed_kn") - F.col("previous_speed_kn"), F.col("gap_s")),
            "change_in_heading": _surely(F.abs("turn_deg") > options.turn_threshold_deg),
        }
    )
    judged = compared.withColumns(
        {
            "position_jump": is_jump(F.col("distance_m"), F.col("gap_s"), options),
            "accelerating": F.coalesce(F.col("accelerating"), F.col("acceleration") > 0),
            MINUTES: _minutes_since("heard_since"),
        }
    )
    judged = with_speeds(judged, options)
    return judged.select(*_in_order(positions.columns))


def with_steps(positions: DataFrame) -> DataFrame:
    """`positions`, which have a previous one, with the time, the way and the speed since then."""
    step = positions.withColumns(
        {
            "gap_s": _seconds_between(F.col("previous_time"), F.col("time")),
            "distance_m": haversine_m(F.col("previous_lon"), F.col("previous_lat"), F.col("lon"), F.col("lat")),
        }
    )
    return step.withColumn("implied_speed_kn", speed_kn(F.col("distance_m"), F.col("gap_s")))


def with_speeds(positions: DataFrame, options: DeriveOptions) -> DataFrame:
    """`positions`, which have `gap_s` and `implied_speed_kn`, with the speeds that were not sent, and which these are.

    Not across a gap, where the average of hours is no speed, nor of a step that no vessel or vehicle can make.
    """
    wanted = [name for name in options.fill_speeds if name in positions.columns]
    implied = F.col("implied_speed_kn")
    usable = (F.col("gap_s") <= options.gap_us / 1e6) & (implied <= options.jump_speed_kn)
    missing = [F.col(name).isNull() for name in wanted]
    filled = {name: implied * KMH_PER_KNOT if name == "speed_kmh" else implied for name in wanted}
    return positions.withColumns(
        {
            "speed_implied": _surely(usable & reduce(or_, missing)) if missing else F.lit(False),
            **{name: F.coalesce(F.col(name), F.when(usable, speed)) for name, speed in filled.items()},
        }
    )


def as_sent(events: DataFrame) -> DataFrame:
    """`events` without the speeds that were filled in."""
    if "speed_implied" not in events.columns:
        return events
    speeds = [name for name in SPEEDS["fleet"] if name in events.columns]
    sent = ~_surely(F.col("speed_implied").cast("boolean"))
    return events.withColumns({name: F.when(sent, F.col(name)) for name in speeds})


def haversine_m(lon: Column, lat: Column, to_lon: Column, to_lat: Column) -> Column:
    """The great-circle distance on a sphere of the Earth's mean radius."""
    half_lat = F.radians(to_lat - lat) / 2
    half_lon = F.radians(to_lon - lon) / 2
    chord = F.sin(half_lat) * F.sin(half_lat) + F.cos(F.radians(lat)) * F.cos(F.radians(to_lat)) * F.sin(
        half_lon
    ) * F.sin(half_lon)
    return F.asin(F.sqrt(F.when(chord > 1, 1.0).otherwise(chord))) * (2 * EARTH_RADIUS_M)


def wrapped_deg(angle: Column) -> Column:
    """`angle` as a turn of -180 (excluded) to 180 degrees."""
    return F.lit(180.0) - F.pmod(F.lit(180.0) - angle, F.lit(360.0))


def speed_kn(distance_m: Column, gap_s: Column) -> Column:
    """The speed that covers `distance_m` in `gap_s`; null when no time has passed."""
    return _per_second(distance_m, gap_s) * (3600 / METRES_PER_NAUTICAL_MILE)


def is_jump(distance_m: Column, gap_s: Column, options: DeriveOptions) -> Column:
    """Whether the step is farther and faster than any vessel or vehicle goes; a far step in no time is one."""
    fast = (speed_kn(distance_m, gap_s) > options.jump_speed_kn) | (gap_s == 0)
    return _surely((distance_m > options.min_jump_m) & fast)


def _turn_deg() -> Column:
    by_heading = wrapped_deg(F.col("heading_deg") - F.col("previous_heading_deg"))
    by_course = wrapped_deg(F.col("course_deg") - F.col("previous_course_deg"))
    return F.coalesce(by_heading, by_course)


def _seconds_between(earlier: Column, later: Column) -> Column:
    return (F.unix_micros(later) - F.unix_micros(earlier)) / 1e6


def _minutes_since(begin: str) -> Column:
    return _seconds_between(F.col(begin), F.col("time")) / 60


def _per_second(amount: Column, gap_s: Column) -> Column:
    return F.when(gap_s > 0, amount / gap_s)


def _surely(condition: Column) -> Column:
    return F.coalesce(condition, F.lit(False))


def _in_order(before: list[str]) -> list[str]:
    kept = [name for name in before if name not in PREVIOUS_COLUMNS and name not in DERIVED_COLUMNS]
    return [*kept, *DERIVED_COLUMNS]
