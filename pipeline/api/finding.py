"""`fs.find`: frames of events in, frames of matches out."""

import warnings
from pathlib import Path
from typing import Any

from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.api.notices import ForesailWarning, say_naive, say_rejected, say_skipped
from foresail.pipeline.api.patterns import Patterns, as_catalog
from foresail.pipeline.errors import InputError
from foresail.pipeline.local.frames import is_spark, open_frame
from foresail.pipeline.local.layers import layers_at_hand
from foresail.pipeline.local.runner import find_matches
from foresail.pipeline.local.search import prepare_search
from foresail.pipeline.local.sorted_events import Named, SortedEvents, sort_events


def find(
    events: Any,
    patterns: Patterns,
    *,
    track: str = "track",
    time: str = "time",
    time_unit: str | None = None,
    layers: str | Path | Any | None = None,
    episodes: str = "all",
    skip_unfit: bool = False,
) -> Any:
    """The matches of `patterns` in `events`, as a frame of the same kind, a row per match or change of an episode.

    `events` is a frame of pandas, GeoPandas, pyarrow, polars or Spark; `track` and `time` say what it calls those.
    Times that are numbers need a `time_unit`. `layers`, a layers file, is for pattern families. `episodes="changes"`
    leaves out the rows `updated`. `skip_unfit` leaves out patterns that the events do not fit, and says so.
    Raises `InputError` for events, `PatternError` for patterns that cannot be used.
    """
    catalog, updates = as_catalog(patterns, languages=True), wants_updates(episodes)
    if catalog.others:
        return _find_in_language(events, catalog, Named(track, time, time_unit))
    if is_spark(events):
        from foresail.pipeline.api.spark_frames import find_in_spark  # noqa: PLC0415 - only where Spark is

        return find_in_spark(events, catalog, Named(track, time, time_unit), layers, episodes, skip_unfit)
    sorted_events = events_of(events, Named(track, time, time_unit))
    prepared = prepare_search(catalog, sorted_events, layers_at_hand(layers), skip_unfit, updates)
    say_skipped(prepared.fitting.skipped)
    matches = find_matches(prepared.sought, sorted_events, sorted_events.has_places)
    return sorted_events.frame.like(matches)


def _find_in_language(events: Any, catalog: Catalog, named: Named) -> Any:
    """The rows of entries in another language, as a frame of the same kind."""
    from foresail.pipeline.languages.runner import runner_of  # noqa: PLC0415 - only where there is one

    runner = runner_of(catalog)
    assert runner is not None, "the catalog has such entries"
    if is_spark(events):
        msg = "events: in a Spark frame only patterns are found. Give events.toPandas(), or use `foresail recognise`."
        raise InputError(msg)
    frame = open_frame(events)
    found = runner.in_frame(catalog, frame, named)
    for note in found.notes:
        warnings.warn(note, ForesailWarning, stacklevel=3)
    return frame.like(found.table)


def wants_updates(episodes: str) -> bool:
    """Whether the changes of open episodes are asked for too."""
    if episodes not in ("all", "changes"):
        msg = f"episodes='{episodes}': is neither 'all' nor 'changes', which leaves out the rows 'updated'. Give one."
        raise InputError(msg)
    return episodes == "all"


def events_of(events: Any, named: Named) -> SortedEvents:
    """The events of a frame in order; what a reader should know of them is said."""
    frame = open_frame(events)
    found = sort_events(frame, named)
    if found.naive:
        say_naive(named.time)
    say_rejected(found.rejected, frame.rows)
    return found
