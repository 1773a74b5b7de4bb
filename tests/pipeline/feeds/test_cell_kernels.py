"""Cells of text: what a kernel reads is what the exact way reads; what it cannot read it says is odd."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.pipeline.feeds.exact import cells_of, instant_of, number_of
from foresail.pipeline.feeds.rows import SplitFile, split
from foresail.pipeline.feeds.texts import Texts

FIGURES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, places=6).map(str),
    st.text("0123456789.-+eEdf ", max_size=12),
)
PARTS = (
    st.integers(0, 10_000).map(lambda n: f"{n:04d}"),
    *[st.integers(0, 61).map(lambda n: f"{n:02d}") for _ in range(5)],
    st.sampled_from(["", ".", ".5", ".123456", ".1234567"]),
    st.sampled_from(["", "Z", "+02", "-03:30", "+0330", " Europe/Paris", "x", "+19:00"]),
)
INSTANTS = st.one_of(
    st.tuples(*PARTS).map(lambda p: f"{p[0]}-{p[1]}-{p[2]}T{p[3]}:{p[4]}:{p[5]}{p[6]}{p[7]}"),
    st.text("0123456789-: T", min_size=15, max_size=22),
)
LINES = st.lists(st.lists(st.text('a, "é\t', max_size=5), min_size=1, max_size=4), min_size=1, max_size=6)


@settings(max_examples=300, deadline=None)
@given(st.lists(FIGURES, min_size=1, max_size=8))
def test_numbers_are_those_of_the_exact_way(texts: list[str]) -> None:
    found = Texts.of(texts).numbers(exact=False)
    for text, value, known in zip(texts, found.values, found.known, strict=True):
        assert not known or repr(float(value)) == repr(number_of(text))
    every = Texts.of(texts).numbers()
    assert [value if known else None for value, known in zip(every.values, every.known, strict=True)] == [
        number_of(text) for text in texts
    ]


@settings(max_examples=300, deadline=None)
@given(st.lists(INSTANTS, min_size=1, max_size=8))
def test_instants_are_those_of_the_exact_way(texts: list[str]) -> None:
    found, zoned = Texts.of(texts).instants(0, exact=False)
    for text, value, known, has_zone in zip(texts, found.values, found.known, zoned, strict=True):
        assert not known or (value, has_zone) == instant_of(text)


@settings(max_examples=300, deadline=None)
@given(LINES)
def test_cells_are_those_of_the_exact_way(rows: list[list[str]]) -> None:
    lines = [",".join(row) for row in rows]
    file = SplitFile("day.csv", "", ",", ("a", "b", "c"), (0, 2), has_header=False)
    found = split(np.frombuffer("\n".join(lines).encode() + b"\n", np.uint8), 1, file)
    assert found.raw.array().to_pylist() == lines
    for row, line in enumerate(lines):
        if not line.strip(" "):
            continue
        cells = cells_of(line, ",")
        assert (found.faults[row] >= 0) == (len(cells) != 3)
        for slot, place in ((0, 0), (1, 2)):
            texts = Texts(found.data, found.cell_starts[slot], found.cell_ends[slot])
            wanted = cells[place] if place < len(cells) else None
            assert (texts.text(row) if texts.known[row] else None) == wanted
