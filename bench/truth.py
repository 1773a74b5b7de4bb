"""What the catalog finds of a simulated week: recall of injected events, near-misses hit, precision.

.venv/bin/python -m bench.truth [--tracks 60] [--days 7] [--out bench/results]
"""

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from foresail.patterns.catalog.loader import built_in_catalog
from foresail.pipeline.jobs.enrich import EnrichOrder, enrich_events
from foresail.pipeline.jobs.recognise import run_recognise
from foresail.pipeline.jobs.recognise_request import RecogniseRequest
from foresail.pipeline.progress import open_progress
from foresail.pipeline.runtime.session import start_spark
from foresail.pipeline.settings import read_settings
from foresail.pipeline.simulator.job import simulate
from foresail.pipeline.simulator.score import PatternScore, score_matches
from foresail.pipeline.simulator.settings import SimulationSettings
from foresail.pipeline.sinks.output_folder import claim_output

PAIRS_WITHIN_M = 9000.0


def scored(domain: str, tracks: int, days: float, seed: int, work: Path) -> list[PatternScore]:
    """The scores of one domain's patterns, of single tracks and of pairs."""
    progress = open_progress()
    settings = read_settings()
    spark = start_spark(settings, "foresail bench truth", progress)
    simulated = work / "simulated"
    simulate(spark, SimulationSettings(domain=domain, tracks=tracks, days=days, seed=seed), simulated, progress)
    layers = simulated / "layers" / "layers.yaml"
    scores: dict[str, PatternScore] = {}
    for name, within in (("positions", None), ("pairs", PAIRS_WITHIN_M if domain == "maritime" else None)):
        if name == "pairs" and within is None:
            continue
        enriched, found = claim_output(work / name, "enrich"), work / f"{name}_found"
        order = EnrichOrder(str(simulated), layers, enriched, settings.layers.directory, pairs_within_m=within)
        enrich_events(spark, order, progress)
        request = RecogniseRequest(
            [str(enriched / "events")],
            built_in_catalog(domain),
            found,
            layers=layers,
            layer_cache=settings.layers.directory,
            skip_unfit=True,
        )
        told = run_recognise(spark, request, progress)["matches_by_pattern"]
        scores |= {s.pattern: s for s in score_matches(found / "matches", simulated / "truth") if s.pattern in told}
    return [scores[name] for name in sorted(scores)]


def table(scores: Sequence[PatternScore]) -> str:
    """The scores as Markdown."""
    lines = [
        "| pattern | injected | found | recall | incidental | found | near-misses | hit | reported | precision |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for s in scores:
        recall = "" if s.recall is None else f"{s.recall:.3f}"
        precision = "" if s.precision is None else f"{s.precision:.3f}"
        lines.append(
            f"| {s.pattern} | {s.injected} | {s.injected_found} | {recall} | {s.incidental} | {s.incidental_found} "
            f"| {s.near_misses} | {s.near_misses_hit} | {s.reported} | {precision} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tracks", type=int, default=60)
    parser.add_argument("--days", type=float, default=7)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    told: dict[str, list[dict[str, object]]] = {}
    tables = []
    for domain in ("maritime", "fleet"):
        work = options.out / "truth" / domain
        shutil.rmtree(work, ignore_errors=True)
        scores = scored(domain, options.tracks, options.days, options.seed, work)
        told[domain] = [score.row for score in scores]
        tables.append(f"{domain}\n\n{table(scores)}")
    (options.out / "truth.json").write_text(json.dumps(told, indent=2) + "\n")
    (options.out / "truth.md").write_text("\n\n".join(tables) + "\n")
    print("\n\n".join(tables))


if __name__ == "__main__":
    main()
