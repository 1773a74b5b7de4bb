"""Any table a user has: a YAML file says which column is what, in which unit, zone and format. See docs/feeds.md."""

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator
from pyspark.sql import types as T  # noqa: N812

from foresail.bounded_yaml import YamlError, read_yaml_file
from foresail.pipeline.errors import InputError
from foresail.pipeline.feeds.array_fields import plain_form
from foresail.pipeline.schemas import POSITION_COLUMNS
from foresail.pipeline.sources import fields
from foresail.pipeline.sources.feed import Carrier, Feed
from foresail.pipeline.sources.fields import EPOCH_MICROSECONDS, UNIT_FACTORS

FILE = "$file"
"""In place of a column: the name of the file, without folder and endings, for recorders that write a file a trip."""
ANGLES = ("course_deg", "heading_deg")
MAPPABLE = [name for name in POSITION_COLUMNS if name not in ("source", "offset")]
NUMBERS = [
    name
    for name, kind in POSITION_COLUMNS.items()
    if isinstance(kind, T.DoubleType | T.IntegerType | T.LongType) and name in MAPPABLE
]
NOT_KEPT = ("source", "offset", "line", "raw", "fault", "station", "repairs", "reason", "age")
"""Names that a message uses for what it knows of itself."""


def _distinguished(value: Any) -> Any:
    """`NULL` and `off` without quotes are no texts in YAML."""
    if value is None or isinstance(value, bool):
        msg = "write it in quotes: YAML reads it as no text"
        raise ValueError(msg)
    return value


Sentinel = Annotated[str | int | float, BeforeValidator(_distinguished)]
Decimal = Literal[".", ","]
KeptType = Literal["string", "double", "long", "boolean", "timestamp"]


class Spelling(BaseModel):
    """How a column writes its values: the part that canonical and kept columns have in common."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decimal: Decimal | None = Field(None, description="The decimal sign of numbers; the file's own if unset.")
    scale: float | None = Field(None, description="What numbers are multiplied with, before the unit counts.")
    offset: float | None = Field(None, description="What is added to them then.")
    missing: tuple[Sentinel, ...] = Field((), description="Texts and numbers that mean: no value.")


class KeptColumn(Spelling):
    """A further column that passes through, under its own or another name."""

    column: str | None = Field(None, description="The name of the column in the file; the kept one's if unset.")
    type: KeptType | None = Field(None, description="What it becomes; text (of Parquet: its own type) if unset.")


class ColumnMapping(Spelling):
    """Where one canonical column comes from."""

    column: str | tuple[str, ...] = Field(description="Its name in the file; for a time also [date, time of day].")
    unit: str | None = Field(None, description="What it counts in: kn, m/s, km/h, mph; deg, rad; m, ft; s, ms, us, ns.")
    format: str | None = Field(None, description="A datetime pattern, e.g. dd/MM/yyyy HH:mm:ss; ISO 8601 if unset.")
    zone: str = Field("UTC", description="The zone of times that name none, e.g. Europe/London.")
    codes: dict[str, str | int | float | bool] | None = Field(None, description="Texts of the file to values.")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the file that it is made from."""
        return (self.column,) if isinstance(self.column, str) else self.column


