"""Random conditions and rows that visit the awkward values, and an evaluator written from the definition alone."""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from foresail.patterns.conditions import AttributeType, Condition
from foresail.patterns.conditions.syntax import (
    And,
    Arithmetic,
    Attribute,
    Call,
    Comparison,
    Function,
    IsKnown,
    Literal,
    Membership,
    Negative,
    Not,
    Operator,
    Or,
    Register,
    Value,
)

TYPES = {
    "speed_kn": AttributeType.NUMBER,
    "course_deg": AttributeType.NUMBER,
    "port.distance_m": AttributeType.NUMBER,
    "mmsi": AttributeType.INTEGER,
    "status": AttributeType.INTEGER,
    "vessel_type": AttributeType.STRING,
    "flag": AttributeType.STRING,
    "ice": AttributeType.BOOLEAN,
    "moored": AttributeType.BOOLEAN,
    "time": AttributeType.TIMESTAMP,
    "last.time": AttributeType.TIMESTAMP,
}
NUMBERS = [0.0, -0.0, 0.1, 0.5, 1.0, 3.0, 5.0, 180.0, 350.0, -5.0, 2.0**53, 2.0**53 + 2, 2.0**63, -(2.0**63), 1e300]
DOUBLES = [
    *NUMBERS,
    math.nextafter(5.0, 6.0),
    math.nextafter(2.0**63, 0),
    math.inf,
    -math.inf,
    math.nan,
    5e-324,
    3 * 2.0**61,
]
WHOLES = [0, 1, 3, 5, -5, 2**53, 2**53 + 1, 2**53 - 1, 2**63 - 1, -(2**63), 2**62 + 1, 3 * 2**61]
TEXTS = [
    "",
    "a",
    "b",
    "tanker",
    "Tanker",
    "é",
    "e\u0301",
    "\U0001f600",
    "a\x00",
    "a\x00b",
    " a",
    "ÅSA",
    "åsa",
    "ΑΣ",
    "İ",
]
START = datetime(2024, 5, 1, 12, tzinfo=UTC)
TIMES = [START + timedelta(microseconds=step) for step in (0, 1, -1, 1_000_000, 86_400_000_000, -(10**15))]
POOLS = {
    AttributeType.NUMBER: st.sampled_from(DOUBLES) | st.floats(-10, 10),
    AttributeType.INTEGER: st.sampled_from(WHOLES) | st.integers(-10, 10),
    AttributeType.STRING: st.sampled_from(TEXTS),
    AttributeType.BOOLEAN: st.booleans(),
    AttributeType.TIMESTAMP: st.sampled_from(TIMES),
}
ARROW = {
    AttributeType.NUMBER: pa.float64(),
    AttributeType.INTEGER: pa.int64(),
    AttributeType.STRING: pa.string(),
    AttributeType.BOOLEAN: pa.bool_(),
    AttributeType.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}
Row = Mapping[str, Any]

rows: st.SearchStrategy[Row] = st.fixed_dictionaries({key: st.none() | POOLS[kind] for key, kind in TYPES.items()})


def _attributes(*kinds: AttributeType) -> st.SearchStrategy[Attribute]:
    keys = [key for key, kind in TYPES.items() if kind in kinds]
    return st.sampled_from([Attribute(*reversed(key.split("."))) for key in keys])


def _arithmetic(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    return st.one_of(
        st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner),
        st.builds(Negative, inner.filter(lambda value: not isinstance(value, Literal))),
        st.builds(lambda a: Call(Function.ABS, (a,)), inner),
        st.builds(lambda f, a, b: Call(f, (a, b)), st.sampled_from([Function.MIN, Function.MAX]), inner, inner),
        st.builds(lambda a, b: Call(Function.ANGLE, (a, b)), inner, inner),
        st.builds(lambda f, a: Call(f, (a,)), st.sampled_from([Function.FLOOR, Function.SQRT]), inner),
        st.builds(lambda a: Call(Function.LOCAL_HOUR, (Attribute("time"), a)), inner),
    )


