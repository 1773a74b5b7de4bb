"""A real browser for the pages: what chromium makes of them, headless, and what it complains about."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--enable-logging=stderr", "--v=0", "--virtual-time-budget=4000",
    "--window-size=1400,1000",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Loaded:
    """The page after its script has run, and what the console says of it."""

    dom: str
    complaints: tuple[str, ...]

    @property
    def is_ready(self) -> bool:
        """Whether the script came to its end."""
        return 'data-ready="yes"' in self.dom

    @property
    def marks(self) -> list[int]:
        """How many marks each map has drawn."""
        return [int(number) for number in re.findall(r'<canvas[^>]* data-marks="(\d+)"', self.dom)]


def find_browser() -> str | None:
    """The browser of this machine, if it has one."""
    return next((found for found in map(shutil.which, NAMES) if found), None)


def load(browser: str, file: Path, profile: Path, asked: str = "") -> Loaded:
    """Open the file, with what a link may ask of it, and wait until it has settled."""
    command = [browser, *OPTIONS, f"--user-data-dir={profile}", "--dump-dom", file.as_uri() + asked]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    said = [line for line in ended.stderr.splitlines() if "CONSOLE" in line]
    return Loaded(ended.stdout, tuple(said))
