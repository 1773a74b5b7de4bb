"""The pages in a real browser: the script runs through, nothing complains, and the map has its marks."""

from pathlib import Path

import pytest

from foresail.pipeline.reports.evaluation import evaluation_page
from foresail.pipeline.reports.found import Found, TrackCount
from foresail.pipeline.reports.map_view import MapView, Mark, MarkGroup, TrackLine, map_data, map_markup
from foresail.pipeline.reports.page import Page, Section, paragraphs, write_page
from foresail.pipeline.reports.plots import sign_of
from foresail.pipeline.reports.timeline import TimeRow, TimeSpan, timeline
from foresail.pipeline.reports.tracks import search_box, track_section
from tests.pipeline.reports.browser import Loaded, find_browser, load
from tests.pipeline.reports.evaluation_case import PATTERNS, evaluation_case

BROWSER = find_browser()
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine: pages are only parsed, not shown")


def opened(page: Page, folder: Path, asked: str = "") -> Loaded:
    assert BROWSER is not None
    return load(BROWSER, write_page(folder / "page.html", page), folder / "profile", asked)


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


def test_a_vessel_is_looked_for_on_the_map_and_in_the_lists(tmp_path: Path) -> None:
    marks = tuple(Mark(n / 10, 50.0, n, n, ("x",), f"m{n}", track=("ANNA (1)", "BERTA (2)")[n % 2]) for n in range(10))
    lines = tuple(
        TrackLine(track, (((lon, 50.0, 0.0), (lon, 51.0, 9.0)),), name)
        for track, lon, name in (("1", 0.0, "ANNA"), ("2", 1.0, "BERTA"))
    )
    view = MapView((), lines, (MarkGroup("p", "Pattern", sign_of(0), marks, 10),))
    found = Found({}, (), (TrackCount("1", "ANNA", {"p": 5}), TrackCount("2", "BERTA", {"p": 5})), 2)
    (listing,) = track_section(found, 2, ["p"])
    body = search_box(view) + map_markup(view, "map-data")
    page = Page("A map", paragraphs("x"), (Section("map", "Map", body), listing), data={"map-data": map_data(view)})
    assert opened(page, tmp_path).marks == [10]
    sought = opened(page, tmp_path, "?find=berta")
    assert sought.complaints == ()
    assert sought.is_ready
    assert sought.marks == [5]
    assert "1 track on the map, 1 track with matches, 0 matches listed below." in sought.dom
    assert '<tr data-track="ANNA (1)" hidden="">' in sought.dom
    assert '<tr data-track="BERTA (2)">' in sought.dom


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