number_literals = st.sampled_from(NUMBERS + WHOLES + [2**63, 10**20, -(10**20), 0.3, 1e19]).map(Literal) | st.integers(
    -6, 6
).map(Literal)
since = st.just(Call(Function.SECONDS_SINCE, (Register("last"),)))
plain_numbers = _attributes(AttributeType.NUMBER, AttributeType.INTEGER)
times = _attributes(AttributeType.TIMESTAMP)
clocks = st.builds(lambda f, a: Call(f, (a,)), st.sampled_from([Function.HOUR, Function.WEEKDAY]), times)
numbers: st.SearchStrategy[Value] = st.recursive(
    plain_numbers | number_literals | since | clocks, _arithmetic, max_leaves=4
)
time_literals = st.sampled_from([moment.isoformat() for moment in TIMES] + ["2024-05-01T14:00:00+02:00"]).map(Literal)
plain_texts = _attributes(AttributeType.STRING)
texts: st.SearchStrategy[Value] = plain_texts | plain_texts.map(lambda text: Call(Function.LOWER, (text,)))
text_literals = st.sampled_from([*TEXTS, "never"]).map(Literal)
beginnings = st.builds(lambda a, b: Call(Function.STARTS_WITH, (a, b)), texts, text_literals)
nights = st.builds(lambda a, b, c: Call(Function.IS_NIGHT, (a, b, c)), times, plain_numbers, plain_numbers)
truths: st.SearchStrategy[Attribute | Call] = _attributes(AttributeType.BOOLEAN) | beginnings | nights
truth_literals = st.booleans().map(Literal)
operators = st.sampled_from(list(Operator))
equalities = st.sampled_from([Operator.EQUAL, Operator.UNEQUAL])
options = st.lists(number_literals, min_size=1, max_size=14).map(tuple)

atoms: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Comparison, operators, plain_numbers, plain_numbers | number_literals),
    st.builds(Comparison, operators, numbers, numbers),
    st.builds(Comparison, operators, times, times | time_literals),
    st.builds(Comparison, equalities, texts, texts | text_literals),
    st.builds(Comparison, equalities, text_literals, texts),
    st.builds(Comparison, equalities, truths, truths | truth_literals),
    st.builds(Membership, numbers, options),
    st.builds(Membership, texts, st.lists(text_literals, min_size=1, max_size=14).map(tuple)),
    st.builds(Membership, times, st.lists(time_literals, min_size=1, max_size=3).map(tuple)),
    st.builds(IsKnown, numbers | texts | times | truths),
    truths,
    truth_literals,
)
conditions: st.SearchStrategy[Condition] = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=4,
)


