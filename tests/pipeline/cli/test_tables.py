"""A table on a narrow terminal does without columns, and says so; names stay whole."""

import io

import pytest
from rich.console import Console

from foresail.pipeline.cli.tables import print_table

HEAD = ("pattern", "model", "order", "contexts", "F1")
NAME, MODEL = "high_speed_near_coast_of_islands", "high_speed_near_coast_of_islands-v12"
ROW = (NAME, MODEL, "4", "1,234", "0.912")
LEAST = ("contexts", "order", "F1")


def printed(width: int, least: tuple[str, ...] = LEAST) -> str:
    stream = io.StringIO()
    print_table(Console(file=stream, width=width), HEAD, [ROW], least, title="two models")
    return stream.getvalue()


def test_with_room_everything_is_shown() -> None:
    text = printed(120)
    assert [cell for cell in ROW if cell not in text] == []
    assert "not shown" not in text


@pytest.mark.parametrize(
    ("width", "gone"), [(102, []), (101, ["contexts"]), (90, ["contexts", "order"]), (80, list(LEAST))]
)
def test_columns_go_in_their_order_and_are_named(width: int, gone: list[str]) -> None:
    text = printed(width)
    assert NAME in text
    assert MODEL in text
    assert "…" not in text
    assert max(len(line) for line in text.splitlines()) <= width
    assert ("not shown, for want of width: " + ", ".join(gone) in text) == bool(gone)


def test_where_names_alone_do_not_fit_they_go_on_in_the_next_line() -> None:
    text = printed(40)
    assert "…" not in text
    held = "".join(line.split("│")[1].strip() for line in text.splitlines() if line.count("│") == 3)
    assert held == NAME
