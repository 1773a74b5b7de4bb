"""The slow, exact way: one odd line or cell at a time, read as Spark reads it.

Spark's rules are Java's: a number may have a sign, an exponent and a letter behind it; an instant may leave out its
seconds or name a zone; a quote that does not enclose a whole cell belongs to it.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from foresail.pipeline.feeds.cell_kernels import NO_TIME, micros_of

JAVA_BLANKS = "".join(map(chr, range(0x21)))
JAVA_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[dDfF]?")
WORDS = {"inf": float("inf"), "infinity": float("inf")}
INSTANT = re.compile(
    r"(?P<year>[0-9]{4,6})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    r"(?:[ T](?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2})(?::(?P<second>[0-9]{1,2})(?:\.(?P<part>[0-9]*))?)?"
    r"(?P<zone>.*))?",
    re.DOTALL,
)
OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])([0-9]{1,2})(?::?([0-9]{1,2}))?(?::?([0-9]{2}))?")
LARGEST_OFFSET_S = 18 * 3600
LARGEST_MICROS = 9_223_372_036_854_775_807 - 24 * 3600 * 1_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def number_of(text: str) -> float | None:
    """The number that `text` spells for Java, or None; NaN is none."""
    bare = text.strip(JAVA_BLANKS)
    if JAVA_NUMBER.fullmatch(bare):
        return float(bare.rstrip("dDfF"))
    sign = -1.0 if bare.startswith("-") else 1.0
    value = WORDS.get(bare.lower().removeprefix("-" if sign < 0 else "+"))
    return None if value is None else sign * value


def instant_of(text: str) -> tuple[int, bool] | None:
    """Microseconds since 1970 of ISO 8601 text as Spark casts it, and whether it names a zone; None where it is none.

    Without a zone it is taken to be in UTC.
    """
    found = INSTANT.fullmatch(text.strip(JAVA_BLANKS))
    if not found:
        return None
    second, part = int(found["second"] or 0), (found["part"] or "")[:6].ljust(6, "0")
    away = _offset_s(found["zone"] or "", found)
    if away is None:
        return None
    date = [int(found[part]) for part in ("year", "month", "day")]
    clock = [int(found["hour"] or 0), int(found["minute"] or 0), second]
    micros = int(micros_of.py_func(*date, *clock))
    if micros == NO_TIME or abs(micros) > LARGEST_MICROS:
        return None
    return micros + int(part) - away * 1_000_000, bool(found["zone"])


def _offset_s(zone: str, found: re.Match[str]) -> int | None:
    """How far ahead of UTC a zone is at that time; None where there is no such zone."""
    name = zone.strip(" ")
    if name in ("", "Z"):
        return 0
    offset = OFFSET.fullmatch(name)
    if offset:
        sign, hours, minutes, seconds = offset.groups()
        away = int(hours) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
        return (away if sign == "+" else -away) if away <= LARGEST_OFFSET_S else None
    try:
        year, month, day, hour, minute = (int(found[part] or 0) for part in ("year", "month", "day", "hour", "minute"))
        away_from = datetime(year, month, day, hour, minute, tzinfo=_zone(name)).utcoffset()
    except (ValueError, ZoneInfoNotFoundError, OSError):
        return None
    return None if away_from is None else int(away_from.total_seconds())


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo | timezone:
    if not re.fullmatch(r"[A-Za-z_]+(/[A-Za-z0-9_+-]+)*", name):
        raise ZoneInfoNotFoundError(name)
    return UTC if name in ("UTC", "GMT", "UT") else ZoneInfo(name)


def in_zone(micros: int, zone: str) -> int:
    """The instant at which clocks in `zone` show what `micros` is in UTC; of two the first, in a gap with the old."""
    local = EPOCH + timedelta(microseconds=micros)
    away = local.replace(tzinfo=ZoneInfo(zone), fold=0).utcoffset()
    return micros - (round(away.total_seconds() * 1_000_000) if away is not None else 0)


def cells_of(line: str, delimiter: str) -> list[str | None]:
    """The cells of a line as Spark's parser of CSV reads them; None where one is empty."""
    cells: list[str | None] = []
    i, end = 0, len(line)
    while True:
        if i < end and line[i] == '"':
            cell, i = _quoted(line, i, delimiter)
            cells.append(cell)
        else:
            stop = line.find(delimiter, i)
            stop = end if stop < 0 else stop
            cells.append(line[i:stop] or None)
            i = stop
        if i >= end:
            return cells
        i += 1
        if i == end:
            cells.append(None)
            return cells


def _quoted(line: str, begin: int, delimiter: str) -> tuple[str, int]:
    """The cell that a quote opens, and where it ends: at the quote that closes it before a delimiter.

    A quote that neither closes the cell nor is doubled makes all of it, quotes too, plain text up to the delimiter.
    """
    parts: list[str] = []
    i, end = begin + 1, len(line)
    while True:
        stop = line.find('"', i)
        if stop < 0:  # never closed: everything that is left
            return "".join([*parts, line[i:]]), end
        parts.append(line[i:stop])
        if stop + 1 < end and line[stop + 1] == '"':
            parts.append('"')
            i = stop + 2
            continue
        after = stop + 1
        while after < end and line[after] != delimiter and line[after] <= " ":
            after += 1
        if after >= end or line[after] == delimiter:
            return "".join(parts), after
        plain = line.find(delimiter, stop)
        plain = end if plain < 0 else plain
        return line[begin:plain], plain


def decoded(line: bytes) -> tuple[str, bool]:
    """The text of a line, and whether it had to be read as Latin-1."""
    try:
        return line.decode(), False
    except UnicodeDecodeError:
        return line.decode("latin-1"), True


def count_fields(cells: Sequence[str | None], fields: int) -> tuple[list[str | None], bool]:
    """As many cells as there are fields, and whether there were more or fewer."""
    fitting = [*cells[:fields], *[None] * (fields - len(cells))]
    return fitting, len(cells) != fields
