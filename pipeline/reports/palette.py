"""Colour and shape of what is drawn: eight hues that most colour-blind readers can part, and a shape with each.

The hues themselves stand in `assets/page.css`, once for light and once for dark; here they are numbers.
"""

from dataclasses import dataclass

from foresail.pipeline.reports.markup import Markup, tag

HUES = 8
SHAPES = ("circle", "square", "triangle", "diamond", "cross")
POINTS = {
    "square": "M-4-4H4V4H-4Z",
    "triangle": "M0-5L5 4H-5Z",
    "diamond": "M0-5.5L5.5 0L0 5.5L-5.5 0Z",
    "cross": "M-1.6-5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6Z",
}


@dataclass(frozen=True, slots=True)
class Sign:
    """How one kind of thing is marked; `open` is drawn as an outline."""

    hue: int
    shape: str = "circle"
    open: bool = False


def sign_of(place: int) -> Sign:
    """The sign of the thing at this place of a list: hues repeat with another shape."""
    return Sign(place % HUES, SHAPES[(place // HUES + place) % len(SHAPES)])


def icon(sign: Sign) -> Markup:
    """The sign as a small picture for legends and lists."""
    kind = f"sign hue-{sign.hue}" + (" open" if sign.open else "")
    if sign.shape == "circle":
        body = tag("circle", r="4.6", class_=kind)
    else:
        body = tag("path", d=POINTS[sign.shape], class_=kind)
    return tag("svg", body, viewbox="-7 -7 14 14", class_="icon", aria_hidden="true")
