"""Windows: whether a match that began some time ago may still end now."""

from foresail.patterns.recognition.arrays import inlined
from foresail.patterns.recognition.tables import NEVER


@inlined
def expired(window_us: int, window_events: int, began: int, time: int, start: int, position: int) -> bool:
    """Whether the time from `began` or the events from `start` exceed the window (NEVER means there is none)."""
    if window_us != NEVER and time - began > window_us:
        return True
    return window_events != NEVER and position - start >= window_events
