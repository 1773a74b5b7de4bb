"""A shallow tree fitted to the time until the next match; its leaves become the features of the pattern's alphabet.

The tree reads single events. What came before is the business of the contexts over its leaves, so that the model stays
symbolic: a table to look up, exact, and explained by conditions an analyst can read.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from foresail.models.errors import ModelError
from foresail.models.features.leaves import Leaf, leaves_of
from foresail.models.features.words import Attributes
from foresail.models.scoring.report import LearnedFeature
from foresail.patterns.catalog.entry import MOST_LEAVES
from foresail.patterns.conditions.syntax import And, Attribute, Comparison, Condition, Literal, Not, Or
from foresail.patterns.errors import Place
from foresail.patterns.spec import PatternSpec, Text

MIN_LEAF_SHARE = 0.002
"""Of the sample; a leaf of fewer events says little and costs a symbol."""
FEWEST_EVENTS = 20


class FeatureLearningError(ModelError):
    """Features cannot be learned from this sample."""


@dataclass(frozen=True, slots=True)
class LearnedFeatures:
    """The conditions that were learned, and what was left out."""

    features: tuple[LearnedFeature, ...]
    left_out: tuple[str, ...]
    """Attributes that are too often unknown to be read."""
    sample: int
    """Events that the tree was fitted on."""


def learn_features(
    attributes: Attributes,
    until: NDArray[np.int64],
    horizon: int,
    conditions: Iterable[Condition] = (),
    leaves: int = MOST_LEAVES,
    where: str = "features",
) -> LearnedFeatures:
    """At most `leaves` conditions from events with `until`, the events to the next match capped at `horizon` + 1."""
    from sklearn.tree import DecisionTreeRegressor  # noqa: PLC0415 - takes seconds to import

    usable = attributes.known
    if not attributes.quantities or int(usable.sum()) < FEWEST_EVENTS:
        left_out = f" ({', '.join(attributes.left_out)} too often unknown)" if attributes.left_out else ""
        msg = f"{where}: too few events have all attributes to learn features from{left_out}. Allow other attributes."
        raise FeatureLearningError(msg)
    values, target = attributes.values[usable].astype(np.float32), _target(until[usable], horizon)
    least = max(FEWEST_EVENTS // 4, int(MIN_LEAF_SHARE * len(values)))
    tree = DecisionTreeRegressor(max_leaf_nodes=max(2, leaves), min_samples_leaf=least, random_state=0)
    tree.fit(values, target)
    return LearnedFeatures(
        _described(leaves_of(tree, attributes.quantities, _constants(conditions)), tree.apply(values), until[usable]),
        attributes.left_out,
        len(values),
    )


def with_features(spec: PatternSpec, features: Sequence[LearnedFeature]) -> PatternSpec:
    """The spec whose alphabet has the learned features in place of its own."""
    named = {text.name for text in spec.where}
    groups = tuple(tuple(name for name in group if name in named) for group in spec.exclusive)
    texts = tuple(Text(f.name, f.text, Place(f"{spec.name}.features.{f.name}")) for f in features)
    leaves = (tuple(f.name for f in features),) if len(features) > 1 else ()
    return replace(spec, features=texts, exclusive=(*(group for group in groups if len(group) > 1), *leaves))


def _target(until: NDArray[np.int64], horizon: int) -> NDArray[np.float64]:
    """Logarithms: one event more or less counts near the match, not far from it."""
    return np.log(np.minimum(until, horizon + 1).astype(np.float64))


def _described(
    leaves: Sequence[Leaf], found_in: NDArray[np.int64], until: NDArray[np.int64]
) -> tuple[LearnedFeature, ...]:
    """The leaves with how many events they hold and how long those wait, soonest first."""
    events = np.bincount(found_in, minlength=int(found_in.max()) + 1)
    waited = np.bincount(found_in, weights=until, minlength=len(events))
    held = [(float(waited[leaf.node] / max(1, events[leaf.node])), leaf) for leaf in leaves]
    ordered = sorted(held, key=lambda pair: pair[0])
    return tuple(
        LearnedFeature(f"leaf_{n}", leaf.text, int(events[leaf.node]), round(mean, 2))
        for n, (mean, leaf) in enumerate(ordered, start=1)
    )


def _constants(conditions: Iterable[Condition]) -> Mapping[str, list[float]]:
    """What each attribute is compared with by the pattern itself."""
    found: dict[str, list[float]] = defaultdict(list)
    for condition in conditions:
        match condition:
            case And(parts) | Or(parts):
                for name, values in _constants(parts).items():
                    found[name] += values
            case Not(part):
                for name, values in _constants([part]).items():
                    found[name] += values
            case Comparison(_, Attribute() as attribute, Literal(value)) | Comparison(
                _, Literal(value), Attribute() as attribute
            ) if isinstance(value, int | float) and not isinstance(value, bool):
                found[attribute.key].append(float(value))
            case _:
                pass
    return found
