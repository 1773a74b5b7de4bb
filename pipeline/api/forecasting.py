"""`fs.train`, `fs.forecast`, `fs.evaluate`: from frames of events to models, forecasts and scores."""

import time as clock
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from foresail.models.model import Emission
from foresail.models.scoring.report import Evaluation
from foresail.models.scoring.thresholds import By
from foresail.models.store import CHAMPION
from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.api.finding import events_of
from foresail.pipeline.api.models import AnyModels, Models, opened
from foresail.pipeline.api.notices import say_notes, say_skipped
from foresail.pipeline.api.patterns import Patterns, as_catalog
from foresail.pipeline.errors import InputError
from foresail.pipeline.fitting import OF_THE_API
from foresail.pipeline.local.forecasting import EventColumns, ask_models, forecast_events, frame_events
from foresail.pipeline.local.frames import Frame, is_spark
from foresail.pipeline.local.layers import LayersAtHand, layers_at_hand
from foresail.pipeline.local.sorted_events import Named
from foresail.pipeline.progress import SILENT
from foresail.pipeline.training.evaluating import Judging, evaluate_patterns
from foresail.pipeline.training.forecast_patterns import catalog_per, forecast_patterns
from foresail.pipeline.training.learning import Learning, learn_models
from foresail.pipeline.training.serving import Choosing, silent_models

if TYPE_CHECKING:
    from foresail.pipeline.training.model_events import ModelEvents


def train(
    events: Any,
    patterns: Patterns,
    models: AnyModels | None = None,
    *,
    track: str = "track",
    time: str = "time",
    time_unit: str | None = None,
    layers: str | Path | Any | None = None,
    order: int | None = None,
    horizon: int | None = None,
    per: str | None = None,
    add: bool = False,
    half_life_days: float | None = None,
    skip_unfit: bool = False,
) -> Models:
    """Models that forecast `patterns`, learned from `events`: kept in the folder `models`, or in memory without one.

    `order` and `horizon` are in place of those of the patterns; `per` asks for a model of each group of tracks too;
    `add` adds to the counts that the folder keeps, which weigh half after `half_life_days`. Raises `InputError` where
    nothing can be learned from the events.
    """
    catalog, at_hand = as_catalog(patterns), layers_at_hand(layers)
    held = models if isinstance(models, Models) else Models(models)
    learning = Learning(
        catalog, tuple(at_hand.by_name), skip_unfit, add, half_life_days, order, horizon, per, ways_out=OF_THE_API
    )
    summary = learn_models(
        _events(events, catalog, Named(track, time, time_unit), at_hand)[0], learning, held.store, SILENT
    )
    say_skipped(summary["skipped"], "not trained")
    say_notes(f"{row['pattern']}: {note}" for row in summary["patterns"] for note in row["warnings"])
    return held.with_trained(summary["patterns"])


def forecast(
    events: Any,
    patterns: Patterns,
    models: AnyModels,
    *,
    track: str = "track",
    time: str = "time",
    time_unit: str | None = None,
    layers: str | Path | Any | None = None,
    emit: Emission = "all",
    version: str = CHAMPION,
    threshold: float | None = None,
    skip_unfit: bool = False,
) -> Any:
    """What `models` say after each event, as a frame of the same kind: how likely each pattern is soon, or when.

    `emit="positive"` keeps the forecasts at or above the threshold, `"changes"` those where that begins or ends.
    Raises `ModelError` where a pattern has no model, or one of another version of it.
    """
    catalog, at_hand, named = as_catalog(patterns), layers_at_hand(layers), Named(track, time, time_unit)
    store, choosing = opened(models).store, Choosing(version, threshold, skip_unfit)
    if is_spark(events):
        from foresail.pipeline.api.spark_frames import forecast_in_spark  # noqa: PLC0415 - only where Spark is

        return forecast_in_spark(events, catalog, named, at_hand, store, emit, choosing)
    found = events_of(events, named)
    read = frame_events(catalog, found, at_hand)
    asked = ask_models(catalog, EventColumns.of(read), store, emit, choosing, read.memberships)
    say_skipped(asked.skipped, "not forecast")
    say_notes([*asked.warnings, *silent_models(asked.served)])
    return found.frame.like(forecast_events(asked, found))


@dataclass(frozen=True, slots=True)
class Scores:
    """How well patterns can be forecast: `rows` is a frame, one row per pattern, model, fold and w."""

    evaluation: Evaluation
    rows: Any

    def to_json(self) -> dict[str, Any]:
        """All numbers, as in `evaluation.json`."""
        return dict(self.evaluation.as_json)

    def save(self, file: str | Path) -> Path:
        """Write the page with curves, reliability and a map, which needs no network."""
        from foresail.pipeline.reports.evaluation import write_evaluation_page  # noqa: PLC0415 - brings the plots

        return write_evaluation_page(Path(file), self.evaluation.as_json, ())


def evaluate(
    events: Any,
    patterns: Patterns,
    *,
    track: str = "track",
    time: str = "time",
    time_unit: str | None = None,
    layers: str | Path | Any | None = None,
    folds: int = 4,
    by: Literal["time", "track"] = "time",
    orders: tuple[int, ...] | None = None,
    within: tuple[int, ...] = (),
    per: str | None = None,
    skip_unfit: bool = False,
) -> Scores:
    """How well `patterns` can be forecast on `events`: every order, learned features, gradient boosting, by fold.

    `by="time"` tests on later events of the same tracks, `by="track"` on tracks that were not learned from. Raises
    `InputError` where there are too few matches to judge on.
    """
    if folds < 2:
        msg = f"folds={folds}: there must be at least 2, one to test on and one to learn from."
        raise InputError(msg)
    began, at_hand = clock.monotonic(), layers_at_hand(layers)
    catalog = catalog_per(as_catalog(patterns), per)
    read, frame = _events(events, catalog, Named(track, time, time_unit), at_hand, every=True)
    fitting, skipped = forecast_patterns(
        catalog, read.columns, read.types, tuple(at_hand.by_name), skip_unfit, OF_THE_API
    )
    found = evaluate_patterns(read, fitting, Judging(folds, By(by), orders, within), SILENT, skipped)
    say_skipped(found.skipped, "not evaluated")
    return Scores(replace(found, seconds=round(clock.monotonic() - began, 3)), frame.like(_table(found)))


def _events(
    events: Any, catalog: Catalog, named: Named, layers: LayersAtHand, every: bool = False
) -> "tuple[ModelEvents, Frame]":
    """The events as models read them, and a frame of the kind that results are to have."""
    if is_spark(events):
        import pandas as pd  # noqa: PLC0415 - brought by Spark

        from foresail.pipeline.api.spark_frames import model_events  # noqa: PLC0415 - only where Spark is
        from foresail.pipeline.local.frames import PandasFrame  # noqa: PLC0415

        return model_events(events, catalog, named, layers), PandasFrame(pd.DataFrame())
    found = events_of(events, named)
    return frame_events(catalog, found, layers, every), found.frame


def _table(found: Evaluation) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    return pa.Table.from_pylist([row.as_json for row in found.rows])
