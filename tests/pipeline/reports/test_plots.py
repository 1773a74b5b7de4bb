"""Plots place what they are given, and their axes have round numbers.

A curve of characters has a column per value, as high as the value is.
"""

import re
from math import inf, nan

from hypothesis import given
from hypothesis import strategies as st

from foresail.pipeline.reports.plots import (
    HEIGHT,
    MOST_COLUMNS,
    WIDTH,
    Axis,
    Curve,
    Plot,
    bars,
    curves,
    round_step,
    text_curve,
)

PLOT = Plot(Axis("x", 0, 10), Axis("y", 0, 1))


def test_a_curve_runs_from_corner_to_corner_and_skips_the_unknown() -> None:
    drawn = curves(PLOT, "a", [Curve("<c>", ((0, 0), (5, nan), (inf, 1), (10, 1)), dots=True)])
    assert 'd="M44 224 L388 24"' in drawn
    assert drawn.count("<circle") == 2
    assert "&lt;c&gt;" in drawn


def test_bars_of_nothing_are_not_drawn() -> None:
    assert bars(PLOT, "a", [(1, 0.5), (2, 0), (3, 1)]).count('class="bar"') == 2


@given(st.floats(1e-6, 1e9))
def test_a_step_is_round_and_not_much_larger_than_asked(size: float) -> None:
    step = round_step(size)
    assert size * (1 - 1e-6) <= step <= size * 2.5 * (1 + 1e-6)
    assert float(f"{step:e}".partition("e")[0]) in (1, 2, 5, 10)


@given(st.floats(-100, 100), st.floats(0.01, 1000))
def test_ticks_lie_on_the_axis(low: float, length: float) -> None:
    axis = Axis("x", low, low + length)
    assert 2 <= len(axis.ticks) <= 7 or length < 1
    assert all(axis.low - 1e-9 <= tick <= axis.high + length * 1e-6 for tick in axis.ticks)


def test_everything_is_drawn_within_the_picture() -> None:
    drawn = curves(PLOT, "a", [Curve("c", ((0, 0), (10, 1)))])
    xs = [float(x) for x in re.findall(r'x\d?="([\d.]+)"', drawn)]
    ys = [float(y) for y in re.findall(r'y\d?="([\d.]+)"', drawn)]
    assert max(xs) <= WIDTH
    assert max(ys) <= HEIGHT


def test_columns_are_as_high_as_the_values() -> None:
    lines = text_curve([0.0, 0.1, 0.2], height=2)
    assert [line[9:] for line in lines[:2]] == ["  █", " ██"]
    assert lines[0].startswith("  20.0% │")
    assert lines[-1].strip() == "1 3"


def test_long_curves_are_gathered_and_empty_ones_are_flat() -> None:
    assert max(len(line) for line in text_curve([0.01] * 200)) <= MOST_COLUMNS + 9
    assert set("".join(line[9:] for line in text_curve([0.0] * 5)[:6])) <= {" "}
