"""Every repair has a kind and a bit, so that one whole number per row says what was mended and sums tell how often."""

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

REPAIRS = {
    "encoding": "text that is not UTF-8, read as Latin-1",
    "time_unit": "epoch in another unit than the feed's",
    "time_from_clock": "time completed from a clock sentence or base station heard before",
    "time_from_file": "message without any time, dated from the file",
    "speed_not_available": "speed 102.3 or more made null",
    "speed_at_least": "speed 102.2 kept, which means that or more",
    "speed_out_of_range": "negative or impossible speed made null",
    "course_not_available": "course 360 or more made null",
    "course_out_of_range": "course below 0 or above 360 made null",
    "heading_not_available": "heading 511 made null",
    "heading_out_of_range": "heading below 0 or above 359 made null",
    "turn_rate_not_available": "rate of turn -128 made null",
    "turn_rate_no_value": "rate of turn 127 or -127 (faster than 5 degrees in 30 s) made null",
    "nav_status_out_of_range": "navigational status outside 0..15 made null",
    "imo_not_available": "IMO number 0 made null",
    "draught_not_available": "draught 0 made null",
    "length_not_available": "length 0 made null",
    "fuel_out_of_range": "fuel level outside 0..1 made null",
    "swapped_coordinates": "latitude and longitude put back in place",
}
"""What can be mended in a row, and what it means."""

BITS = {kind: 1 << place for place, kind in enumerate(REPAIRS)}


def mark_repairs(made: Mapping[str, Column]) -> Column:
    """One number with a bit for every repair of `made` whose condition holds."""
    bits = [F.when(condition, F.lit(BITS[kind])).otherwise(F.lit(0)) for kind, condition in made.items()]
    return reduce(lambda left, right: left.bitwiseOR(right), bits, F.lit(0).cast("long"))


def has_repair(repairs: Column, kind: str) -> Column:
    """Whether the row was mended in this way."""
    return repairs.bitwiseAND(F.lit(BITS[kind])) != 0
