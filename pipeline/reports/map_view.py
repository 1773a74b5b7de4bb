"""The map of a report: what it shows, as data for the script, and the legend that switches its parts on and off."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from foresail.pipeline.reports.page import Markup, count_of, note, tag
from foresail.pipeline.reports.plots import Sign, icon

DIGITS = 5
"""Of a degree: about a metre."""
TINTS = 4
MARGIN = 0.02
LEAST_DEG = 0.02

LAND_DIGITS = 3
Place = tuple[float, float]
Ring = tuple[Place, ...]
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Shape:
    """A feature of a layer: longitudes and latitudes of its rings, or of its one point."""

    kind: Literal["point", "line", "polygon"]
    rings: tuple[tuple[Place, ...], ...]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class MapLayer:
    """The features of one layer."""

    name: str
    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class TrackLine:
    """A track as lines; each point has longitude, latitude and epoch seconds. A silence parts two lines."""

    track: str
    parts: tuple[tuple[tuple[float, float, float], ...], ...]
    name: str | None = None

    @property
    def label(self) -> str:
        """What the track is called."""
        return f"{self.name} ({self.track})" if self.name else self.track


@dataclass(frozen=True, slots=True)
class Mark:
    """Something at a place, from `time` to `until` in epoch seconds; `ref` is the element that says more of it."""

    lon: float
    lat: float
    time: float
    until: float
    lines: tuple[str, ...]
    ref: str | None = None
    weight: float | None = None
    """From 0 to 1: how large and dark it is drawn; None for all alike."""
    track: str = ""
    """What its track is called, for those who look for it."""


@dataclass(frozen=True, slots=True)
class MarkGroup:
    """Marks of one kind; `total` is how many there are, drawn or not."""

    key: str
    label: str
    sign: Sign
    marks: tuple[Mark, ...]
    total: int


@dataclass(frozen=True, slots=True)
class MapView:
    """All that a map shows; `left_out` says in sentences what it does not."""

    layers: tuple[MapLayer, ...]
    tracks: tuple[TrackLine, ...]
    groups: tuple[MarkGroup, ...]
    left_out: tuple[str, ...] = ()
    marks_are: str = "Patterns"
    land: tuple[tuple[Ring, ...], ...] = ()
    """Polygons below all else, each as its rings."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look at but layers."""
        return not self.tracks and not any(group.marks for group in self.groups)


def map_data(view: MapView) -> dict[str, Any]:
    """The view as the script reads it."""
    tints = _tints(view.layers)
    return {
        "bounds": bounds(view),
        "land": [[_flat(ring, LAND_DIGITS) for ring in polygon] for polygon in view.land],
        "layers": [
            {"key": _layer_key(layer), "tint": tints[layer.name], "shapes": [_shape(shape) for shape in layer.shapes]}
            for layer in view.layers
        ],
        "tracks": [_track(line) for line in view.tracks],
        "groups": [
            {"key": group.key, "label": group.label, "hue": group.sign.hue, "shape": group.sign.shape}
            | {"open": group.sign.open, "marks": [_mark(mark) for mark in group.marks]}
            for group in view.groups
        ],
    }


def map_markup(view: MapView, data_id: str) -> Markup:
    """The map and its legend; `data_id` names the element that holds its data."""
    if view.is_empty:
        return note("Nothing here has a position, so there is no map.")
    buttons = (("in", "+", "Closer"), ("out", "−", "Farther"), ("all", "⤢", "Show everything"))
    area = tag(
        "div",
        tag("canvas", tabindex="0", role="img", aria_label=_described(view)),
        tag(
            "div",
            *(
                tag("button", sign, type="button", data_zoom=act, aria_label=does, title=does)
                for act, sign, does in buttons
            ),
            class_="zoom",
        ),
        tag("noscript", "The map is drawn by the script of this page, which your browser does not run."),
        class_="chart-area",
    )
    hint = "Drag to move, Ctrl and wheel or the buttons to zoom, click a mark for more. " + " ".join(view.left_out)
    return tag("div", area, _legend(view), class_="map", data_map=data_id) + note(hint.strip())


