"""`foresail demo --live` as a newcomer starts it: a real broker, a real line, a real browser; Ctrl-C ends all of it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from foresail.pipeline.kafka import status_of

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run"]
STARTED_WITHIN_S = 300
SEEN_WITHIN_MS = 120_000


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
def test_a_newcomer_sees_vessels_alerts_and_a_knob_that_takes_hold(tmp_path: Path) -> None:
    out = tmp_path / "live"
    command = [sys.executable, "-m", "foresail", "demo", "--live", "--tracks", "12", "--port", "0", "--out", str(out)]
    with (tmp_path / "said").open("w+") as said:
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True)
        try:
            _look_on(_address(running))
        finally:
            running.send_signal(signal.SIGINT)
            code = running.wait(timeout=120)
        said.seek(0)
        assert code == 0, said.read()
    assert not status_of(out / "kafka").running


def _address(running: "subprocess.Popen[str]") -> str:
    deadline = time.monotonic() + STARTED_WITHIN_S
    assert running.stdout is not None
    line = running.stdout.readline().strip()
    assert time.monotonic() < deadline
    assert line.startswith("http://127.0.0.1:"), line
    return line


def _look_on(address: str) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("body[data-ready=yes]", timeout=60_000)
        page.wait_for_selector("body[data-tracks]:not([data-tracks='0'])", timeout=SEEN_WITHIN_MS)
        page.wait_for_selector("body[data-alerts]:not([data-alerts='0'])", timeout=SEEN_WITHIN_MS)
        clock = page.locator("#clock").text_content() or ""
        expect(page.locator("#clock")).not_to_have_text(clock, timeout=SEEN_WITHIN_MS)
        page.locator("#open-patterns").click()
        knobs = page.locator("details.pattern[data-pattern=port_entry]")
        knobs.locator("summary").click()
        knobs.locator("input[name=threshold]").fill("0.2")
        knobs.get_by_role("button", name="Send to the line").click()
        expect(knobs).to_contain_text("Accepted by the line", timeout=60_000)
        browser.close()
