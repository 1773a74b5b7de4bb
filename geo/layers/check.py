"""Features made fit for use: in WGS84 degrees, valid, named. What was mended is counted, what cannot be is refused."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyproj
import shapely
from numpy.typing import NDArray

from foresail.geo.errors import GeometryError, LayerReadError, ReferenceSystemError
from foresail.geo.layers.antimeridian import cut_at_antimeridian
from foresail.geo.layers.formats import DEGREES, READERS, where
from foresail.geo.layers.spec import LayerSpec

NAME_COLUMNS = ("name", "label", "title", "id")
VALID_FROM, VALID_TO = "valid_from_us", "valid_to_us"
SHOWN = 3
FEW = 0.01
"""Up to this share of point features may lie off the earth; they are left out and counted."""


@dataclass(frozen=True, slots=True)
class LayerReport:
    """What a run says about a layer that it used."""

    features: int
    empty: int
    off_earth: int
    repaired: int
    cut_at_antimeridian: int
    vertices: int
    geometry_types: tuple[str, ...]
    reference_system: str
    remarks: tuple[str, ...]


def check_features(raw: gpd.GeoDataFrame, spec: LayerSpec) -> tuple[gpd.GeoDataFrame, LayerReport]:
    """The usable features (name, radius_m, attributes, geometry) in file order, and the report of what was done."""
    system = _reference_system(raw, spec)
    present = ~(raw.geometry.isna() | raw.geometry.is_empty).to_numpy()
    features = raw[present].reset_index(drop=True)
    if features.empty:
        msg = f"{where(spec)}: every one of its {len(raw)} features has an empty geometry. Name a file with shapes."
        raise LayerReadError(msg)
    features, names, remarks = _on_earth(features, _names(features, spec), system, spec)
    shapes = _in_degrees(shapely.force_2d(features.geometry.to_numpy()), system, names, spec)
    shapes, cut = cut_at_antimeridian(shapes)
    shapes, repairs = _valid(shapes, names, spec)
    table = _table(features, names, shapes, spec)
    report = LayerReport(
        features=len(table),
        empty=int((~present).sum()),
        off_earth=len(remarks),
        repaired=len(repairs),
        cut_at_antimeridian=int(cut.sum()),
        vertices=int(shapely.get_num_coordinates(shapes).sum()),
        geometry_types=tuple(sorted(set(table.geometry.geom_type))),
        reference_system=system.to_string(),
        remarks=(*remarks[:SHOWN], *repairs[:SHOWN]),
    )
    return table, report


def _reference_system(raw: gpd.GeoDataFrame, spec: LayerSpec) -> pyproj.CRS:
    own = raw.crs
    if spec.crs is None and own is None:
        msg = f"{where(spec)}: does not say its coordinate reference system. Add `crs: EPSG:4326` (degrees) or its own."
        raise ReferenceSystemError(msg)
    if spec.crs is None:
        return pyproj.CRS(own)
    try:
        said = pyproj.CRS(spec.crs)
    except pyproj.exceptions.CRSError:
        msg = f"{where(spec)}: unknown crs '{spec.crs}'. Write an EPSG code such as EPSG:4326 or EPSG:3035."
        raise ReferenceSystemError(msg) from None
    by_definition = ".geojson" in spec.file.suffixes or ".json" in spec.file.suffixes
    if own is not None and not by_definition and not said.equals(own, ignore_axis_order=True):
        msg = f"{where(spec)}: the file says {own.to_string()}, the layers file says {spec.crs}. Remove `crs:`."
        raise ReferenceSystemError(msg)
    return said


def _names(features: gpd.GeoDataFrame, spec: LayerSpec) -> NDArray[Any]:
    column = spec.name_column
    if column is not None:
        _check_column(features, column, spec)
    else:
        column = next((c for wanted in NAME_COLUMNS for c in features.columns if str(c).lower() == wanted), None)
    given = features[column] if column is not None else pd.Series([None] * len(features))
    texts = ["" if pd.isna(name) else str(name).strip() for name in given]
    return np.array([text or f"{spec.kind} {row}" for row, text in enumerate(texts, 1)], dtype=object)


def _check_column(features: gpd.GeoDataFrame, column: str, spec: LayerSpec) -> None:
    known = [str(c) for c in features.columns if c != features.geometry.name]
    if column not in known:
        near = get_close_matches(column, known, n=1, cutoff=0.5)
        hint = f"Did you mean '{near[0]}'? " if near else ""
        msg = f"{where(spec)}: has no column '{column}'. {hint}Columns: {', '.join(known[:20])}."
        raise LayerReadError(msg)


def _on_earth(
    features: gpd.GeoDataFrame, names: NDArray[Any], system: pyproj.CRS, spec: LayerSpec
) -> tuple[gpd.GeoDataFrame, NDArray[Any], list[str]]:
    """Without the few points that are not on earth, as real port lists have them; other faults are refused later."""
    points = (features.geometry.geom_type == "Point").to_numpy()
    if spec.invalid == "refuse" or not system.is_geographic or not points.all():
        return features, names, []
    wrong = (features.geometry.y.abs() > 90.0) | (features.geometry.x.abs() > 540.0)
    if wrong.mean() > FEW:
        return features, names, []
    left_out = [
        f"left out {name}: lon {point.x:g}, lat {point.y:g} is not on earth"
        for name, point in zip(names[wrong], features.geometry[wrong], strict=True)
    ]
    return features[~wrong].reset_index(drop=True), names[~wrong], left_out


def _in_degrees(shapes: NDArray[Any], system: pyproj.CRS, names: NDArray[Any], spec: LayerSpec) -> NDArray[Any]:
    _refuse(
        shapes, names, lambda xy: ~np.isfinite(xy).all(axis=1), spec, "a coordinate that is not a number", "Mend it"
    )
    xy = shapely.get_coordinates(shapes)
    looks_like_degrees = bool((np.abs(xy[:, 0]) <= 360.0).all() and (np.abs(xy[:, 1]) <= 90.0).all())
    if system.is_projected and looks_like_degrees and len(xy) > 1:
        msg = (
            f"{where(spec)}: its crs {system.to_string()} is in metres, but every coordinate is a degree "
            f"(such as {xy[0, 0]:g}, {xy[0, 1]:g}). Write `crs: EPSG:4326`, or mend the file."
        )
        raise ReferenceSystemError(msg)
    if system.is_geographic:
        _check_degrees(shapes, xy, names, spec)
    series = gpd.GeoSeries(shapes, crs=system).to_crs(DEGREES)
    moved: NDArray[Any] = series.to_numpy()
    _refuse(
        moved,
        names,
        lambda c: ~np.isfinite(c).all(axis=1),
        spec,
        f"coordinates outside {system.to_string()}",
        "Mend its crs",
    )
    return moved  # fmt: skip


def _check_degrees(shapes: NDArray[Any], xy: NDArray[np.float64], names: NDArray[Any], spec: LayerSpec) -> None:
    too_far = (np.abs(xy[:, 1]) > 90.0) | (np.abs(xy[:, 0]) > 540.0)
    if not too_far.any():
        return
    lon, lat = xy[too_far][0]
    if np.abs(xy[:, 1]).max() <= 360.0 and np.abs(xy[:, 0]).max() <= 90.0:
        remedy = "Longitude and latitude look swapped: the file must have longitude first"
        remedy += " (for CSV set lon_column and lat_column)" if READERS.get(spec.file.suffix) == "csv" else ""
    elif np.abs(xy).max() > 1000.0:
        remedy = "The coordinates look like metres: say their `crs:`, e.g. EPSG:3857"
    else:
        remedy = "Mend or remove the feature"
    _refuse(
        shapes, names, lambda c: (np.abs(c[:, 1]) > 90.0) | (np.abs(c[:, 0]) > 540.0), spec,
        f"the position lon {lon:g}, lat {lat:g}, which is not on earth", remedy,
    )  # fmt: skip


def _refuse(
    shapes: NDArray[Any], names: NDArray[Any], bad: Callable[[Any], Any], spec: LayerSpec, has: str, remedy: str
) -> None:
    xy, owner = shapely.get_coordinates(shapes, return_index=True)
    wrong = np.unique(owner[bad(xy)])
    if len(wrong):
        others = f" (and {len(wrong) - 1} more features)" if len(wrong) > 1 else ""
        msg = f"{where(spec)}: feature '{names[wrong[0]]}'{others} has {has}. {remedy}."
        raise GeometryError(msg)


def _valid(shapes: NDArray[Any], names: NDArray[Any], spec: LayerSpec) -> tuple[NDArray[Any], list[str]]:
    wrong = np.flatnonzero(~shapely.is_valid(shapes))
    if not len(wrong):
        return shapes, []
    remarks = [f"{names[row]}: {shapely.is_valid_reason(shapes[row])}" for row in wrong]
    if spec.invalid == "refuse":
        msg = (
            f"{where(spec)}: {len(wrong)} features are invalid: {'; '.join(remarks[:SHOWN])}. "
            "Mend them, or write `invalid: repair`."
        )
        raise GeometryError(msg)
    mended = shapes.copy()
    for row in wrong:
        mended[row] = _repaired(shapes[row], names[row], spec)
    return mended, [f"repaired {remark}" for remark in remarks]


def _repaired(shape: Any, name: str, spec: LayerSpec) -> Any:
    """What `make_valid` keeps of the same dimension: a crossed ring becomes its parts, a spike vanishes."""
    dimension = shapely.get_dimensions(shape)
    parts = shapely.get_parts(shapely.make_valid(shape))
    whole = shapely.union_all([part for part in parts if shapely.get_dimensions(part) == dimension])
    if whole.is_empty or not whole.is_valid:
        msg = f"{where(spec)}: feature '{name}' is invalid and nothing is left of it when repaired. Mend or remove it."
        raise GeometryError(msg)
    return whole


def _table(features: gpd.GeoDataFrame, names: NDArray[Any], shapes: NDArray[Any], spec: LayerSpec) -> gpd.GeoDataFrame:
    columns: dict[str, Any] = {
        "feature": np.arange(len(names)),
        "name": names.astype(str),
        "radius_m": _radius(features, names, spec),
    }
    for attribute in spec.attributes:
        _check_column(features, attribute, spec)
        columns[attribute] = features[attribute].to_numpy()
    if spec.valid_from is not None and spec.valid_to is not None:
        begin, end = (_times(features, column, names, spec) for column in (spec.valid_from, spec.valid_to))
        if (begin >= end).any():
            msg = f"{where(spec)}: feature '{names[np.argmax(begin >= end)]}' ends before it begins. Mend its times."
            raise GeometryError(msg)
        columns |= {VALID_FROM: begin, VALID_TO: end}
    return gpd.GeoDataFrame(columns, geometry=shapes, crs=DEGREES)


def _times(features: gpd.GeoDataFrame, column: str, names: NDArray[Any], spec: LayerSpec) -> NDArray[np.int64]:
    """Microseconds since 1970; a time without a zone is UTC."""
    _check_column(features, column, spec)
    times = pd.to_datetime(features[column], utc=True, errors="coerce", format="ISO8601")
    if times.isna().any():
        row = int(np.argmax(times.isna()))
        msg = f"{where(spec)}: feature '{names[row]}' has the {column} {features[column].iloc[row]!r}. Write ISO 8601."
        raise GeometryError(msg)
    return np.asarray(times.dt.tz_localize(None).to_numpy("datetime64[us]").astype(np.int64))


def _radius(features: gpd.GeoDataFrame, names: NDArray[Any], spec: LayerSpec) -> NDArray[np.float64]:
    if spec.radius_column is None:
        return np.full(len(features), spec.radius_m or 0.0)
    _check_column(features, spec.radius_column, spec)
    radius: NDArray[np.float64] = pd.to_numeric(features[spec.radius_column], errors="coerce").to_numpy(float)
    wrong = np.flatnonzero(~(radius >= 0.0) | ~np.isfinite(radius))
    if len(wrong):
        given = features[spec.radius_column].iloc[wrong[0]]
        msg = f"{where(spec)}: feature '{names[wrong[0]]}' has the radius {given!r}. Write metres, 0 or more."
        raise GeometryError(msg)
    return radius
