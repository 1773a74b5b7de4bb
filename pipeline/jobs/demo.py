"""The demonstration: the whole line on a simulated fleet, each step as its own command would run it, and one page."""

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foresail.pipeline.progress import SILENT, Progress
from foresail.pipeline.sinks.output_folder import claim_output

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from foresail.patterns.catalog.loader import Catalog
    from foresail.pipeline.settings import ForecastSettings
    from foresail.pipeline.simulator.score import PatternScore
    from foresail.pipeline.simulator.settings import SimulationSettings

DOMAIN = "maritime"
TRACKS = 24
DAYS = 2.0
TRAINED_SHARE = 0.5
"""Models learn from the first half of the time; the forecasts that are shown are of the other."""
FORECAST = ("port_entry", "approaching_port", "trawling")
ORDERS = (0, 1, 4)
FOLDS = 2
QUICK = {"evaluate_sample_events": 30_000, "tree_events": 2000, "boosting_iterations": 40}
"""How the demonstration compares models: enough to show the table, in seconds."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the line: what it did, in a sentence, and how long that took."""

    name: str
    said: str
    seconds: float


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What the demonstration did and found."""

    folder: Path
    positions: int
    tracks: int
    matches: int
    rows: int
    """How many rows tell of the matches."""
    scores: "tuple[PatternScore, ...]"
    ingested: dict[str, Any]
    trained: dict[str, Any]
    forecast: dict[str, Any]
    evaluation: dict[str, Any]
    learned_until: datetime
    steps: tuple[Step, ...]
    report: Path

    @property
    def seconds(self) -> float:
        """From the first step to the last."""
        return sum(step.seconds for step in self.steps)

    @property
    def summary(self) -> dict[str, Any]:
        """What --json shows."""
        return {
            "simulated": True,
            "positions": self.positions,
            "tracks": self.tracks,
            "matches": self.matches,
            "rows": self.rows,
            "patterns": [score.row for score in self.scores],
            "rejected": self.ingested["rejected"],
            "duplicates": self.ingested["duplicates"],
            "models": self.trained["patterns"],
            "forecasts": self.forecast["forecasts"],
            "evaluation": [row for row in self.evaluation["rows"] if row["fold"] == "all"],
            "steps": {step.name: round(step.seconds, 2) for step in self.steps},
            "folder": str(self.folder),
            "report": str(self.report),
            "seconds": round(self.seconds, 2),
        }


def run(
    spark: "SparkSession",
    folder: Path,
    layer_cache: Path,
    seed: int = 7,
    progress: Progress = SILENT,
    tracks: int = TRACKS,
    settings: "ForecastSettings | None" = None,
) -> DemoResult:
    """Run the whole line below `folder`; `report.html` there is what to look at."""
    claim_output(folder, "demo")
    return _Demo(spark, folder, layer_cache, progress).run(seed, tracks, settings)


@dataclass(slots=True)
class _Demo:
    """The steps, each of which finds what the ones before it have written."""

    spark: "SparkSession"
    folder: Path
    layer_cache: Path
    progress: Progress
    steps: list[Step] = field(default_factory=list)

    @property
    def layers(self) -> Path:
        return self.folder / "simulated" / "layers" / "layers.yaml"

    @property
    def events(self) -> list[str]:
        return [str(self.folder / "enriched")]

    def run(self, seed: int, tracks: int, settings: "ForecastSettings | None") -> DemoResult:
        from foresail.patterns.catalog.loader import Catalog, built_in_catalog  # noqa: PLC0415 - --help needs none of these
        from foresail.pipeline.settings import ForecastSettings  # noqa: PLC0415
        from foresail.pipeline.simulator.settings import SimulationSettings  # noqa: PLC0415

        fleet = SimulationSettings(domain=DOMAIN, tracks=tracks, days=DAYS, seed=seed, raw=True)
        catalog = built_in_catalog(DOMAIN)
        foretold = Catalog(tuple(entry for entry in catalog if entry.name in FORECAST))
        learned_until = fleet.start + timedelta(seconds=fleet.duration_s * TRAINED_SHARE)
        settings = settings or ForecastSettings()
        self._simulate(fleet)
        ingested = self._ingest()
        self._enrich()
        recognised, scores = self._recognise(catalog)
        trained = self._train(foretold, learned_until, settings)
        forecast = self._forecast(foretold)
        evaluation = self._evaluate(foretold, settings)
        result = DemoResult(
            self.folder, ingested["rows_out"], ingested["tracks"], recognised["matches"], recognised["rows"], scores,
            ingested, trained, forecast, evaluation, learned_until, tuple(self.steps), self.folder / "report.html",
        )  # fmt: skip
        return self._report(result, catalog, recognised)

    @contextmanager
    def _step(self, name: str) -> "Iterator[list[str]]":
        """Times the block; the sentence that it puts into the list is what the step has done."""
        self.progress.say(f"step {len(self.steps) + 1} of 8: {name}")
        began = time.monotonic()
        said: list[str] = []
        yield said
        self.steps.append(Step(name, " ".join(said), time.monotonic() - began))

    def _simulate(self, fleet: "SimulationSettings") -> None:
        from foresail.pipeline.simulator.job import simulate  # noqa: PLC0415

        with self._step("simulate") as said:
            made = simulate(self.spark, fleet, self.folder / "simulated", self.progress)
            said.append(
                f"{made.tracks} vessels sailed {fleet.days:g} simulated days off {fleet.region.title()}; the feed of "
                "their messages has repeats, gaps and errors, as real ones do."
            )

    def _ingest(self) -> dict[str, Any]:
        from dataclasses import asdict  # noqa: PLC0415

        from foresail.pipeline.jobs.ingest import ingest  # noqa: PLC0415
        from foresail.pipeline.jobs.ingest_order import IngestOrder  # noqa: PLC0415
        from foresail.pipeline.sources.feeds import choose_feed  # noqa: PLC0415
        from foresail.pipeline.stages.policy import Policy  # noqa: PLC0415

        with self._step("ingest") as said:
            out = claim_output(self.folder / "ingested", "ingest")
            raw = str(self.folder / "simulated" / "raw")
            order = IngestOrder(choose_feed("canonical", None), (raw,), out, Policy(), datetime.now(UTC))
            result = asdict(ingest(self.spark, order, self.progress))
            said.append(
                f"Of {result['rows_in']:,} messages {result['rows_out']:,} became positions, {result['rejected']:,} "
                f"were rejected with a reason and {result['duplicates']:,} were repeats."
            )
        return result

    def _enrich(self) -> None:
        from foresail.pipeline.jobs.enrich import EnrichOrder, enrich_events  # noqa: PLC0415

        with self._step("enrich") as said:
            out = claim_output(self.folder / "enriched", "enrich")
            order = EnrichOrder(str(self.folder / "ingested"), self.layers, out, self.layer_cache)
            result = enrich_events(self.spark, order, self.progress)
            kinds = ", ".join(str(layer["name"]).replace("_", " ") for layer in result.layers)
            said.append(f"Each position learned how far it is from, and whether it is in, the nearest of: {kinds}.")

    def _recognise(self, catalog: "Catalog") -> "tuple[dict[str, Any], tuple[PatternScore, ...]]":
        from foresail.pipeline.jobs.recognise import run_recognise  # noqa: PLC0415
        from foresail.pipeline.jobs.recognise_request import RecogniseRequest  # noqa: PLC0415
        from foresail.pipeline.simulator.score import score_matches  # noqa: PLC0415

        with self._step("recognise") as said:
            out = self.folder / "recognised"
            request = RecogniseRequest(
                self.events, catalog, out, layers=self.layers, layer_cache=self.layer_cache, skip_unfit=True
            )
            summary = run_recognise(self.spark, request, self.progress)
            looked_for = summary["matches_by_pattern"]
            scores = score_matches(out / "matches", self.folder / "simulated" / "truth")
            said.append(f"{len(looked_for)} patterns were looked for in every track.")
        return summary, tuple(score for score in scores if score.pattern in looked_for)

    def _train(self, catalog: "Catalog", until: datetime, settings: "ForecastSettings") -> dict[str, Any]:
        from foresail.pipeline.jobs.train import TrainRequest, run_train  # noqa: PLC0415

        shutil.rmtree(self.folder / "models", ignore_errors=True)
        with self._step("train") as said:
            request = TrainRequest(
                self.events, catalog, self.folder / "models", layers=self.layers, layer_cache=self.layer_cache,
                until=until, settings=settings,
            )  # fmt: skip
            summary = run_train(self.spark, request, self.progress)
            said.append(
                f"{len(summary['patterns'])} models learned from {summary['events']:,} events of the first day."
            )
        return summary

    def _forecast(self, catalog: "Catalog") -> dict[str, Any]:
        from foresail.pipeline.jobs.forecast import run_forecast  # noqa: PLC0415
        from foresail.pipeline.jobs.forecast_request import ForecastRequest  # noqa: PLC0415

        with self._step("forecast") as said:
            request = ForecastRequest(
                self.events, catalog, self.folder / "models", self.folder / "forecast", emission="positive",
                layers=self.layers, layer_cache=self.layer_cache,
            )  # fmt: skip
            summary = run_forecast(self.spark, request, self.progress)
            said.append(f"After each of {summary['events']:,} events every model said how likely a match is soon.")
        return summary

    def _evaluate(self, catalog: "Catalog", settings: "ForecastSettings") -> dict[str, Any]:
        from threadpoolctl import threadpool_limits  # noqa: PLC0415

        from foresail.pipeline.jobs.evaluate import EvaluateRequest, run_evaluate  # noqa: PLC0415

        # Threads that wait for each other on a busy machine make boosting of so few events twenty times slower.
        with self._step("evaluate") as said, threadpool_limits(1, user_api="openmp"):
            request = EvaluateRequest(
                self.events, catalog, self.folder / "evaluated", layers=self.layers, layer_cache=self.layer_cache,
                skip_unfit=True, folds=FOLDS, orders=ORDERS, settings=settings.model_copy(update=QUICK),
            )  # fmt: skip
            summary = run_evaluate(self.spark, request, self.progress)
            said.append(f"Models of other kinds were trained and tested on {FOLDS} folds of time, to be compared.")
        evaluation: dict[str, Any] = json.loads(Path(summary["report"]).read_text(encoding="utf-8"))
        return evaluation

    def _report(self, result: DemoResult, catalog: "Catalog", recognised: dict[str, Any]) -> DemoResult:
        from dataclasses import replace  # noqa: PLC0415

        from foresail.pipeline.reports.demo import write_demo_report  # noqa: PLC0415

        with self._step("report") as said, self.progress.step("writing the report"):
            write_demo_report(self.spark, result, catalog, self.layers, self.layer_cache, recognised)
            said.append("This page.")
        return replace(result, steps=tuple(self.steps))
