"""Patterns that some events do not fit: the way out where a layer's attribute is missing, and one line per reason."""

import re
from collections.abc import Collection, Mapping

from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.errors import UnknownAttributeError
from foresail.pipeline.errors import InputError

LAYER_ATTRIBUTE = re.compile(r"in_(?P<inside>\w+)|(?P<named>\w+)_(?:name|distance_m)")
"""How the attributes that a layer gives are called, after its kind."""
ENRICH = "Run `foresail enrich` with a layer of that kind, and take what it writes."
LAYERS_FILE = "Name a layer of that kind in the file of layers.file."
PLACE = re.compile(r"^\S+?: ")
LISTED = re.compile(r"\s*(?:Did you mean '[^']*'\? )?(?:Known attributes: .*|No attribute is known here\.)$")
LAYERED = re.compile(r"unknown attribute '\w+': (it comes from a layer)")


def layer_kind_of(attribute: str) -> str | None:
    """The kind of the layer that gives an attribute of that name; None where no layer does."""
    found = LAYER_ATTRIBUTE.fullmatch(attribute)
    return found["inside"] or found["named"] if found else None


def unfit(error: UnknownAttributeError | InputError, way_out: str = ENRICH) -> UnknownAttributeError | InputError:
    """The same fault, with the way out where events lack what a layer gives."""
    kind = layer_kind_of(error.name) if isinstance(error, UnknownAttributeError) else None
    if kind is None:
        return error
    assert isinstance(error, UnknownAttributeError), "only these name an attribute"
    return InputError(
        f"{error.where}: unknown attribute '{error.name}': it comes from a layer of the kind '{kind}'. {way_out}"
    )


def check_pairs(entry: PatternEntry, columns: Collection[str]) -> None:
    """A pattern of two tracks reads pairs, one of a single track reads positions."""
    given = "pairs" if {"track_a", "track_b"} <= set(columns) else "positions"
    if entry.reads != given:
        way_out = (
            "Make them with `foresail enrich --pairs-within METRES`." if entry.reads == "pairs" else "Leave it out."
        )
        msg = f"{entry.name}: reads {entry.reads}, but these events are {given}. {way_out}"
        raise InputError(msg)


def check_layer(entry: PatternEntry, layers: Collection[str], columns: Collection[str] = ("lon", "lat")) -> None:
    """A family needs its layer, and events that have a position."""
    if entry.for_each is None:
        return
    wanted = entry.for_each.layer
    if wanted not in layers:
        known = f"Layers there: {', '.join(layers)}." if layers else "Name a layers file with --layers."
        msg = f"{entry.name}: is a family over the layer '{wanted}', which is not at hand. {known}"
        raise InputError(msg)
    if not {"lon", "lat"} <= set(columns):
        msg = f"{entry.name}: is a family over a layer, but the events have no columns lon and lat. Add them."
        raise InputError(msg)


def left_out_lines(skipped: Mapping[str, str]) -> list[str]:
    """`a, b (reason)` for each reason to leave patterns out: without the place, without lists of what is known."""
    names: dict[str, list[str]] = {}
    for name, reason in skipped.items():
        plain = LAYERED.sub(r"\1", LISTED.sub("", PLACE.sub("", reason, count=1)))
        names.setdefault(plain.rstrip("."), []).append(name)
    return [f"{', '.join(some)} ({reason})" for reason, some in names.items()]
