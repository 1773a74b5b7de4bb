"""Cleaning, row by row: sentinels to null, and a reason for every row that is no position.

What needs the neighbours of a row (duplicates, swapped coordinates, spikes, jumps) is in `pipeline.stages.tracks`.
"""

from datetime import datetime

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
    fixed: dict[str, Column] = {}
    repairs: dict[str, Column] = {}

    def nullify(column: str, kind: str, condition: Column) -> None:
        if column in present:
            fixed[column] = F.when(condition, None).otherwise(fixed.get(column, F.col(column)))
            repairs[kind] = condition

    speed, course, heading, turn = (F.col(name) for name in ("speed_kn", "course_deg", "heading_deg", "turn_rate"))
    status, fuel = F.col("nav_status"), F.col("fuel_level")
    if domain == "maritime":
        nullify("speed_kn", "speed_not_available", speed > FASTEST_KN)
        repairs["speed_at_least"] = speed == FASTEST_KN
        nullify("speed_kn", "speed_out_of_range", speed < 0)
        nullify("course_deg", "course_not_available", course >= 360)
        nullify("course_deg", "course_out_of_range", course < 0)
        nullify("heading_deg", "heading_not_available", heading == 511)
        nullify("heading_deg", "heading_out_of_range", (heading < 0) | ((heading >= 360) & (heading != 511)))
    else:
        nullify("speed_kmh", "speed_out_of_range", ~F.col("speed_kmh").between(0, HIGHEST_SPEED_KMH))
        for angle, kind in (("course_deg", "course_out_of_range"), ("heading_deg", "heading_out_of_range")):
            fixed[angle] = F.when(F.col(angle) == 360, 0.0).otherwise(F.col(angle))
            nullify(angle, kind, ~F.col(angle).between(0, 360))
    nullify("turn_rate", "turn_rate_not_available", turn == -128)
    nullify("turn_rate", "turn_rate_no_value", F.abs(turn) == 127)
    nullify("nav_status", "nav_status_out_of_range", ~status.between(0, 15))
    nullify("imo", "imo_not_available", F.col("imo") == 0 if "imo" in present else F.lit(False))
    nullify("draught_m", "draught_not_available", F.col("draught_m") == 0 if "draught_m" in present else F.lit(False))
    nullify("length_m", "length_not_available", F.col("length_m") == 0)
    nullify("fuel_level", "fuel_out_of_range", ~fuel.between(0, 1))
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
