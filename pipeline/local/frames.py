"""Frames of any kind as Arrow columns, one at a time and only those that are asked for, and results of the same kind.

A kind is told by the name of its module: no library is imported that the caller has not imported already.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from foresail.pipeline.errors import InputError

PLACE = ("lon", "lat")
KINDS = "pandas, GeoPandas, pyarrow, polars or Spark"
WGS84 = 4326


class Frame(Protocol):
    """A table in memory, whatever library it is of."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        ...

    @property
    def rows(self) -> int:
        """How many rows it has."""
        ...

    def column(self, name: str) -> pa.Array | pa.ChunkedArray:
        """The values of one column."""
        ...

    def like(self, table: pa.Table) -> Any:
        """`table` as a frame of this kind."""
        ...

    def with_columns(self, added: dict[str, pa.Array]) -> Any:
        """The frame itself with further columns."""
        ...


def is_spark(frame: Any) -> bool:
    """Whether it is a DataFrame of Spark, classic or connected."""
    return _module(frame) == "pyspark"


def open_frame(frame: Any) -> Frame:
    """The frame behind one face; an error for what is no frame."""
    openers: dict[str, Callable[[Any], Frame]] = {
        "pandas": PandasFrame,
        "geopandas": GeoFrame,
        "pyarrow": _arrow,
        "polars": PolarsFrame,
    }
    opener = openers.get(_module(frame))
    if opener is None or not hasattr(type(frame), "columns"):
        msg = f"events: a {type(frame).__name__} is no table. Give a frame of {KINDS}."
        raise InputError(msg)
    return opener(frame)


def _module(frame: Any) -> str:
    """The library that the frame is of; of a subclass that of the nearest class that is known."""
    names = (kind.__module__.partition(".")[0] for kind in type(frame).__mro__)
    return next((name for name in names if name in ("pandas", "geopandas", "pyarrow", "polars", "pyspark")), "")


def _arrow(frame: Any) -> "ArrowFrame":
    if isinstance(frame, pa.RecordBatch):
        return ArrowFrame(pa.Table.from_batches([frame]))
    return ArrowFrame(frame)


@dataclass(frozen=True, slots=True, eq=False)
class ArrowFrame:
    """A table of pyarrow."""

    table: Any

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self.table.schema.names)

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return int(self.table.num_rows)

    def column(self, name: str) -> pa.Array | pa.ChunkedArray:
        """The values of one column."""
        return self.table.column(name)

    def like(self, table: pa.Table) -> Any:
        """`table` itself."""
        return table

    def with_columns(self, added: dict[str, pa.Array]) -> Any:
        """The table with further columns."""
        table = self.table
        for name, values in added.items():
            table = table.append_column(name, values)
        return table


