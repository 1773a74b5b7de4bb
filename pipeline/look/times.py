"""Times as feeds write them: ISO 8601, epochs, and dates in any order, with the pattern by which Spark reads them.

Texts as values: numbers with either decimal sign, and the words and numbers that feeds write for "no value".
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Literal
from zoneinfo import ZoneInfo

Decimal = Literal[".", ","]

POINT_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
COMMA_NUMBER = re.compile(r"[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d{1,3})?", re.ASCII)
GROUPED_NUMBER = re.compile(r"[+-]?\d{1,3}([.,' ]\d{3})+([.,]\d+)?", re.ASCII)
WHOLE_NUMBER = re.compile(r"[+-]?\d+", re.ASCII)
PLACEHOLDERS = frozenset(
    ("null", "none", "nan", "na", "n/a", "#n/a", "nil", "-", "--", "---", "?", "\\n", "unknown", "undefined", "missing")
)
SENTINELS = (
    *(-99.0, -999.0, -9999.0, -99999.0, -999.9, -999999.0, 999.0, 9999.0, 99999.0, 999999.0),
    *(-32768.0, 32767.0, 65535.0, -2147483648.0, 2147483647.0, 4294967295.0),
)
FAR_OFF = 5.0
"""A sentinel lies at least so many times further from zero than any value beside it."""
TRUE_WORDS, FALSE_WORDS = frozenset(("true", "1", "yes", "on")), frozenset(("false", "0", "no", "off"))
LEAST_SHARE = 0.9
"""Values that must be of a kind for the column to be of it: feeds have faulty rows."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the head, as text; an empty cell is None."""

    name: str
    cells: tuple[str | None, ...]

    @property
    def filled(self) -> tuple[str, ...]:
        """The cells that say something: neither empty nor a word for nothing."""
        return tuple(cell for cell in self.cells if cell is not None and cell.lower() not in PLACEHOLDERS)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The words for nothing, as they are written here."""
        return tuple(dict.fromkeys(cell for cell in self.cells if cell is not None and cell.lower() in PLACEHOLDERS))


def number_of(text: str | None, decimal: Decimal = ".") -> float | None:
    """The number that `text` spells with this decimal sign."""
    if text is None or not (COMMA_NUMBER if decimal == "," else POINT_NUMBER).fullmatch(text):
        return None
    return float(text.replace(",", "."))


def numbers_of(texts: Iterable[str], decimal: Decimal = ".") -> list[float]:
    """The numbers among `texts`."""
    return [value for text in texts if (value := number_of(text, decimal)) is not None]


def is_mostly(pattern: re.Pattern[str], texts: Sequence[str]) -> bool:
    """Whether nearly all of `texts` are of `pattern`."""
    return bool(texts) and sum(1 for text in texts if pattern.fullmatch(text)) >= LEAST_SHARE * len(texts)


def decimal_of(texts: Sequence[str]) -> Decimal | None:
    """The decimal sign of a column of numbers; None when it is no such column."""
    if is_mostly(POINT_NUMBER, texts):
        return "."
    return "," if is_mostly(COMMA_NUMBER, texts) else None


def is_grouped(texts: Sequence[str]) -> bool:
    """Whether the column has numbers with signs between the thousands, which nothing here reads."""
    return decimal_of(texts) is None and is_mostly(GROUPED_NUMBER, texts)


def sentinels_of(numbers: Sequence[float]) -> tuple[float, ...]:
    """The numbers that stand for "no value": well-known ones, repeated, and far off all the others."""
    counts = Counter(numbers)
    known = [value for value in SENTINELS if counts[value] > 1]
    others = [abs(value) for value in counts if value not in known]
    if not others:
        return ()
    return tuple(value for value in known if abs(value) >= FAR_OFF * max(others))


def kind_of(texts: Sequence[str], decimal: Decimal = ".") -> Literal["long", "double", "boolean", "string"]:
    """The type of a column that passes through: the narrowest that loses nothing."""
    if not texts:
        return "string"
    if {text.lower() for text in texts} <= {"true", "false"}:
        return "boolean"
    # a number with zeros in front is a name; so is one too long for a column of numbers
    if any(re.match(r"[+-]?0\d", text) for text in texts):
        return "string"
    if all(WHOLE_NUMBER.fullmatch(text) for text in texts):
        return "long" if max(map(len, texts)) <= 18 else "string"
    return "double" if len(numbers_of(texts, decimal)) == len(texts) else "string"


Order = Literal["ymd", "dmy", "mdy"]

_SECOND = r"(?P<second>\d{2})((?P<point>[.,])(?P<fraction>\d{1,9}))?"
_CLOCK = rf"(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}})(:{_SECOND})?(?P<half>\s?[AaPp][Mm])?"
_ZONE = r"(?P<zone>\s?(Z|UTC|GMT|[+-]\d{2}(:?\d{2})?))?"
_DATE = r"(?P<a>\d{1,4})(?P<sign>[-/.])(?P<b>\d{1,2}|[A-Za-z]{3})(?P=sign)(?P<c>\d{1,4})"
DATED = re.compile(rf"{_DATE}((?P<gap>[T ]|, ){_CLOCK}{_ZONE})?", re.ASCII)
COMPACT = re.compile(
    r"(?P<y>(19|20)\d{2})(?P<m>[01]\d)(?P<d>[0-3]\d)(?P<gap>[T ]?)(?P<clock>[0-2]\d[0-5]\d[0-5]\d)", re.ASCII
)
CLOCK_ONLY = re.compile(_CLOCK, re.ASCII)
DATE_ONLY = re.compile(_DATE, re.ASCII)
COMPACT_DATE = re.compile(r"(19|20)\d{2}[01]\d[0-3]\d", re.ASCII)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
EPOCHS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
EARLIEST_S, LATEST_S = 7.9e8, 4.1e9
"""Epochs between 1995 and 2100 are taken for times."""
SERIAL_DAYS = (34_700.0, 73_000.0)
SERIAL_EPOCH_DAYS = 25_569
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class TimeForm:
    """How a column writes its times."""

    kind: Literal["iso", "epoch", "pattern", "serial"]
    pattern: str | None = None
    """The datetime pattern of Spark's, where it is neither ISO 8601 nor a number."""
    unit: str | None = None
    order: Order = "ymd"
    zoned: bool = False
    other_order: Order | None = None
    """The other order that the values allow: nothing tells which of the two is meant."""

    def parse(self, text: str, zone: str = "UTC") -> datetime | None:
        """The instant, or None where `text` is none in this form."""
        try:
            if self.kind in ("epoch", "serial"):
                return self._from_number(number_of(text))
            moment = _compact(text) if COMPACT.fullmatch(text) else _dated(text, self.order)
        except (ValueError, OverflowError):
            return None
        if moment is None or moment.tzinfo:
            return moment and moment.astimezone(UTC)
        return moment.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)

    def _from_number(self, value: float | None) -> datetime | None:
        if value is None:
            return None
        seconds = (value - SERIAL_EPOCH_DAYS) * DAY_S if self.kind == "serial" else value * EPOCHS[self.unit or "s"]
        return datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds)


