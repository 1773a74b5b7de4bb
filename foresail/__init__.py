"""Foresail recognises and forecasts complex events in the tracks of vessels and vehicles.

    import foresail as fs

    stop = fs.pattern("stop", "slow{3,}", where={"slow": "speed_kn < 1"}, window="2h")
    matches = fs.find(events, stop)

Names are imported when they are asked for, so that `import foresail` is quick and brings no Spark; docs/api.md tells
of each. In the source tree the four folders below are links to those of the same name at the top; an installed package
has them as they are. Everything is imported through this package, so that nobody's own `models.py` is taken for ours.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foresail.geo.errors import GeoError
    from foresail.models.errors import ModelError
    from foresail.patterns.catalog.entry import PatternEntry as Pattern
    from foresail.patterns.catalog.loader import Catalog
    from foresail.patterns.catalog.nodes import CatalogError
    from foresail.patterns.errors import PatternError
    from foresail.pipeline.api.enriching import enrich
    from foresail.pipeline.api.explaining import Why, why
    from foresail.pipeline.api.finding import find
    from foresail.pipeline.api.forecasting import Scores, evaluate, forecast, train
    from foresail.pipeline.api.models import Models
    from foresail.pipeline.api.monitoring import Monitor
    from foresail.pipeline.api.notices import ForesailWarning, NaiveTimeWarning
    from foresail.pipeline.api.patterns import catalog, pattern, read_patterns
    from foresail.pipeline.api.pictures import MatchMap, map  # noqa: A004 - fs.map is what it is called
    from foresail.pipeline.api.reading import read_feed
    from foresail.pipeline.errors import InputError, PipelineError

HOME = Path(__file__).parent
"""Where the package lies: its code and every data file are below."""

if not (HOME / "patterns").is_dir():
    msg = (
        f"{HOME / 'patterns'}: is not a folder, because the links of the source tree were not kept. "
        "Clone again to a file system with links: git clone -c core.symlinks=true."
    )
    raise ImportError(msg)

__version__ = "0.1.0"

_HOMES = {
    "Catalog": "patterns.catalog.loader",
    "CatalogError": "patterns.catalog.nodes",
    "ForesailWarning": "pipeline.api.notices",
    "GeoError": "geo.errors",
    "InputError": "pipeline.errors",
    "MatchMap": "pipeline.api.pictures",
    "ModelError": "models.errors",
    "Models": "pipeline.api.models",
    "Monitor": "pipeline.api.monitoring",
    "NaiveTimeWarning": "pipeline.api.notices",
    "Pattern": "patterns.catalog.entry.PatternEntry",
    "PatternError": "patterns.errors",
    "PipelineError": "pipeline.errors",
    "Scores": "pipeline.api.forecasting",
    "Why": "pipeline.api.explaining",
    "catalog": "pipeline.api.patterns",
    "enrich": "pipeline.api.enriching",
    "evaluate": "pipeline.api.forecasting",
    "find": "pipeline.api.finding",
    "forecast": "pipeline.api.forecasting",
    "map": "pipeline.api.pictures",
    "pattern": "pipeline.api.patterns",
    "read_feed": "pipeline.api.reading",
    "read_patterns": "pipeline.api.patterns",
    "train": "pipeline.api.forecasting",
    "why": "pipeline.api.explaining",
}
"""The module of each name; of one that is called otherwise there, the name too."""

__all__ = [
    "HOME",
    "Catalog",
    "CatalogError",
    "ForesailWarning",
    "GeoError",
    "InputError",
    "MatchMap",
    "ModelError",
    "Models",
    "Monitor",
    "NaiveTimeWarning",
    "Pattern",
    "PatternError",
    "PipelineError",
    "Scores",
    "Why",
    "__version__",
    "catalog",
    "enrich",
    "evaluate",
    "find",
    "forecast",
    "map",
    "pattern",
    "read_feed",
    "read_patterns",
    "train",
    "why",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        msg = f"module 'foresail' has no attribute '{name}'"
        raise AttributeError(msg)
    module, _, called = home.rpartition(".") if home[home.rfind(".") + 1].isupper() else (home, "", name)
    found = globals()[name] = getattr(import_module(f"foresail.{module}"), called)
    return found


def __dir__() -> list[str]:
    return __all__
