"""What a recognition job is asked for, whichever engine runs it."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.batch.planner import Scheme
from foresail.pipeline.reports.page import REPORT_FILE

GEOJSON_FILE, POSITIONS = "matches.geojson", "positions"
TRIG_FILES = ("matches.trig", "positions.trig")


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


class Outputs(NamedTuple):
    """What is to be written beside the matches."""

    geojson: bool = False
    report: bool = False
    positions: bool = False

    def begin(self, out: Path) -> dict[str, Path]:
        """Where each that is asked for goes; what an earlier run wrote is taken away."""
        places = {"geojson": out / GEOJSON_FILE, "report": out / REPORT_FILE, "positions": out / POSITIONS}
        shutil.rmtree(places["positions"], ignore_errors=True)
        for name in ("geojson", "report"):
            places[name].unlink(missing_ok=True)
        for name in TRIG_FILES:
            (out / name).unlink(missing_ok=True)
        return {name: place for name, place in places.items() if getattr(self, name)}
