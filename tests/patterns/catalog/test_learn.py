"""`features: learn` in a catalog entry: its short and long forms, and what is refused."""

import jsonschema
import pytest
import yaml

from foresail.patterns.catalog.loader import read_text
from foresail.patterns.catalog.nodes import CatalogError
from foresail.patterns.catalog.writer import catalog_schema, write_entry

HEAD = 'name: a\ndomain: fleet\nsays: b\nwhere: {fast: "speed_kmh > 9"}\npattern: fast\n'


@pytest.mark.parametrize(
    ("features", "attributes", "leaves", "named"),
    [
        ("features: learn", (), 48, []),
        ("features: {learn: }", (), 48, []),
        ("features: {learn: {attributes: [speed_kmh, engine], leaves: 12}}", ("speed_kmh", "engine"), 12, []),
        ('features: {slow: "speed_kmh < 2", learn: {leaves: 8}}', (), 8, ["slow"]),
    ],
)
def test_every_form_of_learn_reads_validates_and_is_written_back(
    features: str, attributes: tuple[str, ...], leaves: int, named: list[str]
) -> None:
    (entry,) = read_text(HEAD + features, "a.yaml")
    assert entry.learn is not None
    assert (entry.learn.attributes, entry.learn.leaves, list(entry.named_features)) == (attributes, leaves, named)
    assert [text.name for text in entry.spec().features] == named
    (again,) = read_text(write_entry(entry), "b.yaml")
    assert again.learn == entry.learn
    if "learn: }" not in features:
        jsonschema.validate(yaml.safe_load(HEAD + features), catalog_schema())


@pytest.mark.parametrize(
    ("features", "told"),
    [
        ("features: learned", "features"),
        ("features: {learn: {leaves: 80}}", "48"),
        ("features: {learn: {leafs: 8}}", "leafs"),
        ('features: {learn: "speed_kmh < 2"}', "learn"),
        ("features: {slow: {leaves: 8}}", "slow"),
    ],
)
def test_what_is_not_a_feature_is_refused_with_its_place(features: str, told: str) -> None:
    with pytest.raises(CatalogError, match=rf"a\.yaml:6.*{told}"):
        read_text(HEAD + features, "a.yaml")