class Mapping(BaseModel):
    """A whole mapping file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = "mapped"
    domain: Literal["maritime", "fleet"] = "maritime"
    format: Literal["csv", "json", "parquet"] = "csv"
    delimiter: str = ","
    decimal: Decimal = Field(".", description="The decimal sign of numbers.")
    missing: tuple[Sentinel, ...] = Field((), description="Texts and numbers that mean: no value, in any column.")
    header: str | None = Field(None, description="The header line, for files that have none.")
    trailing_delimiter: bool = Field(False, description="Whether lines end with a delimiter that the header lacks.")
    columns: dict[str, ColumnMapping]
    constants: dict[str, str | int | float | bool] = Field(default_factory=dict)
    keep: dict[str, KeptColumn] | Literal["all"] = Field(
        default_factory=dict, description="Further columns that pass through: a list, names with types, or all."
    )

    @field_validator("columns", mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        """`lon: Longitude` is short for `lon: {column: Longitude}`."""
        if not isinstance(value, dict):
            return value
        return {name: {"column": entry} if isinstance(entry, str | list) else entry for name, entry in value.items()}

    @field_validator("keep", mode="before")
    @classmethod
    def _short_keep(cls, value: Any) -> Any:
        """`keep: [a]` is short for `keep: {a: {}}`, and `a: double` for `a: {type: double}`."""
        if isinstance(value, list):
            return {str(name): {} for name in value}
        if not isinstance(value, dict):
            return value
        return {name: {"type": entry} if isinstance(entry, str) else entry for name, entry in value.items()}

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
            _check_spelling(name, entry)
        for name in set(NOT_KEPT) & set(() if self.keep == "all" else self.keep):
            msg = f"keep: '{name}' is a name of the message itself. Keep it as `feed_{name}: {{column: {name}}}`"
            raise ValueError(msg)
        if self.format == "parquet" and any(FILE in entry.names for entry in self.columns.values()):
            msg = f"{FILE} works with csv and json. Add a column to the table"
            raise ValueError(msg)
        if "time" not in self.columns or not {"track", "mmsi"} & set(self.columns):
            msg = "columns must name a time, and a track or an mmsi"
            raise ValueError(msg)
        return self


def _check_spelling(name: str, entry: ColumnMapping) -> None:
    if len(entry.names) > 1 and name != "time":
        msg = f"{name}: comes from one column; only a time may be in two"
        raise ValueError(msg)
    scaled = entry.scale is not None or entry.offset is not None
    if scaled and not (name in NUMBERS or (name == "time" and entry.unit)):
        msg = f"{name}: scale and offset work with numbers" + (", with an epoch's `unit`" if name == "time" else "")
        raise ValueError(msg)


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
    columns = [name for entry in mapping.columns.values() for name in entry.names if name != FILE]
    names = dict.fromkeys([*columns, *(kept.column or name for name, kept in _kept(mapping).items())])
    return Feed(
        name=mapping.name,
        says="a table with a mapping of its columns",
        domain=mapping.domain,
        carrier=carrier,
        columns=lambda cells: _columns(mapping, cells, fields),
        arrays=(lambda cells, f: _columns(mapping, cells, f)) if _is_plain(mapping) else None,
        required=tuple((name,) for name in columns),
        header=mapping.header or "",
        headless=mapping.header is not None,
        delimiter=mapping.delimiter,
        trailing_delimiter=mapping.trailing_delimiter,
        json_schema=_json_schema(names),
        keep_rest=mapping.keep == "all",
    )


def _is_plain(mapping: Mapping) -> bool:
    """Whether its columns can be read in whole batches: a CSV whose times have a form of one length."""
    pattern = mapping.columns["time"].format
    return mapping.format == "csv" and (pattern is None or plain_form(pattern) is not None)


def _kept(mapping: Mapping) -> dict[str, KeptColumn]:
    return {} if mapping.keep == "all" else mapping.keep


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


def _columns(mapping: Mapping, cells: Any, f: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name, entry in mapping.columns.items():
        text = f.known_text(_joined(entry, cells, f), (*mapping.missing, *entry.missing))
        columns[name] = _value(name, entry, text, entry.decimal or mapping.decimal, f)
        if name == "time" and entry.unit:
            columns["repair_time_unit"] = f.other_unit(_scaled(f.number(text), entry, f), entry.unit)
    columns |= {name: f.lit(value) for name, value in mapping.constants.items()}
    columns |= {name: _kept_value(mapping, name, kept, cells, f) for name, kept in _kept(mapping).items()}
    if "track" not in columns:
        columns["track"] = f.as_text(columns["mmsi"])
    return columns


def _joined(entry: ColumnMapping, cells: Any, f: Any) -> Any:
    """The text of the entry's column; of two, both with a blank between."""
    parts = [f.file_name(cells) if name == FILE else cells(name) for name in entry.names]
    return parts[0] if len(parts) == 1 else f.joined(parts)


def _scaled(value: Any, entry: Spelling, f: Any) -> Any:
    return f.scaled(value, entry.scale, entry.offset)


def _kept_value(mapping: Mapping, name: str, kept: KeptColumn, cells: Any, f: Any) -> Any:
    text = f.known_text(cells(kept.column or name), (*mapping.missing, *kept.missing))
    if kept.type is None and (kept.scale is not None or kept.offset is not None):
        kept = kept.model_copy(update={"type": "double"})
    plain = f.with_point(text) if (kept.decimal or mapping.decimal) == "," else text
    match kept.type:
        case "double":
            return _scaled(f.number(plain), kept, f)
        case "long":
            scaled = kept.scale is not None or kept.offset is not None
            return f.rounded(_scaled(f.number(plain), kept, f)) if scaled else f.whole(plain)
        case "boolean":
            return f.truth(f.spelled(text))
        case "timestamp":
            return f.kept_time(text)
        case "string":
            return f.text_of(f.spelled(text))
        case None:
            return text if mapping.format == "parquet" else f.text_of(text)


def _value(name: str, entry: ColumnMapping, text: Any, decimal: Decimal, f: Any) -> Any:
    if entry.codes:
        text = f.named_text(text, {key.lower(): str(value) for key, value in entry.codes.items()})
    if name == "time":
        return _time(entry, text, f)
    kind = POSITION_COLUMNS[name]
    if decimal == "," and name in NUMBERS:
        text = f.with_point(text)
    if name in ANGLES:
        return f.angle_deg(_scaled(f.number(text), entry, f), entry.unit or "deg")
    if isinstance(kind, T.DoubleType):
        return _scaled(f.number(text), entry, f) * UNIT_FACTORS.get(name, {}).get(entry.unit or "", 1.0)
    if isinstance(kind, T.IntegerType | T.LongType):
        return f.as_whole(_scaled(f.number(text), entry, f)) if entry.scale or entry.offset else f.whole(text)
    return f.truth(text) if isinstance(kind, T.BooleanType) else f.text_of(text)


def _time(entry: ColumnMapping, text: Any, f: Any) -> Any:
    if entry.format:
        return f.time_from_format(text, entry.format, entry.zone)
    return (
        f.time_from_epoch(_scaled(f.number(text), entry, f)) if entry.unit else f.time_from_anything(text, entry.zone)
    )


def _units_of(name: str) -> list[str]:
    if name == "time":
        return list(EPOCH_MICROSECONDS)
    return list(UNIT_FACTORS.get("angle" if name in ANGLES else name, {}))
