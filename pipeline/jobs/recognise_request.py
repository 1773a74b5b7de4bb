"""What a recognition job is asked for, whichever engine runs it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.batch.planner import Scheme


@dataclass(frozen=True, slots=True)
class RecogniseRequest:
    """What to read, what to look for, and where to write."""

    events: Sequence[str]
    catalog: Catalog
    out: Path
    form: str = "parquet"
    types: Mapping[str, str] | None = None
    time_unit: str | None = None
    layers: Path | None = None
    """The layers file that pattern families need."""
    layer_cache: Path = Path("layers")
    skip_unfit: bool = False
    """Leave out, and tell, the patterns that need what the events do not have; otherwise that is an error."""
    scheme: Scheme = Scheme.AUTO
    skip_corrupt: bool = False
    """Go on without files that cannot be read, and tell which; otherwise that is an error."""
    episodes: str = "all"
    """`changes` leaves out the rows `updated`, which an episode has for every detection after it opened."""
