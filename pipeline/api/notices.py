"""What is worth saying to someone at a prompt or in a notebook, as Python's warnings: it is said, and work goes on."""

import warnings
from collections.abc import Iterable, Mapping, Sized

from foresail.pipeline.reports.page import count_of


class ForesailWarning(UserWarning):
    """Something about the events that a reader of the results should know."""


class NaiveTimeWarning(ForesailWarning):
    """Times without a zone were taken as UTC."""


_said: set[str] = set()
REASONS = {
    "no_track": "without a track",
    "no_time": "without a time",
    "bad_time": "whose time cannot be read",
    "unreadable": "that cannot be read",
}


def say_naive(column: str) -> None:
    """Times of this column have no zone: said once in a process, however often it is so."""
    if NaiveTimeWarning.__name__ in _said:
        return
    _said.add(NaiveTimeWarning.__name__)
    text = f"column '{column}' has times without a zone: they are taken as UTC. Use tz_localize to say otherwise."
    warnings.warn(text, NaiveTimeWarning, stacklevel=4)


def rejected_text(rejected: Mapping[str, int], rows: int) -> str:
    """How many rows were left out, and why."""
    reasons = ", ".join(f"{number:,} {REASONS.get(reason, reason)}" for reason, number in rejected.items())
    return f"{count_of(sum(rejected.values()), 'row')} of {rows:,} left out: {reasons}"


def say_rejected(rejected: Mapping[str, Sized], rows: int) -> None:
    """Rows that are no events were left out."""
    if rejected:
        counts = {reason: len(some) for reason, some in rejected.items()}
        warnings.warn(f"events: {rejected_text(counts, rows)}.", ForesailWarning, stacklevel=4)


def say_notes(notes: Iterable[str]) -> None:
    """What a reader of results should know, a warning each."""
    for note in notes:
        warnings.warn(note, ForesailWarning, stacklevel=4)


def say_skipped(skipped: Mapping[str, str], what: str = "not looked for") -> None:
    """Patterns that the events do not fit were left out."""
    if skipped:
        from foresail.pipeline.fitting import left_out_lines  # noqa: PLC0415 - seldom needed

        warnings.warn(f"{what}: {'; '.join(left_out_lines(skipped))}.", ForesailWarning, stacklevel=4)
