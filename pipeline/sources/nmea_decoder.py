"""NMEA lines to messages, one file after the other: joins parts, keeps the clock, and lets no bad line end the stream.

Every line that goes in comes out once. A message of several lines stands at its last line; its other lines come out as
`message_part` (or `not_a_position`), so that lines in are lines out.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from pyais import decode

from foresail.pipeline.sources.nmea import Sentence, clock_of, parse_sentence

POSITION_TYPES = (1, 2, 3, 4, 9, 11, 18, 19, 21, 27)
STATION_TYPES = {4: "base_station", 9: "sar_aircraft", 11: "base_station", 21: "aid_to_navigation"}
CLOCK_TYPES = (4, 11)
LEAST_BITS = {**dict.fromkeys((1, 2, 3, 4, 9, 11, 18), 168), 5: 420, 19: 312, 21: 272, 24: 160, 27: 96}
"""How long a message of each type is at least (ITU-R M.1371): of a shorter one the last value is wrong, not missing."""
LONG_RANGE_TYPE = 27
LONG_RANGE_NO_SPEED, LONG_RANGE_NO_COURSE = 63, 511
NO_SPEED_KN, NO_COURSE_DEG = 102.3, 360.0
OTHER_LINES = {"#": "comment", "$": "other_sentence"}
MOST_PENDING_GROUPS = 64
"""Parts of a message come within seconds; whatever is older than this many other groups will not be completed."""
MINUTE_US = 60_000_000
UNKNOWN_SECOND_FROM = 60


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it was read."""

    source: str
    line: int
    raw: str
    recoded: bool


@dataclass(frozen=True, slots=True)
class Decoded:
    """A line with what it turned out to be; values as AIS has them, sentinels and all."""

    of: Line
    fault: str | None = None
    station: str | None = None
    message_type: int | None = None
    mmsi: int | None = None
    time_us: int | None = None
    from_clock: bool = False
    from_file: bool = False
    lon: float | None = None
    lat: float | None = None
    speed_kn: float | None = None
    course_deg: float | None = None
    heading_deg: float | None = None
    turn_rate: float | None = None
    nav_status: int | None = None
    ship_type: int | None = None
    length_m: float | None = None
    name: str | None = None
    imo: int | None = None
    call_sign: str | None = None
    draught_m: float | None = None
    destination: str | None = None