@dataclass(frozen=True, slots=True, eq=False)
class PandasFrame:
    """A frame of pandas; levels of its index that have a name are columns too."""

    frame: Any

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns, then those of its index."""
        levels = [name for name in self.frame.index.names if name is not None and name not in self.frame.columns]
        return tuple(map(str, [*self.frame.columns, *levels]))

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(self.frame)

    def column(self, name: str) -> pa.Array | pa.ChunkedArray:
        """The values of one column; NaN, None and pd.NA are all null, or NaN."""
        values = self._values(name)
        plain = getattr(values, "to_numpy", None)
        if plain is not None and isinstance(values.dtype, np.dtype) and values.dtype.kind in "fiu":
            return pa.array(values.to_numpy())  # NaN is unknown to conditions as it is: no need to look for it
        try:
            return pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise InputError(_mixed(name, values)) from None

    def _values(self, name: str) -> Any:
        held = self.frame[name] if name in self.frame.columns else self.frame.index.get_level_values(name)
        if getattr(held, "ndim", 1) != 1:
            msg = f"events: there are several columns '{name}'. Drop or rename all but one."
            raise InputError(msg)
        return held

    def like(self, table: pa.Table) -> Any:
        """`table` as a frame of pandas; whole numbers that may be absent are nullable ones, not fractions."""
        plain = plain_table(table)
        frame = plain.to_pandas()
        for field in plain.schema:
            if pa.types.is_integer(field.type) and plain.column(field.name).null_count:
                frame[field.name] = plain.column(field.name).to_pandas(types_mapper=_nullable)
        return frame

    def with_columns(self, added: dict[str, pa.Array]) -> Any:
        """The frame with further columns."""
        import pandas as pd  # noqa: PLC0415 - the caller has it

        own = {name: pd.Series(values.to_pandas().to_numpy(), index=self.frame.index) for name, values in added.items()}
        return self.frame.assign(**own)


def _nullable(kind: pa.DataType) -> Any:
    import pandas as pd  # noqa: PLC0415 - the caller has it

    return {pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype()}.get(kind)


def _mixed(name: str, values: Any) -> str:
    """What is wrong with a column that is of no one type: the first two types that do not go together."""
    seen: dict[str, int] = {}
    for row, value in enumerate(values):
        if value is not None and value == value:  # noqa: PLR0124 - NaN is not itself
            seen.setdefault(type(value).__name__, row)
    kinds = ", ".join(f"{kind} (first in row {row})" for kind, row in list(seen.items())[:3])
    return (
        f"events: column '{name}' mixes types: {kinds}. Make it one type first, "
        f"as in events['{name}'] = events['{name}'].astype(str), or pd.to_numeric(events['{name}'])."
    )


class GeoFrame(PandasFrame):
    """A frame of GeoPandas: its points are places; results have a geometry too."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns, with `lon` and `lat` in place of the geometry where they are not there."""
        own = tuple(name for name in super().columns if name != self._geometry)
        places = () if self._geometry is None else tuple(axis for axis in PLACE if axis not in own)
        return (*own, *places)

    @property
    def _geometry(self) -> str | None:
        return getattr(self.frame, "_geometry_column_name", None)

    def column(self, name: str) -> pa.Array | pa.ChunkedArray:
        """The values of one column; longitude and latitude are those of the points."""
        if name in PLACE and name not in self.frame.columns:
            points = self._points()
            return pa.array(np.asarray(points.x if name == "lon" else points.y, dtype=np.float64))
        return super().column(name)

    def _points(self) -> Any:
        shapes = self.frame.geometry
        kinds = set(shapes.geom_type.dropna())
        if kinds - {"Point"}:
            msg = f"events: the geometry holds {', '.join(sorted(kinds))}. Events are at points: take .centroid."
            raise InputError(msg)
        if shapes.crs is None:
            msg = "events: the geometry has no reference system. Say which it is: events.set_crs(4326)."
            raise InputError(msg)
        return shapes.to_crs(WGS84)

    def like(self, table: pa.Table) -> Any:
        """`table` as a GeoDataFrame, its points in the reference system of this one."""
        import geopandas as gpd  # noqa: PLC0415 - the caller has it

        frame = super().like(table)
        if self._geometry is None or not set(PLACE) <= set(frame.columns):
            return frame
        points = gpd.points_from_xy(frame["lon"], frame["lat"], crs=WGS84)
        return gpd.GeoDataFrame(frame, geometry=points).to_crs(self.frame.crs)


@dataclass(frozen=True, slots=True, eq=False)
class PolarsFrame:
    """A frame of polars, eager or lazy."""

    frame: Any

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self.frame.collect_schema().names())

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return int(self._eager(self.frame.select(self.columns[:1])).height)

    def column(self, name: str) -> pa.Array | pa.ChunkedArray:
        """The values of one column."""
        return self._eager(self.frame.select(name)).to_arrow().column(0)

    def _eager(self, frame: Any) -> Any:
        return frame.collect() if hasattr(frame, "collect") else frame

    def like(self, table: pa.Table) -> Any:
        """`table` as a frame of polars, lazy where the events were."""
        import polars as pl  # noqa: PLC0415 - the caller has it

        frame = pl.from_arrow(_without_maps(plain_table(table)))
        return frame.lazy() if hasattr(self.frame, "collect") else frame  # type: ignore[union-attr]

    def with_columns(self, added: dict[str, pa.Array]) -> Any:
        """The frame with further columns."""
        import polars as pl  # noqa: PLC0415 - the caller has it

        return self.frame.with_columns([pl.Series(name, pl.from_arrow(values)) for name, values in added.items()])


def _without_maps(table: pa.Table) -> pa.Table:
    """The table with maps as lists of pairs: polars has no maps."""
    for place, field in enumerate(table.schema):
        if pa.types.is_map(field.type):
            pairs = pa.list_(pa.struct([("key", field.type.key_type), ("value", field.type.item_type)]))
            column = table.column(place)
            if column.null_count == len(column):
                table = table.set_column(place, field.name, pa.nulls(len(column), pairs))
            else:
                table = table.set_column(place, field.name, column.cast(pairs))
    return table


def plain_table(table: pa.Table) -> pa.Table:
    """The table with dictionaries as the texts that they stand for."""
    fields = [_plain(field) for field in table.schema]
    return table.cast(pa.schema(fields)) if fields != list(table.schema) else table


def _plain(field: pa.Field) -> pa.Field:
    return field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field


def whole(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    if not isinstance(array, pa.ChunkedArray):
        return array
    held: pa.Array | Sequence[pa.Array] = array.combine_chunks()
    return pa.concat_arrays(held.chunks) if isinstance(held, pa.ChunkedArray) else held
