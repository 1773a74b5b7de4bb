"""The demonstration job: the whole line so far on a simulated day, and how much of what happened was found."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.progress import SILENT, Progress
from pipeline.sinks.output_folder import claim_output

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pipeline.simulator.score import PatternScore

DOMAIN = "maritime"
TRACKS = 24
DAYS = 1.0


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What the demonstration found."""

    positions: int
    tracks: int
    matches: int
    scores: "tuple[PatternScore, ...]"
    folder: Path
    seconds: float

    @property
    def summary(self) -> dict[str, Any]:
        """What --json shows."""
        return {
            "simulated": True,
            "positions": self.positions,
            "tracks": self.tracks,
            "matches": self.matches,
            "patterns": [score.row for score in self.scores],
            "folder": str(self.folder),
            "seconds": round(self.seconds, 2),
        }


def run(
    spark: "SparkSession",
    folder: Path,
    layer_cache: Path,
    seed: int = 7,
    progress: Progress = SILENT,
    tracks: int = TRACKS,
) -> DemoResult:
    """Simulate a fleet, say where its vessels were, recognise what they did, and compare with the truth."""
    from patterns.catalog.loader import built_in_catalog  # noqa: PLC0415 - the command's --help needs none of these
    from pipeline.jobs.enrich import EnrichOrder, enrich_events  # noqa: PLC0415
    from pipeline.jobs.recognise import RecogniseRequest, run_recognise  # noqa: PLC0415
    from pipeline.simulator.job import simulate  # noqa: PLC0415
    from pipeline.simulator.score import score_matches  # noqa: PLC0415
    from pipeline.simulator.settings import SimulationSettings  # noqa: PLC0415

    began = time.monotonic()
    claim_output(folder, "demo")
    simulated, enriched, found = (folder / name for name in ("simulated", "enriched", "recognised"))
    layers = simulated / "layers" / "layers.yaml"
    fleet = SimulationSettings(domain=DOMAIN, tracks=tracks, days=DAYS, seed=seed)
    positions = simulate(spark, fleet, simulated, progress).positions
    claim_output(enriched, "enrich")
    enrich_events(spark, EnrichOrder(str(simulated), layers, enriched, layer_cache), progress)
    request = RecogniseRequest(
        [str(enriched / "events")],
        built_in_catalog(DOMAIN),
        found,
        layers=layers,
        layer_cache=layer_cache,
        skip_unfit=True,
    )
    recognised = run_recognise(spark, request, progress)
    scores = score_matches(found / "matches", simulated / "truth")
    looked_for = tuple(score for score in scores if score.pattern in recognised["matches_by_pattern"])
    return DemoResult(positions, tracks, recognised["matches"], looked_for, folder, time.monotonic() - began)
