"""Derived attributes: what a position says together with the one before it. Definitions: docs/attributes.md.

Each rule is written once, over columns and a set of functions `f`: Spark's (`pyspark.sql.functions`) for a batch, or
those over arrays (`foresail.pipeline.stages.array_functions`) for a stream. Both perform the same operations in the
same order, so the numbers are the same bit for bit, but for what is made of `distance_m`: sine, cosine and arcsine come
from two mathematical libraries, which may disagree in the last places, and the arcsine magnifies that between nearly
opposite points of the Earth. A batch fills the `previous_*` columns with window functions, a stream from track state.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any, TypeAlias

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812

from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.conditions.functions import EARTH_RADIUS_M
from foresail.pipeline.schemas import DERIVED_COLUMNS
from foresail.pipeline.stages import array_functions
from foresail.pipeline.stages.array_functions import Nullable
from foresail.pipeline.stages.policy import Policy

DEFAULT_GAP_US = 1_800_000_000
METRES_PER_NAUTICAL_MILE = 1852.0

REMEMBERED = ("time", "lon", "lat", "speed_kn", "heading_deg", "course_deg")
"""Columns of a position that the next one of its track is compared with."""

PREVIOUS_COLUMNS = (*(f"previous_{name}" for name in REMEMBERED), "status_since", "heard_since")
READ_COLUMNS = (*REMEMBERED, "engine", "nav_status", "accelerating")
"""Columns of a position that the rules read."""
MINUTES = "minutes_since_start"
KMH_PER_KNOT = 1.852
SPEEDS = {"maritime": ("speed_kn",), "fleet": ("speed_kn", "speed_kmh")}
"""The speeds that positions of a domain have."""

Rule: TypeAlias = "Callable[[Any, Callable[[str], Any], DeriveOptions], dict[str, Any]]"
"""Attributes by functions, columns under their names, and options."""


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
    minutes = _minutes_since(F.col("heard_since"), F.col("time"), F)
    return heard.withColumn(MINUTES, minutes).drop("heard_since")


def with_start(events: DataFrame, catalog: Iterable[PatternEntry]) -> DataFrame:
    """`events` with `minutes_since_start`, if a pattern reads it and they do not have it; else as they are.

    For tables that did not come through `foresail ingest`, which derives it.
    """
    if MINUTES in events.columns or not any(MINUTES in entry.model_dump_json() for entry in catalog):
        return events
    return with_minutes(events)


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
    derived = _by(RULES, positions, options)
    kept = [name for name in positions.columns if name not in PREVIOUS_COLUMNS and name not in DERIVED_COLUMNS]
    return derived.select(*kept, *DERIVED_COLUMNS)


def with_speeds(positions: DataFrame, options: DeriveOptions) -> DataFrame:
    """`positions`, which have a previous one, with the step since then and the speeds that were not sent."""
    return _by((_step, _implied_speed, _speeds), positions, options)


def _by(rules: Iterable[Rule], positions: DataFrame, options: DeriveOptions) -> DataFrame:
    options = _filling(options, positions.columns)
    for rule in rules:
        positions = positions.withColumns(rule(F, F.col, options))
    return positions


def derived_arrays(positions: Mapping[str, Nullable], options: DeriveOptions) -> dict[str, Nullable]:
    """The derived attributes, and the columns that they fill in, of `positions` with `PREVIOUS_COLUMNS`."""
    options = _filling(options, positions)
    known, made = dict(positions), dict[str, Nullable]()
    for rule in RULES:
        some = rule(array_functions, known.__getitem__, options)
        known |= some
        made |= some
    return made


def _filling(options: DeriveOptions, columns: Iterable[str]) -> DeriveOptions:
    there = set(columns)
    return replace(options, fill_speeds=tuple(name for name in options.fill_speeds if name in there))


def _step(f: Any, column: Callable[[str], Any], _: DeriveOptions) -> dict[str, Any]:
    """The time and the way since the previous position."""
    before, here = (column("previous_lon"), column("previous_lat")), (column("lon"), column("lat"))
    return {
        "gap_s": _seconds_between(column("previous_time"), column("time"), f),
        "distance_m": haversine_m(*before, *here, f=f),
    }


def _implied_speed(f: Any, column: Callable[[str], Any], _: DeriveOptions) -> dict[str, Any]:
    return {"implied_speed_kn": speed_kn(column("distance_m"), column("gap_s"), f)}


def _angles(f: Any, column: Callable[[str], Any], _: DeriveOptions) -> dict[str, Any]:
    by_heading = wrapped_deg(column("heading_deg") - column("previous_heading_deg"), f)
    by_course = wrapped_deg(column("course_deg") - column("previous_course_deg"), f)
    return {
        "turn_deg": f.coalesce(by_heading, by_course),
        "drift_deg": f.abs(wrapped_deg(column("heading_deg") - column("course_deg"), f)),
    }


def _durations(f: Any, column: Callable[[str], Any], _: DeriveOptions) -> dict[str, Any]:
    has_status = column("engine").isNotNull() | column("nav_status").isNotNull()
    return {
        "status_duration_min": f.when(has_status, _minutes_since(column("status_since"), column("time"), f)),
        MINUTES: _minutes_since(column("heard_since"), column("time"), f),
    }


def _changes(f: Any, column: Callable[[str], Any], options: DeriveOptions) -> dict[str, Any]:
    return {
        "acceleration": _per_second(column("speed_kn") - column("previous_speed_kn"), column("gap_s"), f),
        "change_in_heading": _surely(f.abs(column("turn_deg")) > options.turn_threshold_deg, f),
        "position_jump": is_jump(column("distance_m"), column("gap_s"), options, f),
    }


def _accelerating(f: Any, column: Callable[[str], Any], _: DeriveOptions) -> dict[str, Any]:
    return {"accelerating": f.coalesce(column("accelerating"), column("acceleration") > 0)}


def _speeds(f: Any, column: Callable[[str], Any], options: DeriveOptions) -> dict[str, Any]:
    """The speeds that were not sent, and whether there are any.

    Not across a gap, where the average of hours is no speed, nor of a step that no vessel or vehicle can make.
    """
    implied = column("implied_speed_kn")
    usable = (column("gap_s") <= options.gap_us / 1e6) & (implied <= options.jump_speed_kn)
    missing = [column(name).isNull() for name in options.fill_speeds]
    filled = {name: implied * KMH_PER_KNOT if name == "speed_kmh" else implied for name in options.fill_speeds}
    return {
        "speed_implied": _surely(usable & reduce(or_, missing), f) if missing else f.lit(False),
        **{name: f.coalesce(column(name), f.when(usable, speed)) for name, speed in filled.items()},
    }


RULES: tuple[Rule, ...] = (_step, _implied_speed, _angles, _durations, _changes, _accelerating, _speeds)
"""In this order: a rule reads what those before it have made. Accelerations are of speeds that were sent."""


def as_sent(events: DataFrame) -> DataFrame:
    """`events` without the speeds that were filled in."""
    if "speed_implied" not in events.columns:
        return events
    speeds = [name for name in SPEEDS["fleet"] if name in events.columns]
    sent = ~_surely(F.col("speed_implied").cast("boolean"), F)
    return events.withColumns({name: F.when(sent, F.col(name)) for name in speeds})


def haversine_m(lon: Any, lat: Any, to_lon: Any, to_lat: Any, f: Any = F) -> Any:
    """The great-circle distance on a sphere of the Earth's mean radius."""
    half_lat = f.radians(to_lat - lat) / 2
    half_lon = f.radians(to_lon - lon) / 2
    chord = f.sin(half_lat) * f.sin(half_lat) + f.cos(f.radians(lat)) * f.cos(f.radians(to_lat)) * f.sin(
        half_lon
    ) * f.sin(half_lon)
    capped = f.coalesce(f.when(chord > 1, f.lit(1.0)), chord)
    return f.asin(f.sqrt(capped)) * (2 * EARTH_RADIUS_M)


