"""What is kept of a bucket between micro-batches, and its form in Spark's state store."""

import json
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from foresail.arrow_bytes import table_from_bytes, table_to_bytes
from foresail.patterns.recognition.forms import MonitorForm, form_from
from foresail.patterns.recognition.monitor import MonitorState
from foresail.pipeline.stream.control.message import Configuration, configuration_from
from foresail.pipeline.stream.state.codec import StateFormatError, decode, encode
from foresail.pipeline.stream.state.form import NO_TRACKS, template

SAVED_DDL = "about string, tracks binary, waiting binary, pending binary, alerts binary, past binary, recent binary"
CHUNK_DDL = "about string, tracks binary"


LONGEST_TICK_US = 60_000_000
"""A line that runs hears the clock tick more often than this."""

STATE_FORMAT = 2
"""Counted up whenever what is written here can no longer be read by an earlier foresail, or the reverse."""


@dataclass(frozen=True, slots=True)
class BucketClock:
    """Event time as the bucket knows it, and when it last heard of anything."""

    now_us: int = 0
    """Every timer up to here has fired."""
    agreed_us: int = 0
    """The time that several tracks have reached."""
    moved_us: int = 0
    """Processing time at which events moved `agreed_us` last."""
    wall_us: int = 0
    """Processing time as of the last tick."""

    def hearing(self, agreed_us: int | None, tick_us: int) -> "BucketClock":
        """The clock after a micro-batch whose events agree on a time, or without events, and this last tick, or 0.

        Tracks that agree on an earlier time than before set it back: what was believed of one alone was wrong.
        """
        wall_us = max(self.wall_us, tick_us)
        if agreed_us is not None and agreed_us != self.agreed_us:
            return replace(self, agreed_us=agreed_us, moved_us=wall_us, wall_us=wall_us)
        # where events came before the first tick, silence is measured from that tick on
        moved_us = self.moved_us or (wall_us if self.agreed_us else 0)
        if agreed_us is not None and wall_us - self.wall_us > LONGEST_TICK_US:
            moved_us += wall_us - self.wall_us  # the line was down: that was no silence, for there are events
        return replace(self, moved_us=moved_us, wall_us=wall_us)

    @property
    def reached_us(self) -> int:
        """How far event time has come: by the events, and with the wall clock while they do not move it."""
        return self.agreed_us + (max(0, self.wall_us - self.moved_us) if self.moved_us else 0)


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """A bucket at rest: its configuration, its clock, the tracks at hand, and the events that wait."""

    configuration: Configuration
    clock: BucketClock
    tracks: NDArray[np.object_]
    states: bytes
    """`MonitorState` of the tracks, encoded."""
    form: MonitorForm
    """What the states belong to."""
    crossed: dict[str, list[str]] = field(default_factory=dict)
    """The conditions whose words the waiting events carry; those of family groups by their layer."""
    waiting: pd.DataFrame | None = None
    features: tuple[tuple[str, ...], ...] = ()
    """For each family group the names of the features that were met, in the order of their numbers."""
    chunks: tuple[int, ...] = ()
    """Which chunks of resting tracks there are."""
    sweep: int = 0
    """Which chunk of resting tracks is looked at next."""
    notes: dict[str, Any] = field(default_factory=dict)
    """What scores remember."""
    pending: pd.DataFrame | None = None
    """Forecasts whose outcome is not known yet."""
    alerts: bytes = b""
    """What alerts remember, encoded."""
    past_tracks: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, dtype=object))
    past: bytes = b""
    """Where late events are read after all: `MonitorState` of the tracks before their recent events, encoded."""
    recent: pd.DataFrame | None = None


def to_row(saved: Saved) -> tuple[str, bytes, bytes, bytes, bytes, bytes, bytes]:
    """`saved` as a row of the state store."""
    about = {
        "format": STATE_FORMAT,
        "configuration": saved.configuration.to_text(),
        "form": saved.form.as_plain(),
        "crossed": saved.crossed,
        "clock": astuple(saved.clock),
        "tracks": list(saved.tracks),
        "features": saved.features,
        "chunks": saved.chunks,
        "sweep": saved.sweep,
        "notes": saved.notes,
        "past": list(saved.past_tracks),
    }
    frames = (saved.waiting, saved.pending, saved.recent)
    waiting, pending, recent = map(_frame_bytes, frames)
    return json.dumps(about), saved.states, waiting, pending, saved.alerts, saved.past, recent


def from_row(row: tuple[Any, ...]) -> Saved:
    """What `to_row` made a row of."""
    about = _about(row)
    return Saved(
        configuration=configuration_from(about["configuration"]),
        form=form_from(about["form"]),
        crossed=about["crossed"],
        clock=BucketClock(*about["clock"]),
        tracks=np.array(about["tracks"], dtype=object),
        states=bytes(row[1]),
        waiting=_frame(bytes(row[2])),
        features=tuple(map(tuple, about["features"])),
        chunks=tuple(about["chunks"]),
        sweep=about["sweep"],
        notes=about["notes"],
        pending=_frame(bytes(row[3])),
        alerts=bytes(row[4]),
        past_tracks=np.array(about["past"], dtype=object),
        past=bytes(row[5]),
        recent=_frame(bytes(row[6])),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Tracks at rest, in the form of the line that last read them."""

    form: MonitorForm
    tracks: NDArray[np.object_]
    states: bytes


def chunk_to_row(chunk: Chunk) -> tuple[str, bytes]:
    """`chunk` as a row of the state store."""
    about = {"format": STATE_FORMAT, "form": chunk.form.as_plain(), "tracks": list(chunk.tracks)}
    return json.dumps(about), chunk.states


def chunk_from_row(row: tuple[Any, ...]) -> Chunk:
    """What `chunk_to_row` made a row of."""
    about = _about(row)
    return Chunk(form_from(about["form"]), np.array(about["tracks"], dtype=object), bytes(row[1]))


def _about(row: tuple[Any, ...]) -> dict[str, Any]:
    about: dict[str, Any] = json.loads(row[0])
    number = about.get("format")
    if number != STATE_FORMAT:
        written = "before its state had a number" if number is None else f"with state of format {number}"
        msg = (
            f"checkpoint: was written by another foresail {written}; this one reads format {STATE_FORMAT}. "
            "Name a new folder in stream.checkpoint."
        )
        raise StateFormatError(msg)
    return about


def encode_states(state: MonitorState) -> bytes:
    """The state of tracks as bytes."""
    return encode(state)


def decode_states(stored: bytes, form: MonitorForm) -> MonitorState:
    """The state of tracks that `encode_states` wrote for a line of that form."""
    shape = MonitorState(NO_TRACKS.last_time, tuple(template(part) for part in form.parts))
    state: MonitorState = decode(stored, shape)
    return state


def _frame_bytes(frame: pd.DataFrame | None) -> bytes:
    if frame is None or not len(frame):
        return b""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return table_to_bytes(table, compression="lz4")


def _frame(stored: bytes) -> pd.DataFrame | None:
    if not stored:
        return None
    frame: pd.DataFrame = table_from_bytes(stored).to_pandas()
    return frame