def drawn(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    """As many examples as hypothesis finds worth trying, the same in every run."""
    found: list[Any] = []

    @settings(
        max_examples=count,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example: Any) -> None:
        found.append(example)

    collect()
    return found


def arrow_table(some: list[Row]) -> pa.Table:
    """The rows as columns named as `TYPES` names them."""
    columns = {key: pa.array([row[key] for row in some], type=ARROW[kind]) for key, kind in TYPES.items()}
    return pa.table(columns)


def satisfied(condition: Condition, row: Row) -> bool:
    """Whether the row satisfies the condition, word for word as the language defines it."""
    match condition:
        case Literal(value):
            return bool(value)
        case Attribute() | Call():
            return result(condition, row) is True
        case Not(part):
            return not satisfied(part, row)
        case And(parts):
            return all(satisfied(part, row) for part in parts)
        case Or(parts):
            return any(satisfied(part, row) for part in parts)
        case IsKnown(value):
            return result(value, row) is not None
        case Membership(value, options):
            return any(_compared(Operator.EQUAL, value, option, row) for option in options)
        case Comparison(operator, left, right):
            return _compared(operator, left, right, row)


def _compared(operator: Operator, left: Value, right: Value, row: Row) -> bool:
    one, other = result(left, row), result(right, row)
    if one is None or other is None:
        return False
    if isinstance(one, datetime) and isinstance(other, str):
        other = datetime.fromisoformat(other)
    match operator:
        case Operator.EQUAL:
            return bool(one == other)
        case Operator.UNEQUAL:
            return bool(one != other)
        case Operator.LESS:
            return bool(one < other)
        case Operator.AT_MOST:
            return bool(one <= other)
        case Operator.GREATER:
            return bool(one > other)
        case Operator.AT_LEAST:
            return bool(one >= other)


def result(value: Value, row: Row) -> Any:
    """What the value is in the row; None when it is unknown."""
    if isinstance(value, Attribute):
        found = row[value.key]
    elif isinstance(value, Literal):
        found = value.value
    else:
        found = _computed(value, row)
    return None if isinstance(found, float) and math.isnan(found) else found


def _computed(value: Value, row: Row) -> Any:
    match value:
        case Call(Function.SECONDS_SINCE, _):
            now, then = row["time"], row["last.time"]
            return None if now is None or then is None else (now - then) / timedelta(microseconds=1) / 1e6
        case Negative(inner):
            operands = [inner]
        case Arithmetic(_, left, right):
            operands = [left, right]
        case Call(_, arguments):
            operands = list(arguments)
    found = [result(operand, row) for operand in operands]
    if None in found:
        return None
    if isinstance(value, Call) and value.function in SPECIAL:
        return SPECIAL[value.function](*found)
    return _applied(value, [float(number) for number in found])


def _microseconds(moment: datetime) -> float:
    return float((moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1))


def _local_hour(moment: datetime, lon: float) -> float | None:
    shifted = _microseconds(moment) + float(lon) * 240e6
    return math.floor(shifted % 86_400e6 / 3_600e6) if math.isfinite(shifted) else None


def is_night(moment: datetime, lon: float, lat: float) -> bool | None:
    """By way of right ascension and hour angle, with the sines of the machine."""
    if abs(lat) > 90 or abs(lon) > 360:
        return None
    days = (_microseconds(moment) - 946_728_000e6) / 86_400e6
    anomaly = math.radians(357.528 + 0.9856003 * days)
    along = math.radians(280.460 + 0.9856474 * days + 1.915 * math.sin(anomaly) + 0.020 * math.sin(2 * anomaly))
    tilt = math.radians(23.439 - 0.0000004 * days)
    ascension = math.atan2(math.cos(tilt) * math.sin(along), math.cos(along))
    declination = math.asin(math.sin(tilt) * math.sin(along))
    hour_angle = math.radians(280.46061837 + 360.98564736629 * days + lon) - ascension
    north = math.radians(lat)
    height = math.sin(north) * math.sin(declination)
    height += math.cos(north) * math.cos(declination) * math.cos(hour_angle)
    return math.degrees(math.asin(height)) < -0.833


def _lower(text: str) -> str:
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


SPECIAL: Mapping[Function, Callable[..., Any]] = {
    Function.HOUR: lambda moment: moment.hour,
    Function.WEEKDAY: lambda moment: moment.isoweekday(),
    Function.LOCAL_HOUR: _local_hour,
    Function.IS_NIGHT: is_night,
    Function.LOWER: _lower,
    Function.STARTS_WITH: lambda text, beginning: text.startswith(beginning),
}


def _applied(value: Value, numbers: list[float]) -> float | None:
    match value:
        case Negative():
            return -numbers[0]
        case Arithmetic("+"):
            return numbers[0] + numbers[1]
        case Arithmetic("-"):
            return numbers[0] - numbers[1]
        case Arithmetic("*"):
            return numbers[0] * numbers[1]
        case Arithmetic("/"):
            return numbers[0] / numbers[1] if numbers[1] else None
        case Call(Function.ABS):
            return abs(numbers[0])
        case Call(Function.MIN):
            return min(numbers)
        case Call(Function.MAX):
            return max(numbers)
        case Call(Function.SQRT):
            return math.sqrt(numbers[0]) if numbers[0] >= 0 else None
        case Call(Function.FLOOR):
            return float(math.floor(numbers[0])) if math.isfinite(numbers[0]) else numbers[0]
        case Call(Function.ANGLE):
            apart = numbers[0] - numbers[1]
            if not math.isfinite(apart):
                return None
            apart = abs(math.fmod(apart, 360.0))
            return min(apart, 360.0 - apart)
    return None
