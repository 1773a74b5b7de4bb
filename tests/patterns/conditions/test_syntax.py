"""Contracts of the nodes: values that compare, hash and travel to the workers."""

import pickle

from foresail.patterns.conditions import Attribute
from foresail.patterns.errors import Place
from tests.condition_cases import conditions, drawn


def test_every_condition_survives_pickling() -> None:
    for condition in drawn(conditions, 100):
        again = pickle.loads(pickle.dumps(condition))
        assert again == condition
        assert hash(again) == hash(condition)


def test_where_an_attribute_was_written_does_not_matter() -> None:
    assert Attribute("x", None, Place("a", 1, 1)) == Attribute("x", None, Place("b", 2, 2))
    assert Attribute("distance_m", "port").key == "port.distance_m"