@dataclass(slots=True)
class Decoder:
    """Decodes the lines of one file in their order; `starts_us` dates messages when nothing else does."""

    starts_us: int | None = None
    _clock_us: int | None = None
    _clock_guessed: bool = False
    _last_us: dict[int, int] = field(default_factory=dict)
    _pending: dict[tuple[str, str, int], dict[int, tuple[Line, Sentence]]] = field(default_factory=dict)

    def advance(self, line: Line) -> list[Decoded]:
        """What is known once `line` has been read: nothing yet, or lines that are settled."""
        if not line.raw.strip():
            return [Decoded(line, "blank_line")]
        sentence = parse_sentence(line.raw)
        if sentence is None:
            return [self._other(line)]
        if sentence.fault:
            return [Decoded(line, sentence.fault)]
        if sentence.parts == 1:
            return self._decoded([(line, sentence)])
        return self._joined(line, sentence)

    def finish(self) -> list[Decoded]:
        """The parts that were never completed."""
        left = [Decoded(line, "incomplete_message") for parts in self._pending.values() for line, _ in parts.values()]
        self._pending.clear()
        return left

    @property
    def waiting(self) -> Collection[tuple[str, str, int]]:
        """The messages of which parts have come, and not all."""
        return self._pending.keys()

    def _other(self, line: Line) -> Decoded:
        tag_clock = clock_of(line.raw)
        self.set_clock(tag_clock)
        return Decoded(line, OTHER_LINES.get(line.raw.lstrip()[:1], "unreadable"))

    def _joined(self, line: Line, sentence: Sentence) -> list[Decoded]:
        """Keep the part until its message is whole; a part that comes again begins a new message."""
        settled: list[Decoded] = []
        parts = self._pending.setdefault(sentence.group, {})
        if sentence.part in parts:
            settled += [Decoded(old, "incomplete_message") for old, _ in parts.values()]
            parts.clear()
        parts[sentence.part] = (line, sentence)
        if len(parts) == sentence.parts:
            del self._pending[sentence.group]
            settled += self._decoded([parts[number] for number in sorted(parts)])
        elif len(self._pending) > MOST_PENDING_GROUPS:
            oldest = self._pending.pop(next(iter(self._pending)))
            settled += [Decoded(old, "incomplete_message") for old, _ in oldest.values()]
        return settled

    def _decoded(self, parts: list[tuple[Line, Sentence]]) -> list[Decoded]:
        *earlier, last = sorted((line for line, _ in parts), key=lambda line: line.line)
        received_us = next((sentence.time_us for _, sentence in parts if sentence.time_us is not None), None)
        try:
            message = decode(*[sentence.text for _, sentence in parts])
            if sum(sentence.bits for _, sentence in parts) < LEAST_BITS.get(message.msg_type, 0):
                found = Decoded(last, "truncated_message")
            else:
                found = self._read(last, message, received_us)
        except Exception:  # whatever a payload may hold, it is the fault of its own lines only
            found = Decoded(last, "unreadable")
        rest = "message_part" if found.fault is None else found.fault
        return [*(Decoded(line, rest) for line in earlier), found]

    def _read(self, line: Line, message: Any, received_us: int | None) -> Decoded:
        kind = message.msg_type
        sent_us = received_us or (_base_station_time(message) if kind in CLOCK_TYPES else None)
        self.set_clock(sent_us)
        if kind not in POSITION_TYPES:
            return replace(_static(line, message), fault="not_a_position")
        time_us = sent_us or self._time_of(message)
        if time_us is not None and self._clock_guessed:
            time_us = self._after_last(message.mmsi, time_us)
        long_range = kind == LONG_RANGE_TYPE
        return replace(
            _static(line, message),
            station=STATION_TYPES.get(kind),
            time_us=time_us,
            from_clock=sent_us is None and not self._clock_guessed and time_us is not None,
            from_file=sent_us is None and self._clock_guessed,
            lon=message.lon,
            lat=message.lat,
            speed_kn=_speed(getattr(message, "speed", None), long_range),
            course_deg=_course(getattr(message, "course", None), long_range),
            heading_deg=_number(getattr(message, "heading", None)),
            turn_rate=_number(getattr(message, "turn", None)),
            nav_status=_whole(getattr(message, "status", None)),
        )

    def _time_of(self, message: Any) -> int | None:
        """When the position was taken: the time nearest to the clock that has its second."""
        if self._clock_us is None:
            self.set_clock(self.starts_us, guessed=True)
        clock_us = self._clock_us
        second: int | None = getattr(message, "second", None)
        if clock_us is None or second is None or not 0 <= second < UNKNOWN_SECOND_FROM:
            return clock_us
        this_minute_us = clock_us - clock_us % MINUTE_US + second * 1_000_000
        nearest_us = min(
            (this_minute_us + shift for shift in (-MINUTE_US, 0, MINUTE_US)), key=lambda t: abs(t - clock_us)
        )
        self._clock_us = max(clock_us, nearest_us)
        return nearest_us

    def _after_last(self, mmsi: int, time_us: int) -> int:
        """A vessel's undated messages are told apart by their order: each is a second after the one before."""
        self._last_us[mmsi] = max(time_us, self._last_us.get(mmsi, 0) + 1_000_000)
        return self._last_us[mmsi]

    def set_clock(self, time_us: int | None, guessed: bool = False) -> None:
        """Take `time_us`, if there is one, for the time at this line."""
        if time_us is not None:
            self._clock_us = time_us
            self._clock_guessed = guessed


def _static(line: Line, message: Any) -> Decoded:
    """What a message says about the vessel itself."""
    sizes: list[Any] = [getattr(message, side, None) for side in ("to_bow", "to_stern")]
    return Decoded(
        line,
        message_type=message.msg_type,
        mmsi=_whole(message.mmsi),
        ship_type=_whole(getattr(message, "ship_type", None)),
        length_m=float(sizes[0] + sizes[1]) if None not in sizes and message.msg_type not in STATION_TYPES else None,
        name=getattr(message, "shipname", None),
        imo=_whole(getattr(message, "imo", None)),
        call_sign=getattr(message, "callsign", None),
        draught_m=_number(getattr(message, "draught", None)),
        destination=getattr(message, "destination", None),
    )


def _base_station_time(message: Any) -> int | None:
    try:
        moment = datetime(
            message.year, message.month, message.day, message.hour, message.minute, message.second, tzinfo=UTC
        )
    except ValueError:
        return None
    return round(moment.timestamp() * 1_000_000)


def _speed(value: Any, long_range: bool) -> float | None:
    """Speed as in a class A report: long-range reports say 63 for not available."""
    return NO_SPEED_KN if long_range and value == LONG_RANGE_NO_SPEED else _number(value)


def _course(value: Any, long_range: bool) -> float | None:
    return NO_COURSE_DEG if long_range and value == LONG_RANGE_NO_COURSE else _number(value)


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)
