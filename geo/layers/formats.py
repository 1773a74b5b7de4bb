"""A layer's file as a table of features, whatever its format; nothing is judged here but whether it can be read."""

import gzip
import io
import warnings
from pathlib import Path
from typing import Any

import geopandas as gpd
import pandas as pd
import pyogrio
import shapely

from foresail.geo.errors import LayerReadError
from foresail.geo.layers.spec import LayerSpec

LON_NAMES = ("lon", "longitude", "long", "lng", "longitude_degrees")
LAT_NAMES = ("lat", "latitude", "latitude_degrees")
WKT_NAMES = ("wkt", "geometry", "geom", "the_geom")
DEGREES = "EPSG:4326"
SEPARATORS = ",;\t|"
READERS = {
    ".geojson": "vector", ".json": "vector", ".gpkg": "vector", ".shp": "vector", ".zip": "vector", ".fgb": "vector",
    ".parquet": "geoparquet", ".geoparquet": "geoparquet", ".csv": "csv", ".tsv": "csv", ".wkt": "wkt",
}  # fmt: skip


def read_features(spec: LayerSpec) -> gpd.GeoDataFrame:
    """The features as the file has them, with the file's own reference system if it says one."""
    if not spec.file.exists():
        msg = f"{where(spec)}: the file does not exist. Check the path; it is relative to the layers file."
        raise LayerReadError(msg)
    suffix = _suffix(spec.file)
    if suffix not in READERS:
        msg = f"{where(spec)}: unknown format '{suffix}'. Known: {', '.join(READERS)}, each also with .gz."
        raise LayerReadError(msg)
    try:
        features = _READ[READERS[suffix]](spec)
    except LayerReadError:
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        msg = f"{where(spec)}: cannot be read as {suffix} ({reason}). Check that the file is whole and of that format."
        raise LayerReadError(msg) from error
    if features.empty:
        msg = f"{where(spec)}: holds no features. Name a file with at least one."
        raise LayerReadError(msg)
    return features


def where(spec: LayerSpec) -> str:
    """How a message names the layer."""
    return f"layer '{spec.name}' ({spec.file.name})"


def _suffix(file: Path) -> str:
    return Path(file.stem).suffix.lower() if file.suffix.lower() == ".gz" else file.suffix.lower()


def _content(file: Path) -> Any:
    if file.suffix.lower() != ".gz":
        return file
    with gzip.open(file) as packed:
        return io.BytesIO(packed.read())


def _text(file: Path) -> str:
    content = _content(file)
    raw = content.getvalue() if isinstance(content, io.BytesIO) else content.read_bytes()
    return str(raw.decode("utf-8-sig"))


def _read_vector(spec: LayerSpec) -> gpd.GeoDataFrame:
    source = _content(spec.file)
    tables = [str(row[0]) for row in pyogrio.list_layers(source)]
    if not tables:
        return gpd.GeoDataFrame(geometry=[])
    if spec.table is not None and spec.table not in tables:
        msg = f"{where(spec)}: has no table '{spec.table}'. It has: {', '.join(tables)}."
        raise LayerReadError(msg)
    if spec.table is None and len(tables) > 1:
        msg = f"{where(spec)}: holds several tables ({', '.join(tables)}). Choose one with `table:`."
        raise LayerReadError(msg)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # GDAL remarks on ring order and field widths, which are no concern here
        return gpd.GeoDataFrame(pyogrio.read_dataframe(source, layer=spec.table))


def _read_geoparquet(spec: LayerSpec) -> gpd.GeoDataFrame:
    return gpd.read_parquet(_content(spec.file))


def _read_csv(spec: LayerSpec) -> gpd.GeoDataFrame:
    text = io.StringIO(_text(spec.file))
    heading = text.readline()
    text.seek(0)
    table = pd.read_csv(text, sep=max(SEPARATORS, key=heading.count), dtype=str)
    table.columns = table.columns.str.strip()
    wkt = _column(table, spec, spec.geometry_column, WKT_NAMES)
    if wkt is not None:
        return gpd.GeoDataFrame(table, geometry=_from_wkt(table[wkt], spec))
    lon = _column(table, spec, spec.lon_column, LON_NAMES)
    lat = _column(table, spec, spec.lat_column, LAT_NAMES)
    if lon is None or lat is None:
        msg = (
            f"{where(spec)}: no columns for longitude and latitude among {', '.join(table.columns[:12])}. "
            "Name them with lon_column and lat_column, or a WKT column with geometry_column."
        )
        raise LayerReadError(msg)
    points = shapely.points(_numbers(table[lon], spec, lon), _numbers(table[lat], spec, lat))
    named_in_degrees = lon.lower() in LON_NAMES and lat.lower() in LAT_NAMES
    return gpd.GeoDataFrame(table, geometry=points, crs=DEGREES if named_in_degrees and spec.crs is None else None)


def _column(table: pd.DataFrame, spec: LayerSpec, wanted: str | None, usual: tuple[str, ...]) -> str | None:
    if wanted is not None and wanted not in table.columns:
        msg = f"{where(spec)}: has no column '{wanted}'. It has: {', '.join(table.columns[:20])}."
        raise LayerReadError(msg)
    if wanted is not None:
        return wanted
    return next((str(column) for column in table.columns if str(column).lower() in usual), None)


def _numbers(column: "pd.Series[Any]", spec: LayerSpec, name: str) -> Any:
    numbers = pd.to_numeric(column.str.strip(), errors="coerce")
    bad = column[numbers.isna() & column.notna() & (column.str.strip() != "")]
    if len(bad):
        msg = f"{where(spec)}: column '{name}' holds '{bad.iloc[0]}' in row {bad.index[0] + 2}, not a number. Mend it."
        raise LayerReadError(msg)
    return numbers.to_numpy(float)


def _from_wkt(texts: "pd.Series[Any]", spec: LayerSpec) -> Any:
    geometries = shapely.from_wkt(texts.to_numpy(object), on_invalid="ignore")
    bad = texts[shapely.is_missing(geometries) & texts.notna().to_numpy() & (texts.str.strip() != "").to_numpy()]
    if len(bad):
        msg = f"{where(spec)}: row {bad.index[0] + 1} is not WKT: '{str(bad.iloc[0])[:60]}'. Mend or remove it."
        raise LayerReadError(msg)
    return geometries


def _read_wkt(spec: LayerSpec) -> gpd.GeoDataFrame:
    """One geometry per line; a name may stand before it, parted by a tab or a semicolon."""
    lines = _text(spec.file).splitlines()
    rows = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    parted = [row.replace("\t", ";").rpartition(";") for row in rows]
    names = [name.strip() or None for name, _, _ in parted]
    geometries = _from_wkt(pd.Series([shape for _, _, shape in parted], dtype=object), spec)
    return gpd.GeoDataFrame({"name": names}, geometry=geometries)


_READ = {"vector": _read_vector, "geoparquet": _read_geoparquet, "csv": _read_csv, "wkt": _read_wkt}
