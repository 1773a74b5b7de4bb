"""Boolean tests on one event: one tree, read from text, checked against a schema, evaluated over arrays."""

from foresail.patterns.conditions.parser import parse_condition
from foresail.patterns.conditions.syntax import Attribute, Condition
from foresail.patterns.conditions.text import attributes_of, owners_of, text_of
from foresail.patterns.conditions.typing import AttributeType, Schema, check_types

__all__ = [
    "Attribute",
    "AttributeType",
    "Condition",
    "Schema",
    "attributes_of",
    "check_types",
    "owners_of",
    "parse_condition",
    "text_of",
]
