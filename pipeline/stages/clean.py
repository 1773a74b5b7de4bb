"""Cleaning, row by row: sentinels to null, and a reason for every row that is no position.

What needs the neighbours of a row (duplicates, swapped coordinates, spikes, jumps) is in `pipeline.stages.tracks`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.schemas import ENGINE_STATES, POSITION_COLUMNS
from foresail.pipeline.sources.codes import VESSEL_TYPES, looked_up, station_of
from foresail.pipeline.sources.repairs import mark_repairs
from foresail.pipeline.stages.policy import Policy

REASONS = {
    "blank_line": "nothing but blanks",
    "header_line": "a header in the middle of the lines",
    "line_too_long": "longer than any message",
    "wrong_columns": "more or fewer fields than the header",
    "wrong_format": "in a file that is not of this feed",
    "unreadable": "not the JSON, NMEA or protobuf it should be",
    "truncated_file": "the file ends in the middle: this row stands for what is missing",
    "comment": "a comment line of the recording",
    "other_sentence": "an NMEA sentence that is not AIS",
    "bad_checksum": "an NMEA sentence whose checksum is wrong",
    "incomplete_message": "a part of a message whose other parts are missing",
    "truncated_message": "an AIS message shorter than its type is",
    "message_part": "a part of a message whose position stands at its last line",
    "not_a_position": "a message without a position, e.g. static data (which is used)",
    "no_id": "nothing that names the vessel or vehicle",
    "default_id": "an identity as from the factory",
    "base_station": "a base or coast station",
    "group_id": "the identity of a group of ships",
    "sar_aircraft": "an aircraft",
    "aid_to_navigation": "a buoy or other aid to navigation",
    "daughter_craft": "the craft of a parent ship",
    "distress_beacon": "a distress beacon",
    "not_a_ship_id": "an MMSI that no ship can have",
    "no_time": "no time, or text that is none",
    "implausible_time": "a time before the earliest plausible one",
    "future_time": "a time that has not come yet",
    "no_position": "no latitude or longitude",
    "position_not_available": "longitude 181 or latitude 91, which mean no position",
    "position_out_of_range": "no place on Earth, nor one that the track vouches for when swapped",
    "zero_position": "exactly 0, 0",
    "position_spike": "far off while the positions before and after agree",
    "position_jump": "a piece of track too short and too far away",
}
"""Every reason for which a row is set aside, and what it means."""

FASTEST_KN = 102.2
HIGHEST_SPEED_KMH = 1000.0


@dataclass(frozen=True, slots=True)
class Rule:
    """A value that is mended: of which column, in which domain (none: in all), and the repair that it is."""

    column: str
    repair: str
    holds: Callable[[Any], Any]
    """Of a column of Spark as of an array of numpy: only `<`, `>`, `==`, `|`, `&` and the like."""
    domain: str | None = None
    forgets: bool = True
    """Whether the value becomes null; else the repair is only noted."""


RULES = (
    Rule("speed_kn", "speed_not_available", lambda v: v > FASTEST_KN, "maritime"),
    Rule("speed_kn", "speed_at_least", lambda v: v == FASTEST_KN, "maritime", forgets=False),
    Rule("speed_kn", "speed_out_of_range", lambda v: v < 0, "maritime"),
    Rule("course_deg", "course_not_available", lambda v: v >= 360, "maritime"),
    Rule("course_deg", "course_out_of_range", lambda v: v < 0, "maritime"),
    Rule("heading_deg", "heading_not_available", lambda v: v == 511, "maritime"),
    Rule("heading_deg", "heading_out_of_range", lambda v: (v < 0) | ((v >= 360) & (v != 511)), "maritime"),
    Rule("speed_kmh", "speed_out_of_range", lambda v: (v < 0) | (v > HIGHEST_SPEED_KMH), "fleet"),
    Rule("course_deg", "course_out_of_range", lambda v: (v < 0) | (v > 360), "fleet"),
    Rule("heading_deg", "heading_out_of_range", lambda v: (v < 0) | (v > 360), "fleet"),
    Rule("turn_rate", "turn_rate_not_available", lambda v: v == -128),
    Rule("turn_rate", "turn_rate_no_value", lambda v: (v == 127) | (v == -127)),
    Rule("nav_status", "nav_status_out_of_range", lambda v: (v < 0) | (v > 15)),
    Rule("imo", "imo_not_available", lambda v: v == 0),
    Rule("draught_m", "draught_not_available", lambda v: v == 0),
    Rule("length_m", "length_not_available", lambda v: v == 0),
    Rule("fuel_level", "fuel_out_of_range", lambda v: (v < 0) | (v > 1)),
)
"""Sentinels and impossible values: read by this stage, and by the stream's own reader of plain messages."""