def time_form(texts: Sequence[str], now: datetime, prefer_month: bool = False) -> TimeForm | None:
    """The form of a column of times; None when it is no such column."""
    if not texts:
        return None
    needed = LEAST_SHARE * len(texts)
    dated = [found for text in texts if (found := DATED.fullmatch(text)) and found["hour"]]
    if len(dated) >= needed:
        return _dated_form(dated, now, prefer_month)
    if sum(1 for text in texts if COMPACT.fullmatch(text)) >= needed:
        gap = {"": "", " ": " ", "T": "'T'"}[next(f["gap"] for text in texts if (f := COMPACT.fullmatch(text)))]
        return TimeForm("pattern", f"yyyyMMdd{gap}HHmmss")
    return _number_form(texts, needed)


def joined_form(dates: Sequence[str], clocks: Sequence[str], now: datetime) -> TimeForm | None:
    """The form of a date in one column and a time of day in another, joined by a blank."""
    return time_form([f"{date} {clock}" for date, clock in zip(dates, clocks, strict=True)], now)


def is_date_column(texts: Sequence[str]) -> bool:
    """Whether nearly all are dates without a time of day."""
    return _share(texts, (DATE_ONLY, COMPACT_DATE)) >= LEAST_SHARE


def is_clock_column(texts: Sequence[str]) -> bool:
    """Whether nearly all are times of day without a date."""
    return _share(texts, (CLOCK_ONLY,)) >= LEAST_SHARE


