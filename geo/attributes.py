"""The columns that layers add to events: their names and types, in one place for every strategy."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from foresail.geo.errors import AttributeClashError
from foresail.geo.layers import Layer, LayerSpec

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

POSITION = ("lon", "lat")
ON_LAND = "on_land"


def attribute_names(spec: LayerSpec) -> tuple[str, ...]:
    """The columns that a layer gives, in their order."""
    distance = (f"{spec.kind}_distance_m",) if spec.measures_distance else ()
    own = (f"{spec.kind}_{name}" for name in spec.attributes)
    return (f"in_{spec.kind}", f"{spec.kind}_name", *distance, *own, *((ON_LAND,) if spec.has_land else ()))


def attribute_schema(layers: Iterable[Layer]) -> "StructType":
    """The types of all columns that the layers give."""
    from pyspark.sql.types import BooleanType, DoubleType, StringType, StructField, StructType  # noqa: PLC0415 - not where there is no Spark

    fields: list[StructField] = []
    for layer in layers:
        features = layer.index.table.schema
        kinds: list[DataType] = [BooleanType(), StringType(), *([DoubleType()] if layer.spec.measures_distance else [])]
        kinds += [_spark_type(features.field(name).type) for name in layer.spec.attributes]
        kinds += [BooleanType()] if layer.spec.has_land else []
        fields += [StructField(n, k) for n, k in zip(attribute_names(layer.spec), kinds, strict=True)]
    return StructType(fields)


def _spark_type(arrow: pa.DataType) -> "DataType":
    from pyspark.sql.pandas.types import from_arrow_type  # noqa: PLC0415
    from pyspark.sql.types import StringType  # noqa: PLC0415

    return StringType() if pa.types.is_large_string(arrow) else from_arrow_type(arrow)


def check_position(columns: Sequence[str]) -> None:
    """Refuse events without a position."""
    missing = [name for name in POSITION if name not in columns]
    if missing:
        msg = f"events: no column '{missing[0]}'. Enrichment needs lon and lat; found {', '.join(columns[:12])}."
        raise AttributeClashError(msg)


def check_columns(columns: Sequence[str], specs: Sequence[LayerSpec]) -> None:
    """Refuse events without a position, or with a column that a layer would overwrite."""
    check_position(columns)
    for spec in specs:
        if spec.holds_by_time and "time" not in columns:
            msg = f"events: no column 'time', which layer '{spec.name}' needs: its features hold for a while each."
            raise AttributeClashError(msg)
        clash = [name for name in attribute_names(spec) if name in columns]
        if clash:
            msg = f"events: already have '{clash[0]}', which layer '{spec.name}' would add. Drop it or change the kind."
            raise AttributeClashError(msg)
