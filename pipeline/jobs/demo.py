"""The demonstration job: simulated positions through Sedona, to tell which vessels are in which zone."""

import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.progress import SILENT, Progress

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

VESSELS = 12
POSITIONS_PER_VESSEL = 40
STEP_S = 120
START = datetime(2025, 1, 1, tzinfo=UTC)
SIMULATED_ZONES = (
    ("Simulated port", "port", "POLYGON((-4.60 48.34, -4.46 48.34, -4.46 48.40, -4.60 48.40, -4.60 48.34))"),
    ("Simulated anchorage", "anchorage", "POLYGON((-4.80 48.28, -4.66 48.28, -4.66 48.34, -4.80 48.34, -4.80 48.28))"),
    ("Simulated reserve", "protected", "POLYGON((-5.10 48.24, -4.90 48.24, -4.90 48.36, -5.10 48.36, -5.10 48.24))"),
)
WEST_LON, EAST_LON, MIDDLE_LAT = -5.15, -4.45, 48.32


@dataclass(frozen=True, slots=True)
class ZoneVisits:
    """Who was in one zone."""

    zone: str
    kind: str
    vessels: tuple[str, ...]
    positions: int


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What the demonstration found."""

    positions: int
    vessels: int
    zones: tuple[ZoneVisits, ...]
    seconds: float

    @property
    def summary(self) -> dict[str, Any]:
        """What --json shows."""
        return {"simulated": True, **asdict(self), "seconds": round(self.seconds, 2)}


def run(spark: "SparkSession", seed: int = 7, progress: Progress = SILENT) -> DemoResult:
    """Simulate a small fleet and find its visits to the simulated zones."""
    began = time.monotonic()
    with progress.step("simulating positions"):
        simulated = simulate_positions(VESSELS, POSITIONS_PER_VESSEL, seed)
    with progress.step("looking up zones with Sedona"):
        positions = spark.createDataFrame(simulated)
        zones = spark.createDataFrame(list(SIMULATED_ZONES), "zone string, kind string, outline string")
        visits = tuple(
            ZoneVisits(row.zone, row.kind, tuple(row.vessels), row.positions)
            for row in zone_visits(positions, zones).collect()
        )
    return DemoResult(len(simulated), VESSELS, visits, time.monotonic() - began)


def simulate_positions(vessels: int, positions_each: int, seed: int) -> "pd.DataFrame":
    """Simulated positions of vessels that sail between west and east, some only half the way."""
    import pandas as pd  # noqa: PLC0415 - the command's --help does not need it

    random = np.random.default_rng(seed)
    share = np.linspace(0, 1, positions_each)
    reach = random.uniform(0.4, 1.0, (vessels, 1))
    eastward = random.random((vessels, 1)) < 0.5
    along = np.where(eastward, share * reach, 1 - share * reach)
    lon = WEST_LON + (EAST_LON - WEST_LON) * along
    lat = MIDDLE_LAT + random.normal(0, 0.03, (vessels, 1)) + random.normal(0, 0.004, (vessels, positions_each))
    times = [START + timedelta(seconds=STEP_S * step) for step in range(positions_each)]
    names = [f"simulated {number:02d}" for number in range(1, vessels + 1)]
    return pd.DataFrame(
        {
            "track": np.repeat(names, positions_each),
            "time": times * vessels,
            "lon": lon.ravel(),
            "lat": lat.ravel(),
        }
    )


def zone_visits(positions: "DataFrame", zones: "DataFrame") -> "DataFrame":
    """Per zone the vessels that were in it and how many positions they have there; zones without any are kept."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    points = positions.select("track", F.expr("ST_Point(lon, lat)").alias("point"))
    outlines = zones.select("zone", "kind", F.expr("ST_GeomFromWKT(outline)").alias("area"))
    inside = points.join(F.broadcast(outlines), F.expr("ST_Contains(area, point)"))
    counted = inside.groupBy("zone").agg(
        F.sort_array(F.collect_set("track")).alias("vessels"), F.count("*").alias("positions")
    )
    return (
        zones.select("zone", "kind")
        .join(counted, "zone", "left")
        .select(
            "zone",
            "kind",
            F.coalesce("vessels", F.array().cast("array<string>")).alias("vessels"),
            F.coalesce("positions", F.lit(0)).alias("positions"),
        )
        .orderBy(F.desc("positions"), "zone")
    )
