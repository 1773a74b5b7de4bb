"""A curve of characters has a column per value, as high as the value is."""

from foresail.pipeline.reports.text_curve import MOST_COLUMNS, text_curve


def test_columns_are_as_high_as_the_values() -> None:
    lines = text_curve([0.0, 0.1, 0.2], height=2)
    assert [line[9:] for line in lines[:2]] == ["  █", " ██"]
    assert lines[0].startswith("  20.0% │")
    assert lines[-1].strip() == "1 3"


def test_long_curves_are_gathered_and_empty_ones_are_flat() -> None:
    assert max(len(line) for line in text_curve([0.01] * 200)) <= MOST_COLUMNS + 9
    assert set("".join(line[9:] for line in text_curve([0.0] * 5)[:6])) <= {" "}
