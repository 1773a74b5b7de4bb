"""The code tables of AIS, at the borders of what each number means."""

from typing import TYPE_CHECKING

import pytest

from foresail.pipeline.sources.codes import DEFAULT_MMSI, NAV_STATUS_NAMES
from foresail.pipeline.stages.clean import REASONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATUS = (
    ("under way using engine",),
    ("at anchor",),
    ("not under command",),
    ("restricted maneuverability", "restricted manoeuvrability"),
    ("constrained by her draught",),
    ("moored",),
    ("aground",),
    ("engaged in fishing",),
    ("under way sailing",),
    ("reserved for future amendment [hsc]",),
    ("reserved for future amendment [wig]",),
    ("power-driven vessel towing astern",),
    ("power-driven vessel pushing ahead or towing alongside",),
    ("reserved for future use",),
    ("ais-sart", "ais-sart (active)"),
    ("unknown value",),
)
"""Navigational status by its number, as ITU-R M.1371 lists it, in the words of the Danish feed."""
KINDS: dict[str | None, list[tuple[int, int]]] = {
    "base_station": [(1, 9_999_999)],
    "group_id": [(10_000_000, 99_999_999)],
    "not_a_ship_id": [
        (100_000_000, 110_999_999),
        (112_000_000, 123_456_788),
        (123_456_790, 199_999_999),
        (800_000_000, 969_999_999),
        (971_000_000, 971_999_999),
        (973_000_000, 973_999_999),
        (975_000_000, 979_999_999),
        (1_000_000_000, 10_000_000_000),
        (-1, -1),
    ],
    "sar_aircraft": [(111_000_000, 111_111_110), (111_111_112, 111_999_999)],
    None: [(200_000_000, 799_999_999)],
    "distress_beacon": [(970_000_000, 970_999_999), (972_000_000, 972_999_999), (974_000_000, 974_999_999)],
    "daughter_craft": [(980_000_000, 987_654_320), (987_654_322, 989_999_999)],
    "aid_to_navigation": [(990_000_000, 999_999_998)],
    "default_id": [(number, number) for number in DEFAULT_MMSI],
}
"""What bears an MMSI, from the first to the last of each kind (ITU-R M.585)."""


def test_a_status_has_the_number_that_the_standard_gives_it() -> None:
    assert {words: code for code, names in enumerate(STATUS) for words in names} == NAV_STATUS_NAMES


@pytest.mark.spark
def test_an_mmsi_is_of_its_kind_up_to_the_border_and_of_the_next_one_beyond(spark: "SparkSession") -> None:
    from pyspark.sql import functions as F  # noqa: N812

    from foresail.pipeline.sources.codes import station_of

    expected = {mmsi: kind for kind, ranges in KINDS.items() for ends in ranges for mmsi in ends}
    rows = spark.createDataFrame([(mmsi,) for mmsi in expected], "mmsi long")
    found = {row.mmsi: row.kind for row in rows.select("mmsi", station_of(F.col("mmsi")).alias("kind")).collect()}
    assert found == expected
    assert {kind for kind in found.values() if kind} <= set(REASONS)


@pytest.mark.spark
def test_a_phrase_is_looked_up_whatever_its_case_and_the_unknown_is_null(spark: "SparkSession") -> None:
    from pyspark.sql import functions as F  # noqa: N812

    from foresail.pipeline.sources.codes import looked_up, named_code

    said = spark.createDataFrame([(" Power-driven vessel towing astern ",), ("Dancing",)], "said string")
    rows = said.select(named_code(F.col("said"), NAV_STATUS_NAMES).alias("code")).collect()
    assert [row.code for row in rows] == [11, None]
    table = {3: "three", 5: "five"}
    codes = spark.createDataFrame([(code,) for code in range(2, 7)], "code int")
    found = [row.text for row in codes.select(looked_up(F.col("code"), table).alias("text")).collect()]
    assert found == [None, "three", None, "five", None]
