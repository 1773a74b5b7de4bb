"""TESLA by its definitions: every clause tries every event of the past. No columns, no indexes, nothing forgotten."""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foresail.patterns.tesla.syntax import (
    Aggregate,
    Attribute,
    Between,
    Binary,
    Call,
    Condition,
    Constant,
    Expression,
    Negation,
    Param,
    Positive,
    Predicate,
    Rule,
    Scope,
)

RADIUS_M = 6371008.8


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A notification; `seq` is its place in the order in which events are processed."""

    type: str
    ts_us: int
    attributes: dict[str, Any]
    seq: int = -1

    def value(self, name: str) -> Any:
        return self.ts_us / 1e6 if name == "ts" else self.attributes.get(name)


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Events by name and values by parameter."""

    events: dict[str, Event]
    params: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A composite event, and where it comes from."""

    rule: str
    event: Event
    row: Row


@dataclass(slots=True)
class Reference:
    """All events so far, and what each rule has consumed."""

    rules: Sequence[Rule]
    ties: str = "strict"
    selection: str = "local"
    history: list[Event] = field(default_factory=list)
    consumed: dict[str, set[int]] = field(default_factory=dict)
    made: list[Made] = field(default_factory=list)

    def run(self, events: Sequence[Event]) -> list[Made]:
        for given in sorted(events, key=lambda event: event.ts_us):
            queue = deque([given])
            while queue:
                event = replace(queue.popleft(), seq=len(self.history))
                for rule in self.rules:
                    queue.extend(self._fire(rule, event))
                self.history.append(event)
        return self.made

    def _fire(self, rule: Rule, event: Event) -> list[Event]:
        start = self._matched(rule.terminator, event, Row({}, {}), binds=True)
        if event.type != rule.terminator.type or start is None:
            return []
        rows = self._admissible(rule, start) if self.selection == "admissible" else self._local(rule, start)
        found = []
        for row in rows:
            values = {each.name: self._value(each.expression, row) for each in rule.assignments}
            ordered = {each.name: values[each.name] for each in rule.declared}
            composite = Event(rule.type, event.ts_us, ordered)
            self.made.append(Made(rule.name, composite, row))
            found.append(composite)
        dead = self.consumed.setdefault(rule.name, set())
        dead |= {row.events[each.name].seq for row in rows for each in rule.consuming}
        return found

    def _local(self, rule: Rule, start: Row) -> list[Row]:
        rows = [start]
        for clause in rule.clauses:
            match clause:
                case Positive():
                    rows = [new for row in rows for new in self._selected(rule, clause, row)]
                case Negation():
                    rows = [row for row in rows if not self._all(clause.predicate, clause.scope, row)]
                case Condition():
                    rows = [new for row in rows for new in self._condition(clause, row)]
        return rows

    def _selected(self, rule: Rule, clause: Positive, row: Row) -> list[Row]:
        found = self._candidates(rule, clause, row)
        return found if clause.policy == "each" else _chosen(clause, found)

    def _candidates(self, rule: Rule, clause: Positive, row: Row) -> list[Row]:
        dead = self.consumed.get(rule.name, set())
        return [
            new for new, event in self._matching(clause.predicate, clause.scope, row, True) if event.seq not in dead
        ]

    def _admissible(self, rule: Rule, start: Row) -> list[Row]:
        """All rows that negations and continuations allow; then each clause selects; then conditions."""
        rows = [start]
        for clause in rule.clauses:
            match clause:
                case Positive():
                    rows = [new for row in rows for new in self._candidates(rule, clause, row)]
                case Negation():
                    rows = [row for row in rows if not self._all(clause.predicate, clause.scope, row)]
                case Condition():
                    rows = [self._condition_binding(clause, row) for row in rows]
        bound = [rule.terminator.name]
        for clause in rule.clauses:
            if not isinstance(clause, Positive):
                continue
            if clause.policy != "each":
                groups: dict[tuple[int, ...], list[Row]] = {}
                for row in rows:
                    groups.setdefault(tuple(row.events[name].seq for name in bound), []).append(row)
                rows = []
                for group in groups.values():
                    name = clause.predicate.name
                    distinct = {row.events[name].seq: row for row in group}
                    kept = {row.events[name].seq for row in _chosen(clause, [distinct[s] for s in sorted(distinct)])}
                    rows += [row for row in group if row.events[name].seq in kept]
            bound.append(clause.predicate.name)
        for clause in rule.clauses:
            if isinstance(clause, Condition):
                rows = [new for row in rows for new in self._condition(clause, row)]
        return rows

    def _before(self, event: Event, other: Event) -> bool:
        return event.ts_us < other.ts_us if self.ties == "strict" else event.seq < other.seq

    def _in_scope(self, event: Event, scope: Scope, row: Row) -> bool:
        if isinstance(scope, Between):
            ends = sorted((row.events[scope.one], row.events[scope.other]), key=lambda each: each.seq)
            return self._before(ends[0], event) and self._before(event, ends[1])
        anchor = row.events[scope.anchor]
        return self._before(event, anchor) and anchor.ts_us - event.ts_us <= scope.span_us

    def _matching(self, predicate: Predicate, scope: Scope, row: Row, binds: bool) -> Iterator[tuple[Row, Event]]:
        for event in self.history:
            if event.type == predicate.type and self._in_scope(event, scope, row):
                new = self._matched(predicate, event, row, binds)
                if new is not None:
                    yield new, event

    def _all(self, predicate: Predicate, scope: Scope, row: Row) -> list[Event]:
        return [event for _, event in self._matching(predicate, scope, row, False)]

    def _matched(self, predicate: Predicate, event: Event, row: Row, binds: bool) -> Row | None:
        params = dict(row.params)
        inner = Row(row.events, params)
        for constraint in predicate.constraints:
            what, own = constraint.expression, event.value(constraint.attribute)
            if binds and constraint.comparison == "=" and isinstance(what, Param) and what.name not in params:
                params[what.name] = own
            elif not _compare(own, constraint.comparison, self._value(what, inner)):
                return None
        return Row({**row.events, predicate.name: event} if binds else row.events, params)

    def _condition_binding(self, clause: Condition, row: Row) -> Row:
        """Only what the condition names; its comparisons come after selection."""
        params = dict(row.params)
        for place, operand in enumerate(clause.operands[:-1]):
            following = clause.operands[place + 1]
            if isinstance(operand, Param) and operand.name not in params and isinstance(following, Aggregate):
                params[operand.name] = self._value(following, Row(row.events, params))
        return Row(row.events, params)

    def _condition(self, clause: Condition, row: Row) -> list[Row]:
        params = dict(row.params)
        inner = Row(row.events, params)
        values: list[Any] = []
        signs: list[str] = []
        place = 0
        while place < len(clause.operands):
            operand = clause.operands[place]
            following = clause.operands[place + 1] if place + 1 < len(clause.operands) else None
            names = isinstance(operand, Param) and isinstance(following, Aggregate) and clause.comparisons[place] == "="
            if names:
                assert isinstance(operand, Param)
                params[operand.name] = self._value(following, inner)
                values.append(params[operand.name])
                place += 1
            else:
                values.append(self._value(operand, inner))
            if place < len(clause.comparisons):
                signs.append(clause.comparisons[place])
            place += 1
        pairs = zip(values, signs, values[1:], strict=False)
        return [inner] if all(_compare(left, sign, right) for left, sign, right in pairs) else []

    def _value(self, what: Expression | None, row: Row) -> Any:
        match what:
            case Constant(value):
                return value
            case Param(name):
                return row.params[name]
            case Attribute(event, name):
                return row.events[event].value(name)
            case Binary(operator, left, right):
                return _arithmetic(operator, self._value(left, row), self._value(right, row))
            case Call(function, arguments):
                return _call(function, [self._value(each, row) for each in arguments])
            case Aggregate():
                return self._aggregate(what, row)
        raise AssertionError(what)

    def _aggregate(self, what: Aggregate, row: Row) -> Any:
        events = self._all(what.predicate, what.scope, row)
        if what.attribute is None:
            return len(events)
        values = [v for v in (event.value(what.attribute) for event in events) if v is not None]
        match what.function:
            case "count":
                return len(values)
            case "sum":
                return math.fsum(values)
            case "avg":
                return math.fsum(values) / len(values) if values else None
            case "min":
                return min(values, default=None)
        return max(values, default=None)


def _chosen(clause: Positive, ordered: list[Row]) -> list[Row]:
    """The last or first `number` of rows in the order of their events, of each group that `per` makes."""
    number, per, name = clause.number or 1, clause.predicate.per, clause.predicate.name
    if per is None:
        return ordered[-number:] if clause.policy == "last" else ordered[:number]
    groups: dict[Any, list[Row]] = {}
    for row in ordered:
        value = row.events[name].value(per)
        if value is not None:
            groups.setdefault(value, []).append(row)
    kept = [row for rows in groups.values() for row in (rows[-number:] if clause.policy == "last" else rows[:number])]
    return sorted(kept, key=lambda row: row.events[name].seq)


def _kind(value: Any) -> str:
    return "bool" if isinstance(value, bool) else "string" if isinstance(value, str) else "number"


def _compare(left: Any, sign: str, right: Any) -> bool:
    if left is None or right is None:
        return False
    if sign in ("=", "!="):
        same = _kind(left) == _kind(right) and left == right
        return same if sign == "=" else not same
    if _kind(left) != _kind(right) or _kind(left) == "bool":
        return False
    return bool({"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sign])


def _arithmetic(operator: str, left: Any, right: Any) -> Any:
    if left is None or right is None or (operator == "/" and right == 0):
        return None
    return {"+": left + right, "-": left - right, "*": left * right, "/": left / (right or 1)}[operator]


def _call(function: str, values: list[Any]) -> Any:
    if any(value is None for value in values):
        return None
    match function:
        case "abs":
            return abs(values[0])
        case "min" | "max":
            return min(values) if function == "min" else max(values)
        case "round":
            return round(values[0], int(values[1])) if len(values) > 1 else round(values[0])
    lat, lon, other_lat, other_lon = map(math.radians, values)
    share = math.sin((other_lat - lat) / 2) ** 2
    share += math.cos(lat) * math.cos(other_lat) * math.sin((other_lon - lon) / 2) ** 2
    return 2 * RADIUS_M * math.asin(math.sqrt(min(share, 1)))
