"""What a condition reads."""

from foresail.patterns.conditions import Attribute, attributes_of, owners_of, parse_condition


def test_attributes_are_listed_once_in_the_order_of_the_text() -> None:
    condition = parse_condition("b > 1 and (a < port.b or not b in (1, 2)) and abs(-c) / d is known")
    assert attributes_of(condition) == (
        Attribute("b"),
        Attribute("a"),
        Attribute("b", "port"),
        Attribute("c"),
        Attribute("d"),
    )
    assert owners_of(condition) == {"port"}


def test_seconds_since_reads_the_time_of_the_event_and_of_the_register() -> None:
    condition = parse_condition("seconds_since(last) > 60")
    assert attributes_of(condition) == (Attribute("time"), Attribute("time", "last"))
    assert owners_of(condition) == {"last"}
