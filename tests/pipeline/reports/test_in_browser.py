"""The pages in a real browser: the script runs through, nothing complains, and the map has its marks."""

from pathlib import Path

import pytest

from pipeline.reports.evaluation import evaluation_page
from pipeline.reports.map_view import MapView, Mark, MarkGroup, TrackLine, map_data, map_markup
from pipeline.reports.page import Page, Section, paragraphs, write_page
from pipeline.reports.palette import sign_of
from pipeline.reports.timeline import TimeRow, TimeSpan, timeline
from tests.pipeline.reports.browser import Loaded, find_browser, load
from tests.pipeline.reports.evaluation_case import PATTERNS, evaluation_case

BROWSER = find_browser()
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine: pages are only parsed, not shown")


def opened(page: Page, folder: Path) -> Loaded:
    assert BROWSER is not None
    return load(BROWSER, write_page(folder / "page.html", page), folder / "profile")


def test_a_map_of_many_marks_is_drawn_without_complaint(tmp_path: Path) -> None:
    marks = tuple(Mark(n / 500, 50 + n % 7 / 10, n, n + 60, ("</script>",), f"m{n}") for n in range(1000))
    line = TrackLine("a", (tuple((n / 500, 50.0, float(n)) for n in range(1000)),))
    groups = tuple(MarkGroup(f"p{n}", f"Pattern {n}", sign_of(n), marks[n::4], 250) for n in range(4))
    view = MapView((), (line,), groups)
    rows = [TimeRow(group.label, group.sign, {0: 250}) for group in groups]
    body = map_markup(view, "map-data") + timeline(rows, TimeSpan(0, 86_400))
    page = Page("A map", paragraphs("x"), (Section("map", "Map", body),), data={"map-data": map_data(view)})
    loaded = opened(page, tmp_path)
    assert loaded.complaints == ()
    assert loaded.is_ready
    assert loaded.marks == [1000]


def test_the_page_of_an_evaluation_has_a_map_for_each_pattern(tmp_path: Path) -> None:
    loaded = opened(evaluation_page(evaluation_case()), tmp_path)
    assert loaded.complaints == ()
    assert loaded.is_ready
    assert loaded.marks == [40] * len(PATTERNS)


def test_a_complaint_would_be_heard(tmp_path: Path) -> None:
    broken = map_markup(MapView((), (TrackLine("a", (((0.0, 0.0, 0.0),),)),), ()), "not-there")
    loaded = opened(Page("Broken", paragraphs("x"), (Section("map", "Map", broken),)), tmp_path)
    assert loaded.complaints != ()
    assert not loaded.is_ready
