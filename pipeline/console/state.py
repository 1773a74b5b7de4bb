"""All parts of a running console in one value, and how they are put together."""

import gzip
import json
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from foresail.geo.errors import GeoError
from foresail.pipeline.console.access import Access
from foresail.pipeline.console.history import History
from foresail.pipeline.console.insight import Insight
from foresail.pipeline.console.live import Hub
from foresail.pipeline.console.operations import Operations
from foresail.pipeline.console.reading import Reader
from foresail.pipeline.console.store import Store
from foresail.pipeline.reports.land import LAND_FILE
from foresail.pipeline.settings import Settings

WORLD = (-180.0, -90.0, 180.0, 90.0)


@dataclass(slots=True)
class Console:
    """A console that reads a line."""

    settings: Settings
    store: Store
    operations: Operations
    reader: Reader
    access: Access
    insight: Insight
    hub: Hub
    began: float = field(default_factory=time.time)
    busy: threading.Lock = field(default_factory=threading.Lock)
    """Held while a pattern is tried: one at a time."""
    _land: bytes | None = None
    _layers: dict[str, Any] | None = None

    def start(self) -> None:
        """Read in the background."""
        self.reader.start()
        self.operations.start()

    def close(self) -> None:
        """End what runs in the background."""
        self.hub.close()
        self.reader.close()
        self.operations.close()

    def land(self) -> bytes:
        """Natural Earth's land as one GeoJSON feature."""
        if self._land is None:
            held = json.loads(gzip.decompress(LAND_FILE.read_bytes()))
            source = held.pop("source", "Natural Earth")
            feature = {"type": "Feature", "geometry": held, "properties": {"source": source}}
            self._land = json.dumps(feature, separators=(",", ":")).encode()
        return self._land

    def layers(self) -> dict[str, Any]:
        """The line's layers as GeoJSON, simplified; without features where they cannot be read here."""
        if self._layers is None:
            self._layers = _layers(self.settings)
        return self._layers


def open_console(settings: Settings, host: str) -> Console:
    """The console that the settings describe, not yet reading."""
    store = Store(History(settings.console.keep_positions), settings.console.keep_alerts)
    operations = Operations(settings)
    reader = Reader(settings, store)

    def status() -> dict[str, Any]:
        feed = reader.feed.summary()
        feed.pop("silent_s")
        return {**feed, "database": operations.fault}

    access = Access(settings.console, operations.secret("sessions"), host)
    hub = Hub(store, operations, status)
    return Console(settings, store, operations, reader, access, Insight(settings, store), hub)


def _layers(settings: Settings) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    notes: list[str] = []
    if settings.layers.file is not None:
        from foresail.geo import read_layers  # noqa: PLC0415 - brings GeoPandas
        from foresail.pipeline.reports.map_layers import map_layers  # noqa: PLC0415

        try:
            layers = read_layers(settings.layers.file, settings.layers.directory)
            kinds = {layer.spec.name: layer.spec.kind for layer in layers}
            drawn, left_out = map_layers(layers, _extent(layers))
        except (GeoError, OSError) as error:
            return {"type": "FeatureCollection", "features": [], "notes": [str(error)]}
        notes = list(left_out)
        for layer in drawn:
            for shape in layer.shapes:
                found.append(_feature(layer.name, kinds[layer.name], shape))
    return {"type": "FeatureCollection", "features": found, "notes": notes}


def _extent(layers: Any) -> tuple[float, float, float, float]:
    """Where the layers are: what is drawn is simplified to what a screen shows of that."""
    import geopandas as gpd  # noqa: PLC0415 - only where there are layers

    from foresail.geo.layers.index import FEATURES_FILE  # noqa: PLC0415

    bounds = [gpd.read_parquet(layer.folder / FEATURES_FILE, columns=["geometry"]).total_bounds for layer in layers]
    if not bounds:
        return WORLD
    west, south, east, north = zip(*bounds, strict=True)
    return float(min(west)), float(min(south)), float(max(east)), float(max(north))


def _feature(layer: str, kind: str, shape: Any) -> dict[str, Any]:
    rings = [[list(place) for place in ring] for ring in shape.rings]
    geometry = {
        "point": {"type": "Point", "coordinates": rings[0][0]},
        "line": {"type": "LineString", "coordinates": rings[0]},
        "polygon": {"type": "Polygon", "coordinates": rings},
    }[shape.kind]
    properties = {"layer": layer, "kind": kind, "name": shape.name}
    return {"type": "Feature", "geometry": geometry, "properties": properties}
