"""Progress of long work on standard error, and the one JSON object that ends standard output.

On a terminal a spinner or bar moves; elsewhere (a log, a pipe) plain lines appear at a calm pace; --quiet shows none.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_LINE_EVERY_S = 5.0


@dataclass(frozen=True, slots=True)
class Progress:
    """What the user sees of work under way; `console` is None when nothing is to be seen."""

    console: "Console | None"
    clock: Callable[[], float] = time.monotonic

    def say(self, line: str) -> None:
        """Show one line."""
        if self.console:
            self.console.print(f"foresail: {line}", markup=False, highlight=False, soft_wrap=True)

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Show that `text` is going on, and when the block ends how many seconds it took."""
        began = self.clock()
        if self.console and self.console.is_terminal:
            with self.console.status(text):
                yield
        else:
            self.say(f"{text} ...")
            yield
        self.say(f"{text}: {self.clock() - began:.1f} s")

    @contextmanager
    def count(self, text: str, total: float | None = None, unit: str = "") -> Iterator[Callable[[float], None]]:
        """Show how much of `total` is done; the block calls what it receives with each amount that is finished."""
        began = self.clock()
        done = 0.0
        with self._display(text, total, unit, began) as show:

            def advance(amount: float = 1) -> None:
                nonlocal done
                done += amount
                show(done)

            yield advance
        self.say(f"{text}: {amount_of(done, None, unit)}, {self.clock() - began:.1f} s")

    @contextmanager
    def _display(self, text: str, total: float | None, unit: str, began: float) -> Iterator[Callable[[float], None]]:
        if not self.console or not self.console.is_terminal:
            yield self._plain(text, total, unit, began)
            return
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - only where a bar is drawn
        from rich.progress import Progress as Bars  # noqa: PLC0415

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[amount]}"))
        with Bars(*columns, TimeElapsedColumn(), console=self.console, transient=True) as bars:
            task = bars.add_task(text, total=total, amount="")
            yield lambda done: bars.update(task, completed=done, amount=amount_of(done, total, unit))

    def _plain(self, text: str, total: float | None, unit: str, began: float) -> Callable[[float], None]:
        last_shown = began

        def show(done: float) -> None:
            nonlocal last_shown
            now = self.clock()
            if now - last_shown >= PLAIN_LINE_EVERY_S:
                last_shown = now
                self.say(f"{text}: {amount_of(done, total, unit)}, {now - began:.0f} s ...")

        return show


def open_progress(quiet: bool = False, stream: TextIO | None = None) -> Progress:
    """Progress on standard error (or `stream`), or silence."""
    if quiet:
        return Progress(None)
    from rich.console import Console  # noqa: PLC0415 - a quiet command does not load rich

    return Progress(Console(file=stream or sys.stderr))


SILENT = Progress(None)
"""For callers that have nobody to show progress to."""


def amount_of(done: float, total: float | None, unit: str) -> str:
    """`3 of 12 files`, `3 files` when the total is unknown; fractions are rounded."""
    of_total = f" of {total:,.0f}" if total is not None else ""
    return f"{done:,.0f}{of_total} {unit}".rstrip()


def write_summary(summary: Mapping[str, Any], stream: TextIO | None = None) -> None:
    """Print `summary` as one line of JSON: what --json promises as the last line of standard output."""
    out = stream or sys.stdout
    out.write(json.dumps(summary, default=str, allow_nan=False) + "\n")
    out.flush()
