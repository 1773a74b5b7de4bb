"""`fs.why`: why a pattern matched on a track, or did not, to read in a notebook or to look into."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from foresail.pipeline.api.finding import events_of
from foresail.pipeline.api.patterns import Patterns, as_catalog
from foresail.pipeline.errors import InputError
from foresail.pipeline.local.asking import explain_track
from foresail.pipeline.local.explanation import Explanation
from foresail.pipeline.local.explanation_words import as_json, text_lines
from foresail.pipeline.local.frames import is_spark
from foresail.pipeline.local.layers import layers_at_hand
from foresail.pipeline.local.sorted_events import Named


@dataclass(frozen=True, slots=True)
class Why:
    """Explanations, one for each pattern; printed they are words, in a notebook a drawing and a table."""

    explanations: tuple[Explanation, ...]
    at: datetime | None = None

    def __str__(self) -> str:
        return "\n\n".join("\n".join(text_lines(why, self.at)) for why in self.explanations)

    __repr__ = __str__

    def to_json(self) -> list[dict[str, Any]]:
        """The same as plain values."""
        return [as_json(why, self.at) for why in self.explanations]

    def _repr_html_(self) -> str:
        from foresail.pipeline.api.pictures import framed  # noqa: PLC0415 - only where it is shown
        from foresail.pipeline.reports.page import render_page  # noqa: PLC0415
        from foresail.pipeline.reports.why_section import why_page  # noqa: PLC0415

        return framed(render_page(why_page(self.explanations)), 640)


def why(
    events: Any,
    patterns: Patterns,
    of: str,
    *,
    at: str | datetime | None = None,
    track: str = "track",
    time: str = "time",
    time_unit: str | None = None,
    layers: str | Path | Any | None = None,
    instance: str | None = None,
) -> Why:
    """Why `patterns` matched on the track `of`, or did not: which conditions held on each event, and the nearest miss.

    `at` asks for the events around a moment, `instance` for one feature of a family's layer. Raises `InputError` where
    there is no such track.
    """
    if is_spark(events):
        msg = "events: a Spark frame is explained track by track. Give events.where(track = ...).toPandas()."
        raise InputError(msg)
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    if moment is not None and moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    found = events_of(events, Named(track, time, time_unit))
    catalog = as_catalog(patterns)
    return Why(explain_track(catalog, found, str(of), layers_at_hand(layers), instance), moment)
