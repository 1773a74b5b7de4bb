"""A page is one file that fetches nothing, and whose data cannot break out of it."""

import base64
import hashlib
import json
import re
from html import unescape
from pathlib import Path

from foresail.pipeline.reports.markup import tag
from foresail.pipeline.reports.page import Page, Section, embedded, paragraphs, render_page, write_page

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
