"""A page is one file that fetches nothing, and whose data cannot break out of it.

Nothing that comes from data becomes HTML by itself.

Numbers and times as a reader says them.
"""

import base64
import hashlib
import json
import re
from datetime import UTC, datetime, timedelta, timezone
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresail.pipeline.reports.page import (
    Column,
    Markup,
    Page,
    Section,
    count_of,
    counted,
    embedded,
    joined,
    listed,
    moment,
    number,
    paragraphs,
    render_page,
    safe,
    share,
    span,
    table,
    tag,
    times,
    titled,
    write_page,
)

EVIL = "</script><script>alert(1)</script>"


def page(**changes: object) -> Page:
    sections = (Section("one", "One & only", tag("p", EVIL)), Section("two", "Two", tag("p", "b")))
    held = {"title": EVIL, "lead": paragraphs(EVIL), "sections": sections, "data": {"x-data": {"name": EVIL}}}
    return Page(**(held | changes))  # type: ignore[arg-type]


def test_nothing_is_fetched_from_anywhere() -> None:
    text = render_page(page())
    assert not re.findall(r"""(?:src|href)=["'](?!#)""", text)
    assert "url(http" not in text
    assert "@import" not in text
    assert "default-src 'none'" in unescape(text)


def test_names_from_data_stay_text() -> None:
    text = render_page(page())
    assert EVIL not in text
    assert "alert(1)</script>" not in text
    assert text.count("<script") == 2, "the data and the page's own script"


def test_data_can_be_read_back_whatever_it_holds() -> None:
    held = {"name": f"{EVIL}\u2028&<>", "numbers": [1, 2.5, None]}
    inner = embedded("key", held).partition(">")[2].rpartition("<")[0]
    assert json.loads(inner) == held
    assert "<" not in inner


def test_only_the_pages_own_script_may_run() -> None:
    text = render_page(page())
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in unescape(text)


def test_each_section_has_a_link(tmp_path: Path) -> None:
    text = write_page(tmp_path / "report.html", page()).read_text(encoding="utf-8")
    assert '<a href="#one">One &amp; only</a>' in text
    assert '<section id="one">' in text
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@given(st.text())
def test_plain_text_never_opens_an_element(text: str) -> None:
    for made in (safe(text), tag("p", text), tag("p", title=text), joined(["a", text]), Markup("<b></b>") + text):
        inner = made.removeprefix("<p").removesuffix("</p>").removeprefix("<b></b>")
        assert "<" not in inner.lstrip(">")


def test_markup_is_kept_as_it_is() -> None:
    assert tag("p", Markup("<b>x</b>"), "<") == "<p><b>x</b>&lt;</p>"


def test_attributes_are_escaped_and_named_as_html_names_them() -> None:
    assert tag("i", class_="a", data_from=1, title='"<') == '<i class="a" data-from="1" title="&quot;&lt;"></i>'
    assert tag("input", checked=True, disabled=False, name=None) == "<input checked>"


def test_a_cell_of_a_table_is_escaped() -> None:
    made = table([Column("a"), Column("b", numeric=True)], [("<x>", 1)])
    assert "&lt;x&gt;" in made
    assert '<td class="n">1</td>' in made


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (40, "40 s"),
        (60, "1 min"),
        (125, "2 min 05 s"),
        (840, "14 min"),
        (7500, "2 h 05 min"),
        (90_000, "1 d 01 h"),
        (531, "9 min"),
        (86_397, "24 h 00 min"),
    ],
)
def test_a_length_of_time_is_said_in_its_largest_units(seconds: float, said: str) -> None:
    assert span(seconds) == said


def test_moments_are_said_in_utc() -> None:
    east = datetime(2026, 3, 2, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert moment(east) == "2026-03-01 23:30"
    assert moment(datetime(2026, 3, 2, 1, 30, 5, tzinfo=UTC), seconds=True) == "2026-03-02 01:30:05"


def test_counts_shares_and_lists_read_like_sentences() -> None:
    assert [count_of(1, "match", "matches"), count_of(1200, "match", "matches")] == ["1 match", "1,200 matches"]
    assert [times(1), times(2), times(3)] == ["once", "twice", "3 times"]
    assert [share(0.5), share(0.0), share(0.004), share(None)] == ["50%", "0%", "0.4%", "–"]
    assert [listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
    assert titled("port_entry") == "Port entry"
    assert [number(12345.6), number(0.12345), number(12.0), number(float("nan"))] == [
        "12,346",
        "0.123",
        "12",
        "unknown",
    ]


def test_one_thing_is_not_counted_as_many() -> None:
    assert counted(1, "track") == ("1", "track")
    assert counted(2345, "match to foretell", "matches to foretell") == ("2,345", "matches to foretell")
