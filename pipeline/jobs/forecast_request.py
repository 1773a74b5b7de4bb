"""What a job of forecasting is asked, whichever engine runs it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from foresail.models.model import Emission
from foresail.models.store import CHAMPION
from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.training.serving import Choosing


@dataclass(frozen=True, slots=True)
class ForecastRequest:
    """What to forecast, with which models, and where to write."""

    events: Sequence[str]
    catalog: Catalog
    models: Path | str
    """A folder, or a URI of a file system that Hadoop knows."""
    out: Path
    form: str = "parquet"
    emission: Emission = "all"
    types: Mapping[str, str] | None = None
    time_unit: str | None = None
    layers: Path | None = None
    layer_cache: Path = Path("layers")
    skip_unfit: bool = False
    """Leave out, and tell, the patterns without a model or that the events do not fit; otherwise that is an error."""
    version: str = CHAMPION
    threshold: float | None = None
    """In place of the one that training chose."""

    @property
    def choosing(self) -> Choosing:
        """Which models are asked."""
        return Choosing(self.version, self.threshold, self.skip_unfit)