def epoch_unit_of(values: Iterable[float]) -> str | None:
    """The unit in which nearly all values are times of our days."""
    known = list(values)
    for unit, factor in EPOCHS.items():
        if known and sum(EARLIEST_S <= value * factor <= LATEST_S for value in known) >= LEAST_SHARE * len(known):
            return unit
    return None


def _share(texts: Sequence[str], patterns: tuple[re.Pattern[str], ...]) -> float:
    fitting = sum(1 for text in texts if any(pattern.fullmatch(text) for pattern in patterns))
    return fitting / len(texts) if texts else 0.0


def _number_form(texts: Sequence[str], needed: float) -> TimeForm | None:
    point: Decimal = "."
    values = [value for text in texts if (value := number_of(text, point)) is not None]
    if len(values) < needed:
        return None
    unit = epoch_unit_of(values)
    if unit:
        return TimeForm("epoch", unit=unit)
    within = sum(SERIAL_DAYS[0] <= value <= SERIAL_DAYS[1] for value in values)
    has_fraction = any(value % 1 for value in values)
    return TimeForm("serial", unit="s") if within >= needed and has_fraction else None


def _dated_form(found: Sequence[re.Match[str]], now: datetime, prefer_month: bool) -> TimeForm | None:
    fitting = {order: sum(1 for match in found if _date_parts(match, order)) for order in _orders(found)}
    most = max(fitting.values())
    # one 28 in the second place decides for all rows
    orders = [order for order, rows in fitting.items() if rows == most]
    if most < LEAST_SHARE * len(found):
        return None
    order, other = orders[0], orders[1] if len(orders) > 1 else None
    if other:
        order, other = _likelier(found, now, prefer_month)
    zoned = any(match["zone"] for match in found)
    if order == "ymd" and all(
        match["sign"] == "-" and len(match["c"]) <= 2 and not match["half"] and match["point"] != "," for match in found
    ):
        gaps_known = all(match["gap"] in ("T", " ") for match in found)
        named = any(match["zone"] and match["zone"].strip() in ("UTC", "GMT") for match in found)
        if gaps_known and not named:
            return TimeForm("iso", zoned=zoned)
    return TimeForm("pattern", _pattern(found, order), order=order, zoned=zoned, other_order=other)


def _orders(found: Sequence[re.Match[str]]) -> tuple[Order, ...]:
    if all(len(match["a"]) == 4 for match in found):
        return ("ymd",)
    return ("dmy",) if any(match["b"].isalpha() for match in found) else ("dmy", "mdy")


def _likelier(found: Sequence[re.Match[str]], now: datetime, prefer_month: bool) -> tuple[Order, Order | None]:
    """The order that the values speak for; the other one too where they do not decide."""
    day_first, month_first = (_moments(found, order) for order in ("dmy", "mdy"))
    ahead = [sum(moment > now for moment in moments) for moments in (day_first, month_first)]
    if (ahead[0] > 0) != (ahead[1] > 0):
        return ("mdy", None) if ahead[0] else ("dmy", None)
    backwards = [_backward_steps(moments) for moments in (day_first, month_first)]
    if backwards[0] != backwards[1] and min(backwards) == 0:
        return ("dmy", None) if backwards[0] == 0 else ("mdy", None)
    if all(match["sign"] == "." for match in found):
        return "dmy", None  # nobody writes the month first with dots
    halves = any(match["half"] for match in found)
    return ("mdy", "dmy") if prefer_month or halves else ("dmy", "mdy")


def _moments(found: Sequence[re.Match[str]], order: Order) -> list[datetime]:
    return [
        moment.replace(tzinfo=moment.tzinfo or UTC) for match in found if (moment := _moment(match, order)) is not None
    ]


