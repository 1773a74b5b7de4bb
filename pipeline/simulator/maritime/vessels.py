"""Kinds of vessel and how they are mixed; speeds are set so that the measured percentiles of real feeds come out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """What vessels of one kind have in common."""

    vessel_type: str
    ship_type: int
    cruise_kn: tuple[float, float]
    harbour_kn: float
    slow_water_m: float
    length_m: tuple[float, float]
    stay_h: tuple[float, float]
    gyro: float
    """Share of vessels that send a heading at all."""
    class_b: float
    """Share of vessels that send no navigational status."""


KINDS = {
    kind.vessel_type: kind
    for kind in (
        Kind("cargo", 70, (8.5, 17.5), 0.9, 1_300, (80, 300), (6, 20), 0.92, 0.02),
        Kind("tanker", 80, (8.5, 16.0), 0.9, 1_300, (90, 330), (8, 22), 0.94, 0.02),
        Kind("passenger", 60, (8.0, 21.5), 2.6, 1_500, (40, 220), (0.8, 3), 0.9, 0.05),
        Kind("fishing", 30, (6.8, 10.8), 0.9, 1_200, (9, 40), (4, 11), 0.55, 0.35),
        Kind("pleasure", 37, (4.5, 12.5), 0.9, 1_000, (7, 25), (4, 14), 0.3, 0.85),
        Kind("sailing", 36, (3.5, 7.5), 0.9, 1_000, (8, 20), (5, 15), 0.3, 0.85),
        Kind("tug", 52, (5.5, 10.5), 0.9, 1_000, (20, 40), (2, 7), 0.75, 0.1),
        Kind("search_and_rescue", 51, (9.0, 18.0), 1.5, 800, (12, 40), (5, 12), 0.9, 0.05),
    )
}

MIXES = {
    "mixed": {
        "cargo": 30,
        "tanker": 12,
        "passenger": 10,
        "fishing": 18,
        "pleasure": 12,
        "sailing": 7,
        "tug": 8,
        "search_and_rescue": 3,
    },
    "us": {
        "pleasure": 32,
        "tug": 22,
        "cargo": 9,
        "fishing": 7,
        "sailing": 7,
        "passenger": 6,
        "tanker": 3,
        "search_and_rescue": 2,
    },
    "baltic": {
        "cargo": 53,
        "tanker": 31,
        "passenger": 7,
        "fishing": 3,
        "tug": 3,
        "sailing": 1,
        "pleasure": 1,
        "search_and_rescue": 1,
    },
}
"""Parts of each kind; `us` and `baltic` follow counts of real feeds, with a few search and rescue vessels added."""
