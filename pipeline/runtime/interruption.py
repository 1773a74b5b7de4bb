"""Ctrl-C: noticed once for the whole process, held back where it would leave something half-done."""

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_HAPPENED = threading.Event()
"""A signal is the process's, so this is too."""


def has_been_interrupted() -> bool:
    """Whether Ctrl-C was pressed: what fails from then on is its consequence, and what Java says of it is noise."""
    return _HAPPENED.is_set()


def notice(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a signal handler's signature
    """Remember that Ctrl-C was pressed, and interrupt what runs."""
    _HAPPENED.set()
    logging.disable()  # py4j logs a trace for each call that was cut off
    raise KeyboardInterrupt


def notice_interruption() -> None:
    """Have Ctrl-C noticed from now on."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, notice)


@contextmanager
def interruption_delayed() -> Iterator[None]:
    """Hold Ctrl-C back until the block ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupted = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted.is_set():
        signal.raise_signal(signal.SIGINT)  # for whoever had it before
