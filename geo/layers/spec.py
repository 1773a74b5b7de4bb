"""What a user declares about layers: one small YAML file, checked whole before any geometry is read."""

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from foresail.bounded_yaml import YamlError, read_yaml_file
from foresail.geo.errors import LayersFileError

COAST = "coast"
"""The kind of layers that have a land side unless they say otherwise."""
Word = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]


class LayerSpec(BaseModel):
    """One layer: where it is, what kind it gives to events, and what its file does not say by itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(description="What the layer is called in summaries and by `for_each`.")
    kind: Word = Field(description="Prefix of the attributes: in_<kind>, <kind>_name, <kind>_distance_m.")
    file: Path = Field(
        description="GeoJSON, GeoPackage, Shapefile, GeoParquet, CSV or WKT; relative to the layers file."
    )
    name_column: str | None = Field(None, description="Column with the features' names.")
    radius_m: float | None = Field(None, ge=0, description="A position this close to a feature is in it.")
    radius_column: str | None = Field(None, description="Column with each feature's own radius in metres.")
    crs: str | None = Field(None, description="Coordinate reference system where the file has none, e.g. EPSG:3035.")
    lon_column: str | None = Field(None, description="CSV: column with the longitude (or x).")
    lat_column: str | None = Field(None, description="CSV: column with the latitude (or y).")
    geometry_column: str | None = Field(None, description="CSV: column with the geometry as WKT.")
    table: str | None = Field(None, description="GeoPackage: table to read when there are several.")
    invalid: Literal["repair", "refuse"] = Field("repair", description="What to do with an invalid geometry.")
    distance: bool = Field(True, description="Whether to measure distances; without them zones are quicker.")
    attributes: tuple[Word, ...] = Field(
        (), description="Columns of the feature to hand to events, as <kind>_<column>."
    )
    land: bool | None = Field(
        None,
        description="Whether land is told from sea: on_land, and distances below 0 on land. For the kind coast, unless "
        "this says false.",
    )
    land_file: Path | None = Field(
        None, description="Polygons of land, for a coast of lines that do not close; relative to the layers file."
    )
    valid_from: str | None = Field(None, description="Column with the time from which a feature holds (weather cells).")
    valid_to: str | None = Field(None, description="Column with the time at which a feature ceases to hold.")

    @model_validator(mode="after")
    def _check_pairs(self) -> "LayerSpec":
        if self.radius_m is not None and self.radius_column is not None:
            msg = "radius_m and radius_column are both given; keep one"
            raise ValueError(msg)
        if (self.valid_from is None) != (self.valid_to is None):
            msg = "valid_from and valid_to go together; give both"
            raise ValueError(msg)
        if self.land_file is not None and not self.has_land:
            msg = "land_file is given for a layer without a land side; write land: true, or leave it out"
            raise ValueError(msg)
        if self.land and self.valid_from is not None:
            msg = "land: true does not go with features that hold for a while; leave one out"
            raise ValueError(msg)
        if (self.lon_column is None) != (self.lat_column is None):
            msg = "lon_column and lat_column go together; give both"
            raise ValueError(msg)
        return self

    @property
    def has_land(self) -> bool:
        """Whether events learn if they are on land."""
        return not self.holds_by_time and (self.kind == COAST if self.land is None else self.land)

    @property
    def measures_distance(self) -> bool:
        """Whether events get a distance; a feature that holds for a while has none."""
        return self.distance and not self.holds_by_time

    @property
    def holds_by_time(self) -> bool:
        """Whether features hold only for a while, as weather cells do."""
        return self.valid_from is not None


class _LayersFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    layers: list[LayerSpec] = Field(min_length=1)


def read_layer_specs(file: Path) -> tuple[LayerSpec, ...]:
    """The layers that `file` declares, with their paths resolved against its folder."""
    try:
        values = read_yaml_file(file, "Is it the layer itself? Name a file that names layers.")
    except OSError as error:
        msg = f"{file}: cannot be read ({error.strerror}). Name a layers file that exists."
        raise LayersFileError(msg) from None
    except YamlError as error:
        raise LayersFileError(str(error)) from None
    try:
        specs = _LayersFile.model_validate(values).layers
    except ValidationError as error:
        raise LayersFileError(_sentence(error, values, file)) from None
    for what in ("name", "kind"):
        _check_distinct([getattr(spec, what) for spec in specs], what, file)
    sided = [spec.name for spec in specs if spec.has_land]
    if len(sided) > 1:
        msg = f"{file}: layers '{sided[0]}' and '{sided[1]}' both tell land from sea. Write `land: false` for one."
        raise LayersFileError(msg)
    return tuple(_resolved(spec, file.parent) for spec in specs)


def _resolved(spec: LayerSpec, folder: Path) -> LayerSpec:
    land = {} if spec.land_file is None else {"land_file": (folder / spec.land_file).resolve()}
    return spec.model_copy(update={"file": (folder / spec.file).resolve(), **land})


def _check_distinct(values: list[str], what: str, file: Path) -> None:
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        msg = f"{file}: two layers have the {what} '{twice[0]}'. Give each its own, or merge their files."
        raise LayersFileError(msg)


def _sentence(error: ValidationError, values: Any, file: Path) -> str:
    fault = error.errors()[0]
    where = _place(fault["loc"], values, file)
    key = str(fault["loc"][-1]) if fault["loc"] else ""
    known = list(LayerSpec.model_fields)
    if fault["type"] == "extra_forbidden" and len(fault["loc"]) > 1:
        near = get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f"Did you mean '{near[0]}'? " if near else ""
        return f"{where}: unknown key '{key}'. {hint}Known keys: {', '.join(known)}."
    if fault["type"] == "missing" and len(fault["loc"]) > 1:
        return f"{where}: '{key}' is missing. Every layer needs name, kind and file."
    if len(fault["loc"]) <= 1:
        return f"{where}: no list of layers. Write `layers:` and below it `- {{name: ports, kind: port, file: p.csv}}`."
    return f"{where}: {key}: {fault['msg']}, got {fault['input']!r}. {_described(key)}".rstrip()


def _place(location: tuple[int | str, ...], values: Any, file: Path) -> str:
    if len(location) < 2 or not isinstance(location[1], int):
        return str(file)
    entry = values["layers"][location[1]]
    name = entry.get("name") if isinstance(entry, dict) else None
    return f"{file}: layer '{name}'" if name else f"{file}: layer {location[1] + 1}"


def _described(key: str) -> str:
    field = LayerSpec.model_fields.get(key)
    return field.description or "" if field else ""
