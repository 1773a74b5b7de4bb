"""The predicates of .sre files as conditions of ours. An argument between quotes names a register."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from foresail.patterns.errors import PatternError, Place, nearest

METRES_PER_KM = 1000


class SreError(PatternError):
    """An .sre file that says something the catalog cannot hold."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A word, a number, or (quoted) the name of a register; `text` is without the quotes."""

    text: str
    register: bool
    place: Place

    @property
    def number(self) -> str:
        """The argument as a number."""
        if self.register or not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?", self.text):
            msg = f"{self.place}: '{self.text}' stands where a number is needed. Write one such as 5.0."
            raise SreError(msg)
        return self.text

    @property
    def metres(self) -> str:
        """The argument, in kilometres, as metres."""
        return f"{float(self.number) * METRES_PER_KM:.10g}"

    @property
    def attribute(self) -> str:
        """The argument as the name of an attribute."""
        if self.register or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", self.text):
            msg = f"{self.place}: '{self.text}' stands where an attribute is needed. Write its name without quotes."
            raise SreError(msg)
        return self.text

    @property
    def value(self) -> str:
        """The argument as a text constant."""
        return json.dumps(self.text)


Writer: TypeAlias = Callable[..., str]


def _compared(sign: str) -> Writer:
    return lambda attribute, value: f"{attribute.attribute} {sign} {value.number}"


def _with_register(sign: str) -> Writer:
    def write(attribute: Argument, register: Argument) -> str:
        if not register.register:
            msg = f"{register.place}: '{register.text}' is not a register. Write its name between quotes."
            raise SreError(msg)
        return f"{attribute.attribute} {sign} {register.text}.{attribute.attribute}"

    return write


def _distance(lon: Argument, lat: Argument) -> str:
    return f"distance_m(lon, lat, {lon.number}, {lat.number})"


WRITERS: Mapping[str, tuple[int, Writer]] = {
    "IsEventTypePredicate": (1, lambda value: f"type = {value.value}"),
    "EQ": (2, _compared("=")),
    "LT": (2, _compared("<")),
    "LTE": (2, _compared("<=")),
    "GT": (2, _compared(">")),
    "GTE": (2, _compared(">=")),
    "BT": (3, lambda attribute, low, high: f"{low.number} <= {attribute.attribute} <= {high.number}"),
    "EQStr": (2, lambda attribute, value: f"{attribute.attribute} = {value.value}"),
    "EQAttr": (2, _with_register("=")),
    "EQAttrStr": (2, _with_register("=")),
    "GTAttr": (2, _with_register(">")),
    "LTAttr": (2, _with_register("<")),
    "DistanceBetweenPredicate": (
        4,
        lambda lon, lat, low, high: f"{low.metres} <= {_distance(lon, lat)} < {high.metres}",
    ),
    "WithinCirclePredicate": (3, lambda lon, lat, radius: f"{_distance(lon, lat)} < {radius.metres}"),
    "OutsideCirclePredicate": (3, lambda lon, lat, radius: f"{_distance(lon, lat)} >= {radius.metres}"),
    "TruePredicate": (0, lambda: "true"),
}
"""For each predicate how many arguments it takes, and the condition it says. Distances are in kilometres there."""


def condition_of(name: str, arguments: Sequence[Argument], place: Place) -> str:
    """The condition that a predicate says."""
    if name not in WRITERS:
        hint = nearest(name, WRITERS)
        msg = f"{place}: unknown predicate '{name}'. {hint}Known predicates: {', '.join(WRITERS)}."
        raise SreError(msg)
    count, write = WRITERS[name]
    if len(arguments) != count:
        msg = (
            f"{place}: {name} takes {count} argument{'s' * (count != 1)}, not {len(arguments)}. Add or take away some."
        )
        raise SreError(msg)
    return write(*arguments)
