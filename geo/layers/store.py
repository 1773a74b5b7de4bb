"""Layers in the cache: read, checked and indexed once, found again by the hash of their content and declaration."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np

from foresail.geo.errors import LayerReadError
from foresail.geo.layers.check import VALID_FROM, VALID_TO, LayerReport, check_features
from foresail.geo.layers.formats import read_features, where
from foresail.geo.layers.index import FEATURES_FILE, RECORDS_FILE, LayerIndex, build_arrays, open_index, save_arrays
from foresail.geo.layers.land import LAND_FILE, NO_LAND, build_land, read_land
from foresail.geo.layers.spec import LayerSpec, read_layer_specs
from foresail.geo.measures.validity import NO_RECORDS, Records, build_records

FORMAT = "2"
"""Part of every version: a change in how layers are checked or indexed makes new ones."""
REPORT_FILE = "report.json"
SHAPEFILE_PARTS = (".shp", ".shx", ".dbf", ".prj", ".cpg")


def _silent(line: str) -> None:
    """Tell nobody."""
    del line


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer ready for use; `folder` holds its features as GeoParquet and the arrays of its index."""

    spec: LayerSpec
    version: str
    folder: Path
    report: LayerReport

    @property
    def index(self) -> LayerIndex:
        """Its index, in this process."""
        return open_index(str(self.folder))

    @property
    def size_bytes(self) -> int:
        """What a worker maps into memory."""
        return sum(file.stat().st_size for file in self.folder.glob("*.npy"))


def read_layers(file: Path, cache: Path, announce: Callable[[str], None] = _silent) -> tuple[Layer, ...]:
    """Every layer that `file` declares, from the cache where it is there."""
    return tuple(read_layer(spec, cache, announce) for spec in read_layer_specs(file))


def read_layer(spec: LayerSpec, cache: Path, announce: Callable[[str], None] = _silent) -> Layer:
    """One layer, read and indexed unless the cache has this very content under this very declaration."""
    version = content_version(spec)
    folder = cache / f"{spec.kind}-{version}"
    if not (folder / REPORT_FILE).exists():
        announce(f"reading {where(spec)}")
        _store(spec, folder)
    kept = json.loads((folder / REPORT_FILE).read_text(encoding="utf-8"))
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in kept.items()}
    report = LayerReport(**values)
    return Layer(spec, version, folder, report)


def content_version(spec: LayerSpec) -> str:
    """Twelve digits that change with any byte of the file and any word of the declaration."""
    digest = hashlib.sha256(FORMAT.encode())
    files = [spec.file, *([spec.land_file] if spec.land_file else [])]
    declared = spec.model_dump(mode="json", exclude={"file", "distance", "land_file"})
    suffixes = [suffix for file in files for suffix in file.suffixes]
    digest.update(json.dumps(declared | {"suffixes": suffixes}, sort_keys=True).encode())
    for part in [part for file in files for part in _parts(file)]:
        try:
            with part.open("rb") as content:
                for block in iter(lambda: content.read(1 << 20), b""):
                    digest.update(block)
        except OSError as error:
            msg = (
                f"{where(spec)}: cannot be read ({error.strerror}). Check the path; it is relative to the layers file."
            )
            raise LayerReadError(msg) from None
    return digest.hexdigest()[:12]


def _parts(file: Path) -> list[Path]:
    if file.suffix.lower() != ".shp":
        return [file]
    beside = [file.with_suffix(suffix) for suffix in SHAPEFILE_PARTS]
    return [file, *(part for part in beside if part.exists() and part != file)]


def _parted(features: gpd.GeoDataFrame, folder: Path) -> tuple[gpd.GeoDataFrame, Records]:
    """Cells (each shape once) and, in a file of its own, the records that hold in them for a while."""
    shapes = features.geometry.to_wkb(hex=True)
    _, firsts, cell = np.unique(shapes.to_numpy(str), return_index=True, return_inverse=True)
    begin, end = (features[name].to_numpy(np.int64) for name in (VALID_FROM, VALID_TO))
    records, order = build_records(cell.astype(np.int64), begin, end, len(firsts))
    features.drop(columns="geometry").iloc[order].to_parquet(folder / RECORDS_FILE)
    cells = features.iloc[firsts].reset_index(drop=True)
    return cells.assign(feature=np.arange(len(cells))), records


def _store(spec: LayerSpec, folder: Path) -> None:
    features, report = check_features(read_features(spec), spec)
    land = read_land(features, spec) if spec.has_land else None
    if land is not None:
        report = replace(report, remarks=(*report.remarks, *land.remarks))
    folder.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        features, records = _parted(features, making) if spec.holds_by_time else (features, NO_RECORDS)
        features.to_parquet(making / FEATURES_FILE)
        if land is not None:
            land.table.to_parquet(making / LAND_FILE)
        save_arrays(build_arrays(features, records, build_land(land) if land else NO_LAND), making)
        (making / REPORT_FILE).write_text(json.dumps(asdict(report)), encoding="utf-8")
        making.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        making.replace(folder)
    except OSError:
        if not (folder / REPORT_FILE).exists():  # else another process stored the same content meanwhile
            raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
