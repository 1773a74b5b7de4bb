"""The code tables of AIS: ship types, navigational status, and what an MMSI says about its bearer."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

VESSEL_TYPES = {
    **dict.fromkeys(range(20, 30), "wing_in_ground"),
    30: "fishing",
    31: "towing",
    32: "towing",
    33: "dredging",
    34: "diving",
    35: "military",
    36: "sailing",
    37: "pleasure",
    **dict.fromkeys(range(40, 50), "high_speed"),
    50: "pilot",
    51: "search_and_rescue",
    52: "tug",
    53: "port_tender",
    54: "anti_pollution",
    55: "law_enforcement",
    58: "medical",
    **dict.fromkeys(range(60, 70), "passenger"),
    **dict.fromkeys(range(70, 80), "cargo"),
    **dict.fromkeys(range(80, 90), "tanker"),
    **dict.fromkeys(range(90, 100), "other"),
}
"""Ship type (ITU-R M.1371) to the word that conditions use; codes not listed have no word."""

US_VESSEL_TYPES = {
    **dict.fromkeys((1001, 1002), 30),
    **dict.fromkeys((1003, 1004, 1016), 70),
    **dict.fromkeys((1005, 1006, 1007, 1008, 1009, 1010, 1011, 1018, 1020, 1022), 90),
    **dict.fromkeys((1012, 1013, 1014, 1015), 60),
    **dict.fromkeys((1017, 1023, 1024), 80),
    1019: 37,
    1021: 51,
    1025: 31,
}
"""The four-digit types of MarineCadastre's older years to the ship type they stand for."""

SHIP_TYPE_NAMES = {
    "wig": 20,
    "fishing": 30,
    "towing": 31,
    "towing long/wide": 32,
    "dredging": 33,
    "diving": 34,
    "military": 35,
    "sailing": 36,
    "pleasure": 37,
    "hsc": 40,
    "pilot": 50,
    "sar": 51,
    "tug": 52,
    "port tender": 53,
    "anti-pollution": 54,
    "law enforcement": 55,
    "medical": 58,
    "passenger": 60,
    "cargo": 70,
    "tanker": 80,
    "other": 90,
}
"""Ship types as the Danish feed spells them, in lower case."""

NAV_STATUS_NAMES = {
    "under way using engine": 0,
    "at anchor": 1,
    "not under command": 2,
    "restricted maneuverability": 3,
    "restricted manoeuvrability": 3,
    "constrained by her draught": 4,
    "moored": 5,
    "aground": 6,
    "engaged in fishing": 7,
    "under way sailing": 8,
    "reserved for future amendment [hsc]": 9,
    "reserved for future amendment [wig]": 10,
    "power-driven vessel towing astern": 11,
    "power-driven vessel pushing ahead or towing alongside": 12,
    "reserved for future use": 13,
    "ais-sart": 14,
    "ais-sart (active)": 14,
    "unknown value": 15,
}
"""Navigational status as the Danish feed spells it, in lower case."""

STATION_NAMES = {
    "base station": "base_station",
    "aton": "aid_to_navigation",
    "sar airborne": "sar_aircraft",
    "search and rescue transponder": "distress_beacon",
    "man overboard device": "distress_beacon",
}
"""`Type of mobile` of the Danish feed, in lower case, where the bearer is not a ship."""

DEFAULT_MMSI = (0, 111111111, 123456789, 987654321, 999999999)
"""Identities that transponders carry from the factory."""


def looked_up(code: Column, table: dict[int, str] | dict[int, int]) -> Column:
    """What `table` has for `code`, or null; an array from the least code on, as Spark searches a map entry by entry."""
    least, most = min(table), max(table)
    return F.get(F.array(*[F.lit(table.get(code)) for code in range(least, most + 1)]), code - least)


def named_code(text: Column, table: dict[str, int] | dict[str, str]) -> Column:
    """What `table` has for a phrase, whatever its case."""
    entries = [F.lit(part) for pair in table.items() for part in pair]
    return F.create_map(*entries)[F.lower(F.trim(text))]


SHIP_MMSI = (200_000_000, 799_999_999)
"""Nine digits, the first 2 to 7."""

STATION_SPANS = (
    (1, 9_999_999, "base_station"),
    (10_000_000, 99_999_999, "group_id"),
    (111_000_000, 111_999_999, "sar_aircraft"),
    (990_000_000, 999_999_999, "aid_to_navigation"),
    (980_000_000, 989_999_999, "daughter_craft"),
    (970_000_000, 970_999_999, "distress_beacon"),
    (972_000_000, 972_999_999, "distress_beacon"),
    (974_000_000, 974_999_999, "distress_beacon"),
)
"""What bears an MMSI, from one to another, that is no ship's."""


def station_of(mmsi: Column) -> Column:
    """What bears this MMSI when it is no ship, as a reason code; null for a ship's."""
    found = F.when(mmsi.isin(*DEFAULT_MMSI), "default_id").when(mmsi.between(*SHIP_MMSI), None)
    for low, high, reason in STATION_SPANS:
        found = found.when(mmsi.between(low, high), reason)
    return found.otherwise("not_a_ship_id")
