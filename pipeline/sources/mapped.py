"""Any table a user has: a YAML file says which column is what, in which unit, zone and format. See docs/feeds.md."""

from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from patterns.bounded_yaml import YamlError, read_yaml_file
from pipeline.errors import InputError
from pipeline.schemas import POSITION_COLUMNS
from pipeline.sources.feed import Carrier, Cells, Feed
from pipeline.sources.fields import (
    EPOCH_MICROSECONDS,
    UNIT_FACTORS,
    angle_deg,
    epoch_unit,
    number,
    text_of,
    time_from_anything,
    time_from_epoch,
    time_from_format,
    truth,
    whole,
)

FILE = "$file"
"""In place of a column: the name of the file, without folder and endings, for recorders that write a file a trip."""
ANGLES = ("course_deg", "heading_deg")
MAPPABLE = [name for name in POSITION_COLUMNS if name not in ("source", "offset")]


class ColumnMapping(BaseModel):
    """Where one canonical column comes from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    column: str = Field(description="The name of the column in the file.")
    unit: str | None = Field(None, description="What it counts in: kn, m/s, km/h, mph; deg, rad; m, ft; s, ms, us, ns.")
    format: str | None = Field(None, description="A datetime pattern, e.g. dd/MM/yyyy HH:mm:ss; ISO 8601 if unset.")
    zone: str = Field("UTC", description="The zone of times that name none, e.g. Europe/London.")
    decimal: Literal[".", ","] = Field(".", description="The decimal sign of numbers.")
    codes: dict[str, str | int | float | bool] | None = Field(None, description="Texts of the file to values.")


class Mapping(BaseModel):
    """A whole mapping file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = "mapped"
    domain: Literal["maritime", "fleet"] = "maritime"
    format: Literal["csv", "json", "parquet"] = "csv"
    delimiter: str = ","
    header: str | None = Field(None, description="The header line, for files that have none.")
    trailing_delimiter: bool = Field(False, description="Whether lines end with a delimiter that the header lacks.")
    columns: dict[str, ColumnMapping]
    constants: dict[str, str | int | float | bool] = Field(default_factory=dict)
    keep: list[str] | Literal["all"] = Field(default_factory=list, description="Further columns that pass through.")

    @field_validator("columns", mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        """`lon: Longitude` is short for `lon: {column: Longitude}`."""
        if not isinstance(value, dict):
            return value
        return {name: {"column": entry} if isinstance(entry, str) else entry for name, entry in value.items()}

    @model_validator(mode="after")
    def _known(self) -> "Mapping":
        for name in (*self.columns, *self.constants):
            if name not in MAPPABLE:
                near = get_close_matches(name, MAPPABLE, n=1)
                hint = f"Did you mean '{near[0]}'? " if near else ""
                msg = f"unknown column '{name}'. {hint}Canonical columns: {', '.join(MAPPABLE)}"
                raise ValueError(msg)
        for name, entry in self.columns.items():
            units = _units_of(name)
            if entry.unit is not None and entry.unit not in units:
                msg = f"{name}: unknown unit '{entry.unit}'. Units: {', '.join(units) or 'none'}"
                raise ValueError(msg)
        if self.format == "parquet" and any(entry.column == FILE for entry in self.columns.values()):
            msg = f"{FILE} works with csv and json. Add a column to the table"
            raise ValueError(msg)
        if "time" not in self.columns or not {"track", "mmsi"} & set(self.columns):
            msg = "columns must name a time, and a track or an mmsi"
            raise ValueError(msg)
        return self


def read_mapping(file: Path) -> Feed:
    """The feed that a mapping file describes."""
    try:
        mapping = Mapping.model_validate(read_yaml_file(file))
    except OSError as error:
        msg = f"{file}: cannot be read ({error.strerror}). Name a mapping file that exists."
        raise InputError(msg) from None
    except YamlError as error:
        raise InputError(str(error)) from None
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        text = fault["msg"].removeprefix("Value error, ")
        msg = f"{file}: {where + ': ' if where else ''}{text}. See docs/feeds.md for what a mapping holds."
        raise InputError(msg) from None
    return feed_of(mapping)


def feed_of(mapping: Mapping) -> Feed:
    """`mapping` as an adapter like any other."""
    carrier: Carrier = mapping.format
    columns = [entry.column for entry in mapping.columns.values() if entry.column != FILE]
    names = dict.fromkeys(columns + _kept(mapping))
    return Feed(
        name=mapping.name,
        says="a table with a mapping of its columns",
        domain=mapping.domain,
        carrier=carrier,
        columns=lambda cells: _columns(mapping, cells),
        required=tuple((entry.column,) for entry in mapping.columns.values() if entry.column != FILE),
        header=mapping.header or "",
        headless=mapping.header is not None,
        delimiter=mapping.delimiter,
        trailing_delimiter=mapping.trailing_delimiter,
        json_schema=_json_schema(names),
        keep_rest=mapping.keep == "all",
    )


def _kept(mapping: Mapping) -> list[str]:
    return [] if mapping.keep == "all" else list(mapping.keep)


def _json_schema(names: dict[str, None]) -> str:
    """Text fields for `names`; `a.b` is the field b of an object a."""
    objects: dict[str, list[str]] = {}
    for name in names:
        outer, _, inner = name.partition(".")
        objects.setdefault(outer, []).extend([inner] if inner else [])
    fields = (
        f"`{outer}` struct<{', '.join(f'`{inner}`: string' for inner in inners)}>" if inners else f"`{outer}` string"
        for outer, inners in objects.items()
    )
    return ", ".join(fields)


def _columns(mapping: Mapping, cells: Cells) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for name, entry in mapping.columns.items():
        columns[name] = _value(name, entry, _file_name() if entry.column == FILE else cells(entry.column))
        if name == "time" and entry.unit:
            columns["repair_time_unit"] = epoch_unit(number(cells(entry.column))) != entry.unit
    columns |= {name: F.lit(value) for name, value in mapping.constants.items()}
    columns |= {name: text_of(cells(name)) for name in _kept(mapping)}
    if "track" not in columns:
        columns["track"] = columns["mmsi"].cast("string")
    return columns


def _file_name() -> Column:
    return F.regexp_extract(F.col("source"), r"([^/]+?)(\.[^/]*)?$", 1)


def _value(name: str, entry: ColumnMapping, text: Column) -> Column:
    if entry.codes:
        pairs = [F.lit(part) for key, value in entry.codes.items() for part in (key.lower(), str(value))]
        text = F.create_map(*pairs)[F.lower(F.trim(text.cast("string")))]
    if entry.decimal == ",":
        text = F.replace(text, F.lit(","), F.lit("."))
    if name == "time":
        return _time(entry, text)
    kind = POSITION_COLUMNS[name]
    if name in ANGLES:
        return angle_deg(number(text), entry.unit or "deg")
    if isinstance(kind, T.DoubleType):
        return number(text) * UNIT_FACTORS.get(name, {}).get(entry.unit or "", 1.0)
    if isinstance(kind, (T.IntegerType, T.LongType)):
        return whole(text)
    return truth(text) if isinstance(kind, T.BooleanType) else text_of(text)


def _time(entry: ColumnMapping, text: Column) -> Column:
    if entry.format:
        return time_from_format(text, entry.format, entry.zone)
    return time_from_epoch(number(text)) if entry.unit else time_from_anything(text, entry.zone)


def _units_of(name: str) -> list[str]:
    if name == "time":
        return list(EPOCH_MICROSECONDS)
    return list(UNIT_FACTORS.get("angle" if name in ANGLES else name, {}))
