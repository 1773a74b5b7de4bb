"""Evaluation: how well each pattern can be forecast on these events, by every order and by what else one would try."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from foresail.models.scoring.report import Evaluation
from foresail.models.scoring.thresholds import By
from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.batch.families import layers_at
from foresail.pipeline.progress import Progress
from foresail.pipeline.reports.evaluation import EVALUATION_FILE, write_evaluation_page
from foresail.pipeline.settings import ForecastSettings
from foresail.pipeline.sinks.output_folder import claim_output, replaced
from foresail.pipeline.training.evaluating import Judging, evaluate_patterns
from foresail.pipeline.training.forecast_patterns import catalog_per, forecast_patterns
from foresail.pipeline.training.readable_events import readable_events
from foresail.pipeline.training.spark_events import SparkEvents

REPORT = "evaluation.json"


@dataclass(frozen=True, slots=True)
class EvaluateRequest:
    """What to evaluate, on which folds, and where to write."""

    events: Sequence[str]
    catalog: Catalog
    out: Path
    types: Mapping[str, str] | None = None
    time_unit: str | None = None
    layers: Path | None = None
    layer_cache: Path = Path("layers")
    skip_unfit: bool = False
    folds: int = 4
    by: By = By.TIME
    orders: tuple[int, ...] | None = None
    """None: every order up to that of the catalog."""
    within: tuple[int, ...] = ()
    """Further w beside that of the catalog; none: a third of it and twice it."""
    per: str | None = None
    """Also judge a model for each value of this attribute of tracks, or for each `track`."""
    settings: ForecastSettings = field(default_factory=ForecastSettings)

    @property
    def judging(self) -> Judging:
        """How it is judged."""
        return Judging(self.folds, self.by, self.orders, self.within, self.settings)


def run_evaluate(spark: SparkSession, request: EvaluateRequest, progress: Progress) -> dict[str, Any]:
    """Evaluate every pattern of the catalog; the summary, which is also in `evaluation.json`."""
    began = time.monotonic()
    claim_output(request.out, "evaluate")
    with progress.step("reading events"):
        frame, rows_read = readable_events(spark, request)
    layers = layers_at(request.layers, request.layer_cache, progress)
    events = SparkEvents(frame, layers)
    catalog = catalog_per(request.catalog, request.per)
    patterns, skipped = forecast_patterns(catalog, events.columns, events.types, layers, request.skip_unfit)
    evaluation = evaluate_patterns(events, patterns, request.judging, progress, skipped)
    evaluation = replace(evaluation, seconds=round(time.monotonic() - began, 3))
    with replaced(request.out / REPORT) as staging:
        staging.write_text(json.dumps(evaluation.as_json, allow_nan=False) + "\n", encoding="utf-8")
    page = write_evaluation_page(request.out / EVALUATION_FILE, evaluation.as_json, tuple(layers.values()))
    return _summary(evaluation, request.out / REPORT) | rows_read.summary | {"page": str(page)}


def _summary(evaluation: Evaluation, report: Path) -> dict[str, Any]:
    return {
        "rows": [row.as_json for row in evaluation.rows],
        "differences": [
            {"pattern": p.pattern, **asdict(one)}
            for p in evaluation.patterns
            for one in p.differences
            if one.within == p.within
        ],
        "by": evaluation.by,
        "folds": evaluation.folds,
        "events": evaluation.events,
        "sampled_events": evaluation.sampled_events,
        "tracks": evaluation.tracks,
        "skipped": evaluation.skipped,
        "seconds": evaluation.seconds,
        "report": str(report),
    }
