"""The monitor of a bucket in one configuration: its catalog, the conditions in its words, what its models can say.

Built once per worker and configuration; holds no state of its own.
"""

from collections.abc import Mapping, Sequence

from foresail.models.family_forecaster import FamilyForecaster
from foresail.models.forecaster import Forecaster
from foresail.models.model import Model
from foresail.models.reader import ModelReader
from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.recognition.families import FamilyRecogniser
from foresail.patterns.recognition.monitor import Monitor
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.recognition.register_recogniser import RegisterRecogniser, kept_columns
from foresail.pipeline.batch.partition import recognisers_of
from foresail.pipeline.results.forecast_table import ForecastColumns


class BucketMonitor(Monitor):
    """The recognisers in a fixed order: plain patterns, those with registers, families by layer, models, theirs."""

    def __init__(
        self,
        plain: Sequence[CompiledPattern],
        conditions: Sequence[Condition],
        families: Sequence[FamilyRecogniser] = (),
        forecaster: Forecaster | None = None,
        family_forecasters: Sequence[FamilyForecaster] = (),
        entries: Mapping[str, PatternEntry] | None = None,
    ) -> None:
        self.conditions = tuple(conditions)
        self.entries = entries
        """The catalog, where it is another than the one that the query was started with."""
        self._recognising: tuple[PatternRecogniser | RegisterRecogniser | FamilyRecogniser, ...] = (
            *recognisers_of(plain, conditions),  # type: ignore[arg-type]
            *families,
        )
        self.kept = kept_columns(plain)
        """The values that patterns with registers compare."""
        self.inputs = () if forecaster is None else forecaster.input_columns
        """What the trees of models read."""
        self.forecaster = forecaster
        self._forecasting: tuple[ModelReader, ...] = (*([forecaster] if forecaster else []), *family_forecasters)
        self._columns: dict[int, ForecastColumns] = {}
        super().__init__((*self._recognising, *self._forecasting))  # type: ignore[arg-type]

    @property
    def patterns(self) -> tuple[CompiledPattern, ...]:
        """All patterns that are recognised, plain ones first."""
        return tuple(pattern for part in self._recognising for pattern in part.patterns)

    @property
    def models(self) -> tuple[Model, ...]:
        """All models that forecast, plain ones first."""
        return tuple(model for part in self._forecasting for model in part.models)

    def forecast_columns(self, by: ModelReader) -> ForecastColumns:
        """All that the models of one forecaster can say."""
        if id(by) not in self._columns:
            self._columns[id(by)] = ForecastColumns.of(by)
        return self._columns[id(by)]
