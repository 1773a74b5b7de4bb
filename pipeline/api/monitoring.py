"""`fs.Monitor`: for people with a loop of their own, a Kafka consumer or a simulation."""

import struct
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from foresail.models.groups import PER_TRACK
from foresail.models.model import Emission
from foresail.pipeline.api.finding import events_of, wants_updates
from foresail.pipeline.api.models import AnyModels, opened
from foresail.pipeline.api.notices import ForesailWarning, say_notes
from foresail.pipeline.api.patterns import Patterns, as_catalog
from foresail.pipeline.errors import InputError
from foresail.pipeline.local.forecasting import EventColumns, ask_models, frame_events
from foresail.pipeline.local.frames import is_spark
from foresail.pipeline.local.layers import layers_at_hand
from foresail.pipeline.local.search import prepare_search
from foresail.pipeline.local.sorted_events import Named, SortedEvents
from foresail.pipeline.local.track_monitor import TrackForecaster, TrackMonitor, check_form
from foresail.pipeline.reports.page import count_of
from foresail.pipeline.training.serving import Choosing, silent_models
from foresail.pipeline.training.symbols import Membership

_LENGTH = struct.Struct("<Q")


class Monitor:
    """Patterns over events that come batch by batch; what is found does not depend on how they are cut.

    With `models`, what `fs.train` gave or the folder of a store, `forecasts` has what they say after the events of the
    last call. `late` counts events that were before the last one of their track: they are left out, and it is said.
    """

    def __init__(
        self,
        patterns: Patterns,
        models: AnyModels | None = None,
        *,
        track: str = "track",
        time: str = "time",
        time_unit: str | None = None,
        layers: str | Path | Any | None = None,
        episodes: str = "all",
        emit: Emission = "all",
        threshold: float | None = None,
    ) -> None:
        self._catalog = as_catalog(patterns)
        self._named = Named(track, time, time_unit)
        self._layers = layers_at_hand(layers)
        self._updates = wants_updates(episodes)
        self._models = None if models is None else opened(models)
        self._emission, self._choosing = emit, Choosing(threshold=threshold)
        self._running: TrackMonitor | None = None
        self._forecasting: TrackForecaster | None = None
        self._saved: bytes | None = None
        self.late = 0
        self.forecasts: Any = None
        """After a call of `advance`: the forecasts after its events, as a frame of their kind; None without models."""

    def advance(self, events: Any) -> Any:
        """The matches that these events complete, as a frame of their kind."""
        if is_spark(events):
            msg = "events: a monitor runs in this process. Give a frame of pandas, pyarrow or polars."
            raise InputError(msg)
        found = self._in_time(events_of(events, self._named))
        places = found.has_places
        matches = self._monitor(found).advance(found, places)
        if self._forecasting is not None:
            self.forecasts = found.frame.like(self._forecasting.advance(found, places))
        return found.frame.like(matches)

    def state(self) -> bytes:
        """All that is remembered of the tracks, to be kept and given to `resume`."""
        if self._running is None:
            return self._saved or b""
        matches = self._running.saved()
        forecasts = b"" if self._forecasting is None else self._forecasting.saved()
        return _LENGTH.pack(len(matches)) + matches + forecasts

    def resume(self, state: bytes) -> "Monitor":
        """Go on where `state` was saved, by a monitor of the same patterns; this one.

        Raises `InputError` for what is no state, for one of another form, and, at the latest with the first events, for
        one of other patterns.
        """
        if state:
            check_form(_parts(state)[0])
        self._saved = state or None
        self._running = self._forecasting = None
        return self

    def _monitor(self, events: SortedEvents) -> TrackMonitor:
        if self._running is None:
            prepared = prepare_search(self._catalog, events, self._layers, updates=self._updates)
            running = TrackMonitor(prepared.sought)
            forecasting = self._forecaster(events)
            if self._saved:
                _restore(self._saved, running, forecasting)
            self._running, self._forecasting = running, forecasting
        return self._running

    def _forecaster(self, events: SortedEvents) -> TrackForecaster | None:
        if self._models is None:
            return None
        read = frame_events(self._catalog, events, self._layers)
        known = replace(EventColumns.of(read), grouped=(PER_TRACK,))
        asked = ask_models(
            self._catalog,
            known,
            self._models.store,
            self._emission,
            self._choosing,
            lambda per: {p: Membership() for p in per},  # of one track each: no others are known before all events are
        )
        say_notes([*asked.warnings, *silent_models(asked.served)])
        return TrackForecaster(asked)

    def _in_time(self, events: SortedEvents) -> SortedEvents:
        late = self._monitor(events).late(events)
        number = int(np.count_nonzero(late))
        if not number:
            return events
        self.late += number
        text = f"{count_of(number, 'event')} before the last one of their track left out: give events in order of time."
        warnings.warn(text, ForesailWarning, stacklevel=3)
        return events.without(late)


def _parts(saved: bytes) -> tuple[bytes, bytes]:
    """The state of matches and that of forecasts."""
    size = _LENGTH.unpack_from(saved)[0] if len(saved) >= _LENGTH.size else 0
    return saved[_LENGTH.size : _LENGTH.size + size], saved[_LENGTH.size + size :]


def _restore(saved: bytes, running: TrackMonitor, forecasting: TrackForecaster | None) -> None:
    """Let both go on where `saved` was made; a state without forecasts does not fit a monitor with models."""
    matches, forecasts = _parts(saved)
    running.restore(matches)
    if bool(forecasts) != (forecasting is not None):
        with_models = "with" if forecasts else "without"
        msg = f"state: was saved by a monitor {with_models} models. Give this one the same, or begin anew."
        raise InputError(msg)
    if forecasting is not None:
        forecasting.restore(forecasts)
