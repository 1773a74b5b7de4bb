"""Numbers, sentinels and types, as they are told from texts alone."""

import pytest

from foresail.pipeline.look.times import decimal_of, is_grouped, kind_of, number_of, sentinels_of


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("12.5", ".", 12.5),
        ("12,5", ",", 12.5),
        ("12,5", ".", None),
        ("-1e-3", ".", -0.001),
        ("NaN", ".", None),
        ("inf", ".", None),
        ("1_000", ".", None),
        ("١٢", ".", None),
        (None, ".", None),
    ],
)
def test_a_number_is_what_the_feed_spells(text: str | None, decimal: str, value: float | None) -> None:
    assert number_of(text, decimal) == value  # type: ignore[arg-type]


def test_the_decimal_sign_is_told_from_the_column() -> None:
    assert decimal_of(["1,5", "2", "3,25"]) == ","
    assert decimal_of(["1.5", "2", "3.25"]) == "."
    assert decimal_of(["a", "2"]) is None
    assert is_grouped(["1.234,5", "2.345,6"])


def test_a_sentinel_is_known_repeated_and_far_off() -> None:
    assert sentinels_of([1.5, 2.0, -999.0, -999.0]) == (-999.0,)
    assert sentinels_of([1.5, 2.0, -999.0]) == ()
    assert sentinels_of([500.0, 700.0, 999.0, 999.0]) == ()
    assert sentinels_of([-999.0, -999.0]) == ()


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "2"], "long"),
        (["1.5", "2"], "double"),
        (["007", "8"], "string"),
        (["true", "False"], "boolean"),
        (["1", "x"], "string"),
        (["1" * 25], "string"),
        ([], "string"),
    ],
)
def test_a_kept_column_has_the_narrowest_type_that_loses_nothing(texts: list[str], kind: str) -> None:
    assert kind_of(texts) == kind