def _backward_steps(moments: Sequence[datetime]) -> int:
    return sum(later < earlier for earlier, later in pairwise(moments))


def _date_parts(match: re.Match[str], order: Order) -> tuple[int, int, int] | None:
    """Year, month, day."""
    a, b, c = match["a"], match["b"], match["c"]
    year, month, day = {"ymd": (a, b, c), "dmy": (c, b, a), "mdy": (c, a, b)}[order]
    if month.isalpha():
        if month.lower() not in MONTHS:
            return None
        month = str(MONTHS.index(month.lower()) + 1)
    if len(year) not in (2, 4) or len(day) > 2 or not 1 <= int(month) <= 12 or not 1 <= int(day) <= 31:
        return None
    return (int(year) + (2000 if len(year) == 2 else 0), int(month), int(day))


def _dated(text: str, order: Order) -> datetime | None:
    found = DATED.fullmatch(text)
    return _moment(found, order) if found and found["hour"] else None


def _moment(match: re.Match[str], order: Order) -> datetime | None:
    parts = _date_parts(match, order)
    if parts is None:
        return None
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].strip().lower() == "pm" else 0)
    fraction = int((match["fraction"] or "0").ljust(6, "0")[:6])
    try:
        moment = datetime(*parts, hour, int(match["minute"]), int(match["second"] or 0), fraction)  # noqa: DTZ001
    except ValueError:
        return None
    return (moment - _offset(match["zone"])).replace(tzinfo=UTC) if match["zone"] else moment


def _offset(zone: str) -> timedelta:
    digits = zone.strip().replace(":", "")
    if not digits.startswith(("+", "-")):
        return timedelta()
    size = timedelta(hours=int(digits[1:3]), minutes=int(digits[3:5] or 0))
    return -size if digits.startswith("-") else size


def _compact(text: str) -> datetime | None:
    digits = re.sub(r"\D", "", text)
    return datetime.strptime(digits, "%Y%m%d%H%M%S")  # noqa: DTZ007 - the zone is the caller's


def _pattern(found: Sequence[re.Match[str]], order: Order) -> str:
    """Spark's pattern; one letter reads one or two digits, two letters read two."""
    first = found[0]
    sign = first["sign"]
    day_place, month_place = {"ymd": ("c", "b"), "dmy": ("a", "b"), "mdy": ("b", "a")}[order]
    year_place = "a" if order == "ymd" else "c"
    year = "y" * (2 if len(first[year_place]) == 2 else 4)
    day = "dd" if all(len(match[day_place]) == 2 for match in found) else "d"
    month = "MMM" if first["b"].isalpha() else "MM" if all(len(match[month_place]) == 2 for match in found) else "M"
    date = sign.join({"ymd": (year, month, day), "dmy": (day, month, year), "mdy": (month, day, year)}[order])
    return date + {"T": "'T'", " ": " ", ", ": ", "}[first["gap"]] + _clock_pattern(found)


def _clock_pattern(found: Sequence[re.Match[str]]) -> str:
    letter = "h" if any(match["half"] for match in found) else "H"
    hour = letter * 2 if all(len(match["hour"]) == 2 for match in found) else letter
    seconds = [match for match in found if match["second"]]
    clock = f"{hour}:mm"
    if seconds:
        clock += ":ss" if len(seconds) == len(found) else "[:ss]"
    points = [match["point"] for match in found if match["fraction"]]
    if points:
        clock += f"[{points[0]}SSSSSSSSS]"
    if letter == "h":
        clock += " a" if any(match["half"][0] == " " for match in found if match["half"]) else "a"
    return clock + _zone_pattern(found)


def _zone_pattern(found: Sequence[re.Match[str]]) -> str:
    zones = [match["zone"] for match in found if match["zone"]]
    if not zones:
        return ""
    blank = " " if zones[0].startswith(" ") else ""
    bare = zones[0].strip()
    if bare in ("UTC", "GMT"):
        return f"{blank}'{bare}'"
    return blank + ("XXX" if ":" in bare or bare == "Z" else "XX" if len(bare) == 5 else "X")
