"""The leaves of a tree as readable conditions: `5000 <= port.distance_m < 6200 and speed_kn >= 8.1`.

A threshold is rounded once, where the tree splits, so both sides of a split agree and leaves stay exclusive. A leaf
that rounding has emptied is left out. An event with an unknown attribute is in no leaf that reads it: that none holds
is a symbol too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor, inf, log10
from typing import TYPE_CHECKING

from foresail.models.features.words import Quantity
from foresail.patterns.conditions.syntax import Attribute, Literal
from foresail.patterns.conditions.text import text_of
from foresail.patterns.conditions.typing import AttributeType

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeRegressor

DIGITS = 3
SNAP = 0.02
"""A threshold this near, relatively, to a constant of the pattern becomes that constant."""
NO_CHILD = -1


@dataclass(frozen=True, slots=True)
class Leaf:
    """A box of attributes: what the tree asked on the way to one of its leaves."""

    node: int
    """The number of the leaf in the tree."""
    low: Mapping[str, float] = field(default_factory=dict)
    high: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, tuple[tuple[str, bool], ...]] = field(default_factory=dict)
    verdicts: Mapping[str, bool] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether no event can be in it."""
        crossed = any(self.low.get(name, -inf) >= high for name, high in self.high.items())
        return crossed or any(sum(yes for _, yes in tests) > 1 for tests in self.words.values())

    @property
    def text(self) -> str:
        """The box as the text of a condition."""
        numbers = [
            _range(name, self.low.get(name), self.high.get(name)) for name in dict.fromkeys([*self.low, *self.high])
        ]
        verdicts = [f"{_name(name)} = {'true' if value else 'false'}" for name, value in self.verdicts.items()]
        return " and ".join([*numbers, *(_words(name, tests) for name, tests in self.words.items()), *verdicts])


def leaves_of(
    tree: "DecisionTreeRegressor", quantities: Sequence[Quantity], constants: Mapping[str, Sequence[float]]
) -> list[Leaf]:
    """Every leaf that an event can be in; `constants` are those the pattern compares each attribute with."""
    return [leaf for leaf in _walk(tree.tree_, 0, Leaf(0), quantities, constants) if not leaf.is_empty and leaf.text]


def _walk(
    tree: "object", node: int, box: Leaf, quantities: Sequence[Quantity], constants: Mapping[str, Sequence[float]]
) -> Iterator[Leaf]:
    left, right = int(tree.children_left[node]), int(tree.children_right[node])  # type: ignore[attr-defined]
    if left == NO_CHILD:
        yield replace(box, node=node)
        return
    quantity = quantities[int(tree.feature[node])]  # type: ignore[attr-defined]
    split = rounded(float(tree.threshold[node]), constants.get(quantity.attribute, ()))  # type: ignore[attr-defined]
    yield from _walk(tree, left, _below(box, quantity, split), quantities, constants)
    yield from _walk(tree, right, _above(box, quantity, split), quantities, constants)


def _below(box: Leaf, quantity: Quantity, split: float) -> Leaf:
    name = quantity.attribute
    if quantity.word is not None:
        return _with_word(box, quantity, False)
    if quantity.type is AttributeType.BOOLEAN:
        return replace(box, verdicts={**box.verdicts, name: False})
    return replace(box, high={**box.high, name: min(split, box.high.get(name, inf))})


def _above(box: Leaf, quantity: Quantity, split: float) -> Leaf:
    name = quantity.attribute
    if quantity.word is not None:
        return _with_word(box, quantity, True)
    if quantity.type is AttributeType.BOOLEAN:
        return replace(box, verdicts={**box.verdicts, name: True})
    return replace(box, low={**box.low, name: max(split, box.low.get(name, -inf))})


def _with_word(box: Leaf, quantity: Quantity, holds: bool) -> Leaf:
    assert quantity.word is not None, "only words are asked for by name"
    tests = (*box.words.get(quantity.attribute, ()), (quantity.word, holds))
    return replace(box, words={**box.words, quantity.attribute: tests})


def rounded(threshold: float, constants: Sequence[float] = (), digits: int = DIGITS) -> float:
    """The threshold in so many significant digits, or the constant of the pattern that it nearly is."""
    for constant in sorted(constants, key=lambda c: abs(c - threshold)):
        if abs(constant - threshold) <= SNAP * max(abs(constant), abs(threshold)):
            return constant
    if threshold == 0:
        return 0.0
    return round(threshold, digits - 1 - floor(log10(abs(threshold))))


def _range(name: str, low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"{_number(low)} <= {_name(name)} < {_number(high)}"
    return f"{_name(name)} >= {_number(low)}" if low is not None else f"{_name(name)} < {_number(high or 0.0)}"


def _words(name: str, tests: Sequence[tuple[str, bool]]) -> str:
    chosen = [word for word, yes in tests if yes]
    if chosen:
        return f"{_name(name)} = {text_of(Literal(chosen[0]))}"
    return " and ".join(f"{_name(name)} != {text_of(Literal(word))}" for word, _ in tests)


def _name(key: str) -> str:
    owner, dot, name = key.partition(".")
    return text_of(Attribute(name, owner) if dot else Attribute(key))


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
