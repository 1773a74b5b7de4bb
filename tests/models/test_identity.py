"""The name of a model version can be read back, and its numbers are numbers, however many digits they have."""

import pytest

from foresail.models.identity import content_hash, numbered, pattern_of, serial_of

NAMES = {
    "port_entry-v1-0003-ab12cd": ("port_entry", 3),
    "port_entry-v10-0003-ab12cd": ("port_entry", 3),
    "port_entry-v2-9999-ab12cd": ("port_entry", 9999),
    "port_entry-v2-10000-ab12cd": ("port_entry", 10_000),
    "a-v2-b-v3-0001-00ff00@ferry-v1-0009-aa": ("a-v2-b", 1),
    "entry-v1-0003-ab12cd@a\nb": ("entry", 3),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_version_tells_its_pattern_and_serial(name: str) -> None:
    assert (pattern_of(name), serial_of(name)) == NAMES[name]


@pytest.mark.parametrize("name", ["", "champion", "entry-v1-0003", "entry-vx-0003-ab", "entry-v1-0003-xyz", "@-v1-1-a"])
def test_what_is_no_version_has_neither(name: str) -> None:
    assert (pattern_of(name), serial_of(name)) == (None, None)


def test_a_serial_has_four_digits_or_as_many_as_it_needs() -> None:
    assert numbered("entry-v12-0000-ab12cd", 7) == "entry-v12-0007-ab12cd"
    assert numbered("entry-v12-0000-ab12cd@tug", 9999) == "entry-v12-9999-ab12cd@tug"
    assert numbered("entry-v12-9999-ab12cd", 10_000) == "entry-v12-10000-ab12cd"


def test_a_hash_is_short_and_tells_values_apart_by_how_they_print() -> None:
    assert len(content_hash("a")) == 6
    assert content_hash("a", 1) == content_hash("a", 1)
    assert len({content_hash("a", 1), content_hash("a", "1"), content_hash("a1"), content_hash(1, "a")}) == 4
