"""Progress goes to standard error at a calm pace; the summary is one line of JSON."""

import io
import json
from collections.abc import Iterator

import pytest
from rich.console import Console

from foresail.pipeline.progress import SILENT, Progress, amount_of, open_progress, write_summary


def seconds(*times: float) -> "Iterator[float]":
    yield from times


def test_plain_progress_tells_start_and_seconds() -> None:
    stream = io.StringIO()
    ticks = seconds(0.0, 3.25)
    progress = Progress(Console(file=stream), clock=lambda: next(ticks))
    with progress.step("starting Spark"):
        pass
    assert stream.getvalue() == "foresail: starting Spark ...\nforesail: starting Spark: 3.2 s\n"


def test_plain_counts_appear_at_a_calm_pace() -> None:
    stream = io.StringIO()
    ticks = seconds(0, 1, 2, 6, 7, 8)
    progress = Progress(Console(file=stream), clock=lambda: next(ticks))
    with progress.count("fetching", total=40, unit="MB") as advance:
        for _ in range(4):
            advance(10)
    assert stream.getvalue().splitlines() == [
        "foresail: fetching: 30 of 40 MB, 6 s ...",
        "foresail: fetching: 40 MB, 8.0 s",
    ]


def test_a_terminal_gets_a_bar_with_the_amount() -> None:
    stream = io.StringIO()
    progress = Progress(Console(file=stream, force_terminal=True, width=100))
    with progress.count("fetching", total=40, unit="MB") as advance:
        advance(40)
    assert "40 of 40 MB" in stream.getvalue()


def test_long_lines_are_not_folded() -> None:
    stream = io.StringIO()
    open_progress(stream=stream).say("x" * 300 + " [not markup]")
    assert stream.getvalue() == "foresail: " + "x" * 300 + " [not markup]\n"


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for progress in (open_progress(quiet=True), SILENT):
        progress.say("hello")
        with progress.step("working"), progress.count("working") as advance:
            advance(1)
    said = capsys.readouterr()
    assert said.out == said.err == ""


def test_progress_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    open_progress().say("hello")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "foresail: hello\n")


def test_the_summary_is_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    write_summary({"rows": 3, "reasons": {"a\nb": 1}})
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out) == {"rows": 3, "reasons": {"a\nb": 1}}


def test_a_summary_that_is_not_json_for_every_reader_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_summary({"share": float("nan")}, io.StringIO())


def test_amounts_read_as_words() -> None:
    assert amount_of(1234.4, 5000, "rows") == "1,234 of 5,000 rows"
    assert amount_of(3, None, "") == "3"
