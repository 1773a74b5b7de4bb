"""The page in a real browser: what a person sees and does, over a recorded line that goes on while they look."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from foresail.pipeline.console.serving import Server
from tests.pipeline.console.conftest import console_settings, serving, until
from tests.pipeline.console.recorded_line import HOSTILE, alert, position, write_batch, write_line

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
MOVING = "227000009"
PATIENCE_MS = 20_000
GRAVE = ("serious", "critical")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture
def line(tmp_path: Path) -> Path:
    write_line(tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def server(line: Path, tmp_path: Path) -> Iterator[Server]:
    with serving(console_settings(line, tmp_path / "console.db")) as running:
        until(lambda: running.console.reader.feed.caught_up)
        yield running


class Visitor:
    """One who looks at the page; what went wrong in it is kept."""

    def __init__(self, browser: Browser, address: str, cookies: Any = None, size: Any = None) -> None:
        self.context = browser.new_context(viewport=size or WIDE)
        self.faults: list[str] = []
        if cookies:
            self.context.add_cookies(cookies)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: self.faults.append(f"a dialog: {dialog.message}"))
        self.page.on("console", lambda said: self.faults.append(said.text) if "Content Security" in said.text else None)
        self.page.goto(address)
        ready(self.page)

    def tracks(self, name: str) -> Any:
        return self.page.evaluate("(name) => window.foresail.desk.shown.tracks.get(name)", name)


def ready(page: Page) -> None:
    page.wait_for_selector("body[data-ready=yes]", timeout=PATIENCE_MS)


def home(server: Server) -> str:
    return server.address.split("?")[0]


def test_a_vessel_moves_an_alert_comes_is_acknowledged_and_others_see_it(
    browser: Browser, server: Server, line: Path, tmp_path: Path
) -> None:
    first = Visitor(browser, server.address)
    page = first.page
    expect(page.locator("body")).to_have_attribute("data-tracks", "40")
    expect(page.locator("#list .item")).to_have_count(4)
    expect(page.locator("#list .who").get_by_text(HOSTILE[0], exact=True)).to_have_count(1)
    second = Visitor(browser, home(server), first.context.cookies())

    before = first.tracks(MOVING)
    write_batch(line, "tracks", 60, [position(n, 62) for n in range(40)])
    write_batch(line, "alerts", 60, [alert(MOVING, "drifting", 62, severity="critical")])
    shown = page.locator("#list .item", has_text="VESSEL 9")
    expect(shown).to_have_count(1, timeout=3000)
    expect(page.locator("#list .item").first).to_contain_text("VESSEL 9")
    assert first.tracks(MOVING)[2:4] != before[2:4]
    expect(page.locator("#clock")).to_have_text("13:02:00")
    expect(page.locator("#said")).to_contain_text("New alert")

    shown.click()
    expect(page.locator("#detail h2")).to_have_text("Drifting")
    expect(page.locator("#detail .automaton svg")).to_have_count(1)
    page.locator("#acknowledge").click()
    expect(page.get_by_role("button", name="Reopen")).to_be_visible()
    expect(second.page.locator("#list .item", has_text="VESSEL 9")).to_have_count(0)

    server.stop()
    expect(page.locator("#banner")).to_contain_text("does not answer", timeout=PATIENCE_MS)
    until(lambda: not server.console.reader._thread.is_alive())
    with serving(console_settings(line, tmp_path / "console.db"), server.port):
        expect(page.locator("#status")).to_have_text("live", timeout=PATIENCE_MS)
        expect(page.locator("#banner")).to_be_hidden()
        page.reload()
        ready(page)
        expect(page.locator("#detail")).to_contain_text("Acknowledged by local")
    assert first.faults == []
    assert second.faults == []


def test_the_slider_shows_the_past_and_a_link_leads_back_to_it(browser: Browser, server: Server) -> None:
    visitor = Visitor(browser, server.address)
    page = visitor.page
    now = visitor.tracks(MOVING)
    slider = page.locator("#slider")
    slider.focus()
    slider.press("Home")
    expect(page.locator("#status")).to_have_text("the past")
    expect(page.locator("#clock")).to_have_text("12:00:00")
    expect(page.locator("#list .item")).to_have_count(0)
    assert visitor.tracks(MOVING)[2:4] != now[2:4]

    page.goto(f"{home(server)}#map=9/48.3/-4.9&time=2024-05-01T12:10:00Z")
    page.reload()
    ready(page)
    expect(page.locator("#clock")).to_have_text("12:10:00")
    expect(page.locator("#list .item")).to_have_count(1)  # the one that was closed at half past
    page.locator("#play").click()
    expect(page.locator("#clock")).not_to_have_text("12:10:00")
    page.locator("#live").click()
    expect(page.locator("#status")).to_have_text("live")
    assert visitor.tracks(MOVING)[2:4] == now[2:4]

    page.goto(f"{home(server)}#alert={'0' * 32}")
    page.reload()
    ready(page)
    expect(page.locator("#toast")).to_contain_text("there is no such alert")
    assert visitor.faults == []


def test_keys_search_follow_filter_measure_and_save(browser: Browser, server: Server) -> None:
    visitor = Visitor(browser, server.address)
    page = visitor.page
    page.keyboard.press("/")
    page.keyboard.type("vessel 12")
    expect(page.locator("#found li").first).to_contain_text("VESSEL 12")
    page.keyboard.press("Enter")
    expect(page.locator("#card")).to_contain_text("VESSEL 12")
    page.locator("#search").blur()
    page.keyboard.press("f")
    assert page.evaluate("() => window.foresail.desk.following")
    page.keyboard.press("j")
    expect(page.locator("#detail h2")).to_have_text("Drifting")
    page.keyboard.press("Escape")
    expect(page.locator("#detail")).to_be_hidden()

    page.locator("#filter-toggle").click()
    page.locator("#f-severity").select_option("critical")
    expect(page.locator("#list .item")).to_have_count(1)
    expect(page.locator("body")).to_have_attribute("data-tracks", "1")
    page.locator("#f-reset").click()
    expect(page.locator("body")).to_have_attribute("data-tracks", "40")

    page.keyboard.press("m")
    page.mouse.click(700, 300)
    page.mouse.click(800, 360)
    expect(page.locator("#measured")).to_have_text(re.compile(r"[\d.]+ km · [\d.]+ nautical miles"))
    page.keyboard.press("Escape")
    for form in ("geojson", "csv", "png"):
        page.locator("#export").click()
        with page.expect_download() as download:
            page.locator(f"[data-form={form}]").click()
        assert Path(download.value.path()).stat().st_size > 200
    assert visitor.faults == []


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_axe_finds_nothing_serious_in_light_and_dark(browser: Browser, server: Server, size: dict[str, int]) -> None:
    visitor = Visitor(browser, server.address, size=size)
    page = visitor.page
    looks = {
        "list": lambda: None,
        "detail": lambda: page.locator("#list .item", has_text="Brest").click(),
        "patterns": lambda: page.locator("#open-patterns").click(),
        "health": lambda: page.locator("#open-health").click(),
    }
    for theme in ("light", "dark"):
        for name, look in looks.items():
            look()
            page.wait_for_timeout(400)
            found = Axe().run(page).response["violations"]
            grave = [f"{fault['id']}: {fault['nodes'][0]['html']}" for fault in found if fault["impact"] in GRAVE]
            assert grave == [], f"{name}, {theme}"
            page.keyboard.press("Escape")
        page.locator("#theme").click()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark" if theme == "light" else "light")
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    assert visitor.faults == []


def test_a_used_token_opens_nothing_and_says_what_to_do(browser: Browser, server: Server) -> None:
    Visitor(browser, server.address)
    page = browser.new_context().new_page()
    page.goto(server.address)
    expect(page.locator("#login-dialog")).to_contain_text("once")
    expect(page.locator("#list .item")).to_have_count(0)
