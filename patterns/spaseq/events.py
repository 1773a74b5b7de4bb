"""An event of a SPAseq stream, and what was wrong with one that is not taken."""

from dataclasses import dataclass

MOST_CHARACTERS = 1_000_000
"""Of the graph of one event."""


@dataclass(frozen=True, slots=True)
class GraphEvent:
    """A graph at an instant of a named stream."""

    stream: str
    """An IRI."""
    time_us: int
    text: str
    """Turtle."""
    origin: str = ""
    """Where it was read, such as `file:12`; shown when it is rejected."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """An event that is not taken, and why."""

    origin: str
    reason: str
    detail: str
