"""The expressions and sentences of an .sre file, written as pattern and condition texts of ours.

The predicates of .sre files as conditions of ours. An argument between quotes names a register.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from lark import Token

from foresail.patterns.catalog.entry import RESERVED
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


@dataclass(slots=True)
class Names:
    """The conditions met so far, each text under one readable name."""

    by_text: dict[str, str] = field(default_factory=dict)

    def name(self, text: str) -> str:
        """The name of the condition `text`."""
        if text not in self.by_text:
            self.by_text[text] = self._unused(_readable(text))
        return self.by_text[text]

    def _unused(self, wanted: str) -> str:
        taken = {*self.by_text.values(), *RESERVED}
        tries = (wanted if number == 1 else f"{wanted}_{number}" for number in range(1, len(taken) + 2))
        return next(name for name in tries if name not in taken)


@dataclass(slots=True)
class Reading:
    """One pattern while it is being read: its conditions, the registers it writes and reads, and what to tell."""

    where: Place
    names: Names = field(default_factory=Names)
    written: set[str] = field(default_factory=set)
    read: list[Argument] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def place(self, token: Token) -> Place:
        """Where the token stands."""
        return self.where.at(token.line or 1, token.column or 1)


def write_expression(node: Any, reading: Reading) -> str:
    """The expression as pattern text, between parentheses where it is more than one item."""
    kind, children = node.data, node.children
    if kind == "terminal":
        return _terminal(children, reading)
    raw = children[0].children
    parts = [write_expression(child, reading) for child in raw]
    match kind:
        case "sequence":
            return _group(" ; ", parts)
        case "choice":
            return _group(" | ", parts)
        case "iteration":
            return f"{_one(node, parts, 'iteration', reading)}*"
        case "negation":
            return f"not({without_parentheses(_one(node, parts, 'negation', reading))})"
        case "skip_till_any" | "skip_till_next":
            word = "any" if kind == "skip_till_any" else "next"
            whole = len(raw) == 1 and raw[0].data == "sequence"
            inner = [write_expression(child, reading) for child in raw[0].children[0].children] if whole else parts
            return f"{word}({', '.join(map(without_parentheses, inner))})"
    msg = f"an expression of kind {kind} is not of the grammar"
    raise AssertionError(msg)


def _one(node: Any, parts: Sequence[str], what: str, reading: Reading) -> str:
    if len(parts) > 1:
        reading.notes.append(
            f"The {what} of {len(parts)} expressions on line {node.meta.line} was read as one of their sequence."
        )
    return _group(" ; ", parts)


def _group(sign: str, parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({sign.join(parts)})"


def without_parentheses(text: str) -> str:
    """The text without the parentheses that enclose all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if position == len(text) - 1 else text
    return text


def _terminal(children: list[Any], reading: Reading) -> str:
    condition = write_sentence(children[0], reading)
    name = "_" if condition == "true" else reading.names.name(condition)
    if len(children) == 1:
        return name
    register = str(children[1])[1:-1]
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", register) or register in RESERVED:
        msg = f"{reading.place(children[1])}: '{register}' cannot name a register. Use letters and digits."
        raise SreError(msg)
    reading.written.add(register)
    return f"{name} as {register}"


def write_sentence(node: Any, reading: Reading) -> str:
    """The sentence as the text of a condition."""
    match node.data:
        case "predicate":
            return _predicate(node, reading)
        case "complement":
            return f"not ({write_sentence(node.children[0], reading)})"
        case "conjunction":
            return " and ".join(_nested(child, "disjunction", reading) for child in node.children[0].children)
        case _:
            return " or ".join(write_sentence(child, reading) for child in node.children[0].children)


def _nested(node: Any, weaker: str, reading: Reading) -> str:
    said = write_sentence(node, reading)
    return f"({said})" if node.data == weaker else said


def _predicate(node: Any, reading: Reading) -> str:
    word, *rest = node.children
    arguments = [
        Argument(str(token).strip('"'), token.type == "QUOTED", reading.place(token))
        for argument in (rest[0].children if rest else [])
        for token in argument.children
    ]
    if str(word) == "BT":
        reading.notes.append("BT includes both ends.")
    reading.read.extend(argument for argument in arguments if argument.register)
    return condition_of(str(word), arguments, reading.place(word))


def _readable(text: str) -> str:
    """A name made of the constants and attributes of a condition: `type = "SELL" and name = "INTC"` is sell_intc."""
    if text.startswith("not "):
        return f"not_{_readable(text[4:].removeprefix('(').removesuffix(')'))}"
    circle = re.fullmatch(r"(?:([0-9.e+]+) <= )?distance_m\([^)]*\) (<|>=) ([0-9.e+]+)", text)
    if circle:
        low, sign, high = circle.groups()
        words = ["from", _km(low), "to", _km(high)] if low else ["within" if sign == "<" else "beyond", _km(high)]
        return "_".join(words) + "_km"
    constants = re.findall(r'"([^"]*)"', text)
    words = constants or [word for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+", text) if word not in RESERVED]
    slug = re.sub(r"[^A-Za-z0-9]+", "_", "_".join(list(dict.fromkeys(words))[:3])).strip("_").lower()
    return slug if re.match("[a-z]", slug) else f"c_{slug}".rstrip("_")


def _km(metres: str) -> str:
    return f"{float(metres) / METRES_PER_KM:g}".replace(".", "_")