def wrapped_deg(angle: Any, f: Any = F) -> Any:
    """`angle` as a turn of -180 (excluded) to 180 degrees."""
    return f.lit(180.0) - f.pmod(f.lit(180.0) - angle, f.lit(360.0))


def speed_kn(distance_m: Any, gap_s: Any, f: Any = F) -> Any:
    """The speed that covers `distance_m` in `gap_s`; null when no time has passed."""
    return _per_second(distance_m, gap_s, f) * (3600 / METRES_PER_NAUTICAL_MILE)


def is_jump(distance_m: Any, gap_s: Any, options: DeriveOptions, f: Any = F) -> Any:
    """Whether the step is farther and faster than any vessel or vehicle goes; a far step in no time is one."""
    fast = (speed_kn(distance_m, gap_s, f) > options.jump_speed_kn) | (gap_s == 0)
    return _surely((distance_m > options.min_jump_m) & fast, f)


def _seconds_between(earlier: Any, later: Any, f: Any) -> Any:
    return (f.unix_micros(later) - f.unix_micros(earlier)) / 1e6


def _minutes_since(begin: Any, time: Any, f: Any) -> Any:
    return _seconds_between(begin, time, f) / 60


def _per_second(amount: Any, gap_s: Any, f: Any) -> Any:
    return f.when(gap_s > 0, amount / gap_s)


def _surely(condition: Any, f: Any) -> Any:
    return f.coalesce(condition, f.lit(False))