def rules_of(domain: str) -> tuple[Rule, ...]:
    """The rules that hold in a domain."""
    return tuple(rule for rule in RULES if rule.domain in (None, domain))


def full_turns(domain: str) -> tuple[str, ...]:
    """The angles of which 360 is 0: of vehicles; of vessels it is a sentinel."""
    return ("course_deg", "heading_deg") if domain == "fleet" else ()


def clean(
    messages: DataFrame, policy: Policy, domain: str, now: datetime, swaps_judged_later: bool = False
) -> DataFrame:
    """`messages` with mended values, their `repairs`, and a `reason` where the row is no position; none is dropped.

    With `swaps_judged_later`, a place that is one only when swapped has no reason yet: `settle` asks its track.
    """
    fixed, repairs = _mended(messages.columns, domain)
    mended = messages.withColumns(
        {
            **fixed,
            "reason": _reason(policy, domain, now, swaps_judged_later),
            "repairs": F.col("repairs").bitwiseOR(mark_repairs(repairs)),
        }
    )
    return mended.withColumns(_completed(domain)).drop("fault", "station")


def _not_available() -> Column:
    return (F.col("lon") == 181) | (F.col("lat") == 91)


def _mended(present: list[str], domain: str) -> tuple[dict[str, Column], dict[str, Column]]:
    """Columns whose sentinels and impossible values are null, and the condition of each repair."""
    fixed = {angle: F.when(F.col(angle) == 360, 0.0).otherwise(F.col(angle)) for angle in full_turns(domain)}
    repairs: dict[str, Column] = {}
    for rule in rules_of(domain):
        if rule.column in present:
            condition = rule.holds(F.col(rule.column))
            repairs[rule.repair] = condition
            if rule.forgets:
                fixed[rule.column] = F.when(condition, None).otherwise(fixed.get(rule.column, F.col(rule.column)))
    return fixed, repairs


def _completed(domain: str) -> dict[str, Column]:
    """Columns that follow from others: the word for a ship type, and a vehicle's speed in knots."""
    word = looked_up(F.col("ship_type"), VESSEL_TYPES)
    completed = {
        "vessel_type": F.coalesce(F.col("vessel_type"), word),
        "engine": F.when(F.col("engine").isin(*ENGINE_STATES), F.col("engine")),
    }
    if domain == "fleet":
        completed["speed_kn"] = F.coalesce(F.col("speed_kn"), F.col("speed_kmh") / 1.852)
        completed["speed_kmh"] = F.coalesce(F.col("speed_kmh"), F.col("speed_kn") * 1.852)
    return completed


def _reason(policy: Policy, domain: str, now: datetime, swaps_judged_later: bool) -> Column:
    """The first thing that keeps a row from being a position, or null."""
    reason = F.coalesce(F.col("fault"), _identity_reason(policy, domain), _time_reason(policy, now))
    return F.coalesce(reason, _place_reason(policy, domain, swaps_judged_later))


def _identity_reason(policy: Policy, domain: str) -> Column:
    missing = F.when(F.col("track").isNull() | (F.col("track") == ""), "no_id")
    if domain != "maritime":
        return missing
    station = F.coalesce(F.when(F.col("mmsi").isNotNull(), station_of(F.col("mmsi"))), F.col("station"))
    if policy.default_ids == "keep":
        station = F.when(station == "default_id", F.col("station")).otherwise(station)
    if policy.non_ships == "keep":
        station = F.when(station == "default_id", station)
    return F.coalesce(missing, station)


def _time_reason(policy: Policy, now: datetime) -> Column:
    time = F.col("time")
    return (
        F.when(time.isNull(), "no_time")
        .when(time < F.lit(policy.earliest), "implausible_time")
        .when(time > F.lit(policy.end_of_time(now)), "future_time")
    )


def _place_reason(policy: Policy, domain: str, swaps_judged_later: bool) -> Column:
    lon, lat = F.col("lon"), F.col("lat")
    possible = (F.abs(lat) <= 90) & (F.abs(lon) <= 180)
    if swaps_judged_later:
        possible = possible | ((F.abs(lat) <= 180) & (F.abs(lon) <= 90))
    reason = F.when(lon.isNull() | lat.isNull(), None if policy.missing_position == "keep" else "no_position")
    if domain == "maritime":
        reason = reason.when(_not_available(), "position_not_available")
    reason = reason.when(~possible, "position_out_of_range")
    if policy.zero_position == "reject":
        reason = reason.when((lon == 0) & (lat == 0), "zero_position")
    return reason


def position_columns(judged: DataFrame) -> list[str]:
    """Canonical columns first, in their order, then what else the feed brought."""
    about_the_row = {"source", "line", "raw", "repairs", "reason"}
    return [
        *POSITION_COLUMNS,
        *(name for name in judged.columns if name not in POSITION_COLUMNS and name not in about_the_row),
    ]
