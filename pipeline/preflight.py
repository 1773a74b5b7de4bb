"""What is wrong with a job and can be told before Spark starts: missing files, layers and attributes.

The job itself checks all of it again with what Spark has read; here only what files say of themselves is known.
"""

import csv
import gzip
from collections.abc import Collection, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from foresail.geo.errors import GeoError
from foresail.geo.layers import LayerSpec, read_layer_specs
from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.errors import UnknownAttributeError
from foresail.pipeline.errors import InputError
from foresail.pipeline.fitting import attributes_read_by, check_layer, check_pairs, fit_catalog
from foresail.pipeline.sources.parquet_files import parquet_files
from foresail.pipeline.sources.table import OFFSET, TIME, TRACK, check_paths
from foresail.pipeline.training.model_store import is_uri

MAY_BE_ADDED = frozenset({OFFSET, "speed_kn", "speed_kmh", "minutes_since_start"})
"""What reading adds to events that lack it."""
LONGEST_HEADER = 1 << 16
LITTLE_BYTES = 32 << 20


def check_request(events: Sequence[str], catalog: Catalog, layers: Path | None, must_fit: bool) -> None:
    """Raise where the events, the layers or (`must_fit`) what the patterns read are not there."""
    check_paths(events)
    there = [spec.name for spec in check_layers(layers)]
    columns = columns_of(events)

    def check(entry: PatternEntry) -> None:
        check_layer(entry, there)
        if columns is not None:
            _check_columns(entry, columns)

    if must_fit:
        fit_catalog(catalog, check, skip_unfit=False)


def check_layers(file: Path | None) -> tuple[LayerSpec, ...]:
    """The layers that a layers file declares; raise where it, or a file that it names, cannot be there."""
    try:
        specs = read_layer_specs(file) if file else ()
    except GeoError as error:
        raise InputError(str(error)) from error
    for spec in specs:
        if not spec.file.exists():
            msg = f"{file}: the file of layer '{spec.name}', {spec.file}, does not exist. Paths are relative to {file}."
            raise InputError(msg)
    return specs


def is_little(paths: Sequence[str]) -> bool:
    """Whether so little is to be read that Java's optimising compiler would take longer than it saves."""
    if any("://" in path for path in paths):
        return False
    given = [file for path in map(Path, paths) for file in ([path] if path.exists() else path.parent.glob(path.name))]
    found = [file for path in given for file in (path.rglob("*") if path.is_dir() else [path])]
    return sum(file.stat().st_size for file in found if file.is_file()) < LITTLE_BYTES


def check_inputs(inputs: Sequence[str], static: Path | None) -> None:
    """Raise where an input of `foresail ingest` names no file of this machine."""
    for given in inputs:
        path = Path(given)
        if "://" not in given and not path.exists() and not any(path.parent.glob(path.name)):
            msg = f"{given}: no such file or folder, or nothing in it. Name files, folders or globs that exist."
            raise InputError(msg)
    if static is not None and not static.is_file():
        msg = f"{static}: no such file of static data. Name a CSV file with a header, or leave --static out."
        raise InputError(msg)


def check_models(place: str, catalog: Catalog) -> None:
    """Raise where a folder of models has none of any of these patterns."""
    from foresail.models.store import ModelStore  # noqa: PLC0415 - half a second, which commands without models save

    if is_uri(place):
        return
    if not any(ModelStore(Path(place)).versions(entry.name) for entry in catalog):
        msg = f"{place}: has no model of any of these patterns. Train them with `foresail train`."
        raise InputError(msg)


def columns_of(paths: Sequence[str]) -> tuple[str, ...] | None:
    """The columns that the first file names; None where its form does not tell, or they are not those of events."""
    path = Path(paths[0])
    files = [path] if path.is_file() else parquet_files(path)
    if "://" in paths[0] or not files:
        return None
    try:
        columns = _columns_of_file(files[0])
    except (OSError, UnicodeError, csv.Error, pa.ArrowException):
        return None  # the job tells what is wrong with it
    return columns if columns is not None and {TRACK, TIME} <= set(columns) else None


def _columns_of_file(file: Path) -> tuple[str, ...] | None:
    if file.suffix == ".parquet":
        return tuple(pq.read_schema(file).names)
    if not file.name.endswith((".csv", ".csv.gz")):
        return None
    packed = file.suffix == ".gz"
    with gzip.open(file, "rt", encoding="utf-8-sig") if packed else file.open(encoding="utf-8-sig") as text:
        return tuple(next(csv.reader([text.readline(LONGEST_HEADER)]), ()))


def _check_columns(entry: PatternEntry, columns: Collection[str]) -> None:
    check_pairs(entry, columns)
    for attribute in attributes_read_by(entry):
        if attribute.owner is None and attribute.name not in {*columns, *MAY_BE_ADDED}:
            raise UnknownAttributeError(attribute.name, columns, attribute.place or entry.name)