def bounds(view: MapView) -> Box:
    """West, south, east, north of what moves and happens; layers may reach farther."""
    places = [(lon, lat) for line in view.tracks for part in line.parts for lon, lat, _ in part]
    places += [(mark.lon, mark.lat) for group in view.groups for mark in group.marks]
    if not places:
        return (-180.0, -60.0, 180.0, 75.0)
    lons, lats = [lon for lon, _ in places], [lat for _, lat in places]
    west, south, east, north = min(lons), min(lats), max(lons), max(lats)
    across, up = max(east - west, LEAST_DEG) * MARGIN, max(north - south, LEAST_DEG) * MARGIN
    return (west - across, south - up, east + across, north + up)


def _legend(view: MapView) -> Markup:
    tints = _tints(view.layers)
    groups = [_switch(group.key, icon(group.sign), group.label, group.total) for group in view.groups]
    ground = [
        _switch(_layer_key(layer), _swatch(layer, tints), layer.name.replace("_", " "), len(layer.shapes))
        for layer in view.layers
    ]
    if view.land:
        ground.append(_switch("land", tag("span", class_="swatch land"), "land"))
    if view.tracks:
        ground.insert(0, _switch("tracks", tag("span", class_="swatch line track"), "tracks", len(view.tracks)))
    parts = ((view.marks_are, groups), ("Tracks and layers", ground))
    return tag("div", *(_switches(heading, items) for heading, items in parts if items), class_="legend")


def _switches(heading: str, items: Iterable[Markup]) -> Markup:
    return tag("div", tag("h3", heading), tag("ul", *(tag("li", item) for item in items)))


def _switch(key: str, sign: Markup, label: str, count: int | None = None) -> Markup:
    box = tag("input", type="checkbox", checked=True, data_toggle=key)
    number = None if count is None else tag("span", f"{count:,}", class_="n")
    return tag("label", box, sign, tag("span", label, class_="name"), number)


def _swatch(layer: MapLayer, tints: dict[str, int]) -> Markup:
    kinds = {shape.kind for shape in layer.shapes}
    kind = f"zone-{tints[layer.name]}" if "polygon" in kinds else "line" if "line" in kinds else "point"
    return tag("span", class_=f"swatch {kind}")


def _tints(layers: Sequence[MapLayer]) -> dict[str, int]:
    """A tint for each layer of areas; those of points and lines have none of their own."""
    areas = [layer.name for layer in layers if any(shape.kind == "polygon" for shape in layer.shapes)]
    return {layer.name: areas.index(layer.name) % TINTS if layer.name in areas else 0 for layer in layers}


def _described(view: MapView) -> str:
    marks = sum(len(group.marks) for group in view.groups)
    drawn = f"{count_of(len(view.tracks), 'track')} and {count_of(marks, 'mark')}"
    return f"Map of {drawn}. What is marked is also listed below on this page."


def _layer_key(layer: MapLayer) -> str:
    return f"layer:{layer.name}"


def _shape(shape: Shape) -> dict[str, Any]:
    return {"kind": shape.kind, "name": shape.name, "rings": [_flat(ring, DIGITS) for ring in shape.rings]}


def _flat(ring: Ring, digits: int) -> list[float]:
    """Longitude, latitude, longitude, ... of a ring."""
    return [round(value, digits) for place in ring for value in place]


def _track(line: TrackLine) -> dict[str, Any]:
    parts = [
        [value for lon, lat, time in part for value in (round(lon, DIGITS), round(lat, DIGITS), round(time))]
        for part in line.parts
    ]
    return {"name": line.name or line.track, "lines": [line.track] if line.name else [], "parts": parts}


def _mark(mark: Mark) -> dict[str, Any]:
    return {
        "lon": round(mark.lon, DIGITS),
        "lat": round(mark.lat, DIGITS),
        "time": round(mark.time),
        "until": round(mark.until),
        "lines": list(mark.lines),
        "ref": mark.ref,
        "track": mark.track,
        "weight": None if mark.weight is None else round(mark.weight, 3),
    }
