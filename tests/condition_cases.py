"""Random conditions and rows that visit the awkward values, and an evaluator written from the definition alone."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from patterns.conditions import AttributeType, Condition
from patterns.conditions.syntax import (
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
DOUBLES = [*NUMBERS, math.nextafter(5.0, 6.0), math.nextafter(2.0**63, 0), math.inf, -math.inf, math.nan, 5e-324]
WHOLES = [0, 1, 3, 5, -5, 2**53, 2**53 + 1, 2**53 - 1, 2**63 - 1, -(2**63), 2**62 + 1]
TEXTS = ["", "a", "b", "tanker", "Tanker", "é", "e\u0301", "\U0001f600", "a\x00", "a\x00b", " a"]
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
    )


number_literals = st.sampled_from(NUMBERS + WHOLES + [2**63, 10**20, -(10**20), 0.3, 1e19]).map(Literal) | st.integers(
    -6, 6
).map(Literal)
since = st.just(Call(Function.SECONDS_SINCE, (Register("last"),)))
plain_numbers = _attributes(AttributeType.NUMBER, AttributeType.INTEGER)
numbers: st.SearchStrategy[Value] = st.recursive(plain_numbers | number_literals | since, _arithmetic, max_leaves=4)
times = _attributes(AttributeType.TIMESTAMP)
time_literals = st.sampled_from([moment.isoformat() for moment in TIMES] + ["2024-05-01T14:00:00+02:00"]).map(Literal)
texts = _attributes(AttributeType.STRING)
text_literals = st.sampled_from([*TEXTS, "never"]).map(Literal)
truths = _attributes(AttributeType.BOOLEAN)
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
        case Attribute():
            return row[condition.key] is True
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


def _computed(value: Value, row: Row) -> float | None:
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
    return _applied(value, [float(number) for number in found])


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
        case Call(Function.ANGLE):
            apart = numbers[0] - numbers[1]
            if not math.isfinite(apart):
                return None
            apart = abs(math.fmod(apart, 360.0))
            return min(apart, 360.0 - apart)
    return None
