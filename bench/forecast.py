"""How good forecasts are on simulated port traffic, and what training and forecasting cost next to recognition.

    .venv/bin/python -m bench.forecast [--tracks 80] [--days 4] [--by time|track] [--copies 3] [--out bench/results]

Vessels are simulated (seeded). The pattern is the catalog's `port_entry` for every port at once; quality is judged on
folds by time or by track, speed on the same events repeated under other names.
"""

import argparse
import json
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.models.model import Emission
from foresail.models.scoring.thresholds import By
from foresail.patterns.catalog.loader import Catalog, built_in_catalog, read_text
from foresail.pipeline.jobs.evaluate import EvaluateRequest, run_evaluate
from foresail.pipeline.jobs.forecast import run_forecast
from foresail.pipeline.jobs.forecast_request import ForecastRequest
from foresail.pipeline.jobs.recognise import run_recognise
from foresail.pipeline.jobs.recognise_request import RecogniseRequest
from foresail.pipeline.jobs.train import TrainRequest, run_train
from foresail.pipeline.progress import Progress, open_progress
from foresail.pipeline.runtime.session import start_spark
from foresail.pipeline.settings import Settings, read_settings
from foresail.pipeline.simulator.job import simulate
from foresail.pipeline.simulator.settings import SimulationSettings

PATTERN = "port_entry"
ORDERS = (0, 1, 2, 4, 6)
FURTHER = (5, 30)
RUNS = 2
STOPPING = """
name: stopping
domain: maritime
says: A vessel under way comes to rest.
where: {under_way: speed_kn >= 6, going: speed_kn >= 1, at_rest: speed_kn < 1}
pattern: under_way ; going* ; at_rest
max_gap: 30min
features: {slow: 1 <= speed_kn < 3, slowing: 3 <= speed_kn < 6, fast: speed_kn >= 12}
forecast: {order: 4, horizon: 60, within: 15}
"""
"""A plain pattern, no family: what its recognition costs is little."""


def simulated(spark: SparkSession, tracks: int, days: float, seed: int, work: Path, progress: Progress) -> Path:
    """A simulated fleet; made once and used again."""
    folder = work / f"simulated_{tracks}_{days:g}_{seed}"
    if not (folder / "layers" / "layers.yaml").exists():
        shutil.rmtree(folder, ignore_errors=True)
        simulate(spark, SimulationSettings(domain="maritime", tracks=tracks, days=days, seed=seed), folder, progress)
    return folder


def repeated(spark: SparkSession, events: Path, copies: int, folder: Path) -> Path:
    """The same events `copies` times, each under track names of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    numbered = spark.read.parquet(str(events)).withColumn("copy", F.explode(F.sequence(F.lit(1), F.lit(copies))))
    renamed = numbered.withColumn("track", F.concat_ws("#", "track", "copy")).drop("copy")
    renamed.repartition(2, "track").sortWithinPartitions("track", "time").write.parquet(str(folder))
    return folder


def quality(
    spark: SparkSession, settings: Settings, data: Path, folds: int, by: By, work: Path, progress: Progress
) -> dict[str, Any]:
    """The evaluation's summary for the pattern."""
    request = EvaluateRequest(
        [str(data / "events")],
        Catalog((built_in_catalog()[PATTERN],)),
        work / "evaluation",
        layers=data / "layers" / "layers.yaml",
        layer_cache=settings.layers.directory,
        folds=folds,
        by=by,
        orders=ORDERS,
        within=FURTHER,
        settings=settings.forecasting,
    )
    summary = run_evaluate(spark, request, progress)
    report = json.loads((work / "evaluation" / "evaluation.json").read_text())
    return {**summary, "models": report["patterns"][0]["models"], "matches": report["patterns"][0]["matches"]}


def speed(
    spark: SparkSession,
    settings: Settings,
    data: Path,
    events: Path,
    catalog: Catalog,
    work: Path,
    progress: Progress,
) -> dict[str, Any]:
    """Seconds of recognising, training and forecasting the same events in one process; each the best of RUNS."""
    shared: dict[str, Any] = {"layers": data / "layers" / "layers.yaml", "layer_cache": settings.layers.directory}
    models = work / "models"
    shutil.rmtree(models, ignore_errors=True)

    def recognise() -> dict[str, Any]:
        return run_recognise(spark, RecogniseRequest([str(events)], catalog, work / "matches", **shared), progress)

    def train() -> dict[str, Any]:
        request = TrainRequest([str(events)], catalog, models, settings=settings.forecasting, **shared)
        return run_train(spark, request, progress)

    def forecast(emission: Emission) -> dict[str, Any]:
        request = ForecastRequest([str(events)], catalog, models, work / "forecasts", emission=emission, **shared)
        return run_forecast(spark, request, progress)

    jobs: dict[str, Callable[[], dict[str, Any]]] = {
        "recognise": recognise,
        "train": train,
        "forecast": lambda: forecast("positive"),
        "forecast all": lambda: forecast("all"),
    }
    found = {name: [timed(job) for _ in range(RUNS)] for name, job in jobs.items()}
    best = {name: min(seconds for seconds, _ in runs) for name, runs in found.items()}
    return {
        "patterns": [entry.name for entry in catalog],
        "rows": {name: found[name][0][1]["forecasts"] for name in ("forecast", "forecast all")},
        "events": found["recognise"][0][1]["events"],
        "scheme": found["recognise"][0][1]["scheme"],
        "seconds": best,
        "training_to_recognition": best["train"] / best["recognise"],
        "forecasting_to_recognition_throughput": best["recognise"] / best["forecast"],
        "forecasting_all_to_recognition_throughput": best["recognise"] / best["forecast all"],
        "all_runs": {name: [seconds for seconds, _ in runs] for name, runs in found.items()},
    }


