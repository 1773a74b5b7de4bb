"""Patterns that some events do not fit: the way out where a layer's attribute is missing, and one line per reason."""

import re
from collections.abc import Mapping

from patterns.errors import UnknownAttributeError
from pipeline.errors import InputError

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


def left_out_lines(skipped: Mapping[str, str]) -> list[str]:
    """`a, b (reason)` for each reason to leave patterns out: without the place, without lists of what is known."""
    names: dict[str, list[str]] = {}
    for name, reason in skipped.items():
        plain = LAYERED.sub(r"\1", LISTED.sub("", PLACE.sub("", reason, count=1)))
        names.setdefault(plain.rstrip("."), []).append(name)
    return [f"{', '.join(some)} ({reason})" for reason, some in names.items()]