def timed(job: Any) -> tuple[float, dict[str, Any]]:
    began = time.monotonic()
    summary = job()
    return time.monotonic() - began, summary


def closed_share(summary: dict[str, Any]) -> float:
    """How much of the distance from order 4 to gradient boosting the learned features close, in F1."""
    f1 = {row["model"]: row["f1"] for row in summary["rows"] if row["fold"] == "all"}
    return float((f1["learned"] - f1["order 4"]) / (f1["gradient boosting"] - f1["order 4"]))


def quality_table(summary: dict[str, Any]) -> str:
    """One line per model: F1 at each w, and the other scores at the pattern's own w."""
    rows = {row["model"]: row for row in summary["rows"] if row["fold"] == "all"}
    at = {m["model"]: {point["within"]: point["scores"]["f1"] for point in m["by_within"]} for m in summary["models"]}
    every = sorted(next(iter(at.values())))
    head = ["model", *(f"F1, w={w}" for w in every), "precision", "recall", "MCC", "AUC", "Brier", "calibration error"]
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    for name, row in rows.items():
        scores = [row[k] for k in ("precision", "recall", "mcc", "roc_auc", "brier", "calibration_error")]
        cells = [*(f"{at[name][w]:.3f}" for w in every), *(f"{score:.3f}" for score in scores)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def speed_table(measured: Sequence[dict[str, Any]]) -> str:
    """One line per set of patterns."""
    lines = [
        "| pattern | events | recognise, s | train, s | forecast, positive, s | forecast, every row, s "
        "| train : recognise | events/s, positive : recognise | events/s, every row : recognise |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for m in measured:
        s = m["seconds"]
        lines.append(
            f"| {', '.join(m['patterns'])} | {m['events']:,} | {s['recognise']:.1f} | {s['train']:.1f} "
            f"| {s['forecast']:.1f} | {s['forecast all']:.1f} | {m['training_to_recognition']:.2f} "
            f"| {m['forecasting_to_recognition_throughput']:.2f} "
            f"| {m['forecasting_all_to_recognition_throughput']:.2f} |"
        )
    return "\n".join(lines)


def plot(summary: dict[str, Any], file: Path) -> None:
    """F1 by model, and whether probabilities mean what they say."""
    import matplotlib  # noqa: PLC0415

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, (bars, curve) = plt.subplots(1, 2, figsize=(11, 4))
    rows = [row for row in summary["rows"] if row["fold"] == "all"]
    bars.barh([row["model"] for row in rows][::-1], [row["f1"] for row in rows][::-1], color="#4477aa")
    bars.set(xlabel=f"F1, a port is entered within {rows[0]['within']} events", xlim=(0, 1))
    for model in summary["models"]:
        if model["model"] in ("order 1", "order 4", "learned", "gradient boosting"):
            points = [(part["forecast"], part["observed"]) for part in model["reliability"]]
            curve.plot(*zip(*points, strict=True), "o-", markersize=3, label=model["model"])
    curve.plot([0, 1], [0, 1], ":", color="grey")
    curve.set(xlabel="probability given", ylabel="share that came true")
    curve.legend()
    figure.suptitle(f"Simulated port traffic, folds by {summary['by']}")
    figure.tight_layout()
    figure.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tracks", type=int, default=80)
    parser.add_argument("--days", type=float, default=4)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--folds", type=int, default=4)
    parser.add_argument("--by", choices=[by.value for by in By], default=By.TIME.value, help="how quality is folded")
    parser.add_argument("--copies", type=int, default=3, help="how often the events are repeated for the speed runs")
    parser.add_argument("--part", choices=["all", "quality", "speed"], default="all")
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    work = options.out / "forecast"
    work.mkdir(parents=True, exist_ok=True)
    progress, settings = open_progress(), read_settings()
    spark = start_spark(settings, "foresail bench forecast", progress)
    data = simulated(spark, options.tracks, options.days, options.seed, work, progress)
    if options.part != "speed":
        summary = quality(spark, settings, data, options.folds, By(options.by), work, progress)
        closed = closed_share(summary)
        told = {**summary, "learned_closes": closed}
        name = "forecast_quality" if options.by == By.TIME.value else f"forecast_quality_by_{options.by}"
        (options.out / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")
        text = f"{quality_table(summary)}\n\nlearned features close {closed:.0%} of the distance from order 4"
        (options.out / f"{name}.md").write_text(text + "\n")
        plot(summary, options.out / f"{name}.png")
        print(text)
    if options.part != "quality":
        events = repeated(spark, data / "events", options.copies, work / "repeated")
        sets = (Catalog((built_in_catalog()[PATTERN],)), Catalog(tuple(read_text(STOPPING, "stopping"))))
        measured = [speed(spark, settings, data, events, catalog, work, progress) for catalog in sets]
        (options.out / "forecast_speed.json").write_text(json.dumps(measured, indent=1) + "\n")
        (options.out / "forecast_speed.md").write_text(speed_table(measured) + "\n")
        print(speed_table(measured))
    spark.stop()


if __name__ == "__main__":
    main()
