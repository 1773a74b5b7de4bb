"""Resolved rules to the arrays that the kernel reads: columns are shared, constants are indexed, terms are code."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.tesla import tables as t
from foresail.patterns.tesla.keys import key_of
from foresail.patterns.tesla.resolved import (
    SELF,
    Absent,
    Apply,
    Compare,
    Compute,
    Computed,
    Field,
    Literally,
    Matching,
    Resolved,
    Select,
    Span,
    Step,
    Term,
    Test,
    fields_of,
    terms_of,
)
from foresail.patterns.tesla.static_index import index_entries
from foresail.patterns.tesla.syntax import TS
from foresail.patterns.tesla.values import Dictionary

COMPARISONS = {"=": t.EQUAL, "!=": t.UNEQUAL, "<": t.BELOW, "<=": t.AT_MOST, ">": t.ABOVE, ">=": t.AT_LEAST}
OPERATIONS = {"+": t.ADD, "-": t.SUBTRACT, "*": t.MULTIPLY, "/": t.DIVIDE, "min": t.SMALLER, "max": t.LARGER}
FUNCTIONS = {"count": t.COUNT, "sum": t.SUM, "avg": t.AVERAGE, "min": t.MINIMUM, "max": t.MAXIMUM}
POLICIES = {"each": t.EACH, "last": t.LAST, "first": t.FIRST}
SHARED_FROM = 4
"""So many predicates that differ in a threshold alone share a column."""
ROW_LIMIT = 100_000
NO_ATTRIBUTE, TIME_ATTRIBUTE = -2, -1


@dataclass(frozen=True, slots=True)
class Lowered:
    """A rule set as arrays, and what their numbers mean."""

    tables: t.Tables
    types: tuple[str, ...]
    attributes: tuple[str, ...]
    rules: tuple[Resolved, ...]
    texts: tuple[str, ...]
    """The constants that are texts; their codes are the first of any dictionary."""
    most_slots: int
    most_values: int
    most_steps: int
    most_stack: int
    memos: int
    computed_memos: int
    horizon_us: int
    """How far back any window reaches."""


def lower_rules(
    rules: Sequence[Resolved], ties: str = "strict", selection: str = "local", limit: int = ROW_LIMIT
) -> Lowered:
    """The arrays of a rule set under its two options."""
    return _Lowering(tuple(rules), selection == "admissible", ties == "arrival", limit).lower()


def _types_of(rules: Sequence[Resolved]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(matching.type for rule in rules for matching in rule.matchings()))


def _attributes_of(rules: Sequence[Resolved]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for rule in rules:
        key = key_of(rule)
        found |= dict.fromkeys([] if key is None else [key])
        for term in terms_of(rule):
            found |= dict.fromkeys(read.attribute for read in fields_of(term))
        for matching in rule.matchings():
            found |= dict.fromkeys(test.attribute for test in (*matching.alone, *matching.keys, *matching.rest))
        for step in rule.steps:
            if isinstance(step, Compute) and step.attribute is not None:
                found[step.attribute] = None
            if isinstance(step, Select) and step.per is not None:
                found[step.per] = None
    return tuple(name for name in found if name != TS)


@dataclass(slots=True)
class _Lowering:
    rules: tuple[Resolved, ...]
    admissible: bool
    arrival: bool
    limit: int
    dictionary: Dictionary = field(default_factory=Dictionary)
    code: list[tuple[int, int, int]] = field(default_factory=list)
    code_at: list[int] = field(default_factory=lambda: [0])
    constants: list[float] = field(default_factory=list)
    terms: dict[Term, int] = field(default_factory=dict)
    tests: list[tuple[int, int, int]] = field(default_factory=list)
    test_constants: list[float] = field(default_factory=list)
    columns: dict[tuple[object, ...], int] = field(default_factory=dict)
    column_rows: list[list[int]] = field(default_factory=list)
    column_matchings: list[tuple[str, tuple[Test, ...]]] = field(default_factory=list)
    probes: list[list[int]] = field(default_factory=list)
    memos: dict[tuple[object, ...], int] = field(default_factory=dict)
    computed_memos: dict[tuple[object, ...], int] = field(default_factory=dict)
    steps: list[list[int]] = field(default_factory=list)
    rule_rows: list[list[int]] = field(default_factory=list)
    value_terms: list[int] = field(default_factory=list)
    value_attributes: list[int] = field(default_factory=list)
    consumed: list[int] = field(default_factory=list)
    type_numbers: dict[str, int] = field(default_factory=dict)
    attribute_numbers: dict[str, int] = field(default_factory=dict)
    shared: frozenset[tuple[object, ...]] = frozenset()

    def lower(self) -> Lowered:
        types, attributes = _types_of(self.rules), _attributes_of(self.rules)
        self.type_numbers = {name: number for number, name in enumerate(types)}
        self.attribute_numbers = {name: number for number, name in enumerate(attributes)}
        self.shared = self._shared()
        consuming = {rule.name: n for n, rule in enumerate(r for r in self.rules if r.consumed)}
        for rule in self.rules:
            self._rule(rule, consuming.get(rule.name, -1))
        entries = [(t.FIRES, n, rule.terminator.type, rule.terminator.alone) for n, rule in enumerate(self.rules)]
        entries += [(t.STORES, n, name, alone) for n, (name, alone) in enumerate(self.column_matchings)]
        index = index_entries(entries, types, self.attribute_numbers, self.dictionary, self._tests)
        built = t.Tables(
            _table(self.code, 3),
            np.array(self.code_at, dtype=np.int64),
            np.array(self.constants or [0.0]),
            _table(self.tests, 3),
            np.array(self.test_constants or [0.0]),
            *index,
            _table(self.column_rows, t.C_KEY + t.MOST_KEYS),
            _table(self.probes, t.P_KEY + t.MOST_KEYS),
            _table(self.steps, t.S_MEMO + 1),
            _table(self.rule_rows, t.R_TYPE + 1),
            np.array(self.value_terms or [0], dtype=np.int64),
            np.array(self.value_attributes or [-1], dtype=np.int64),
            np.array(self.consumed or [0], dtype=np.int64),
            self.dictionary.ranks(),
            int(self.arrival),
            len(consuming),
            int(any(0 in rule.consumed for rule in self.rules)),
            self.limit,
        )
        return Lowered(
            built, types, attributes, self.rules, tuple(self.dictionary.texts),
            max(len(rule.names) for rule in self.rules), max(len(rule.values) + 1 for rule in self.rules),
            max(len(rule.steps) for rule in self.rules) + 1,
            max([len(self.code), 4]) + 1 if len(self.code) < 64 else 1 + int(np.diff(self.code_at).max()),
            len(self.memos), len(self.computed_memos), max((row[t.C_HORIZON] for row in self.column_rows), default=0),
        )  # fmt: skip

    def _shared(self) -> frozenset[tuple[object, ...]]:
        """Forms of predicates without one threshold in which many differ."""
        seen = {
            (matching.type, matching.alone, matching.keys): None
            for rule in self.rules
            if not rule.consumed
            for step in rule.steps
            if isinstance(step, Select | Absent)
            for matching in (step.matching,)
        }
        forms = Counter(
            _form(Matching(kind, alone, keys, ()), test)
            for kind, alone, keys in seen
            for test in alone
            if _is_threshold(test)
        )
        return frozenset(form for form, times in forms.items() if times >= SHARED_FROM)

    def _rule(self, rule: Resolved, consuming: int) -> None:
        reach = _reach(rule)
        first_step = len(self.steps)
        for step in rule.steps:
            self.steps.append(self._step(step, consuming, reach))
        first_value, first_consumed = len(self.value_terms), len(self.consumed)
        key = key_of(rule)
        own = () if key is None else (Field(0, key),)
        self.value_terms += [self._term(term) for term in (*rule.values, *own)]
        self.value_attributes += [self.attribute_numbers.get(name, -1) for name, _ in rule.attributes] + [-1] * len(own)
        self.consumed += rule.consumed
        admissible = int(self.admissible and _selection_matters(rule))
        self.rule_rows.append(
            [
                first_step, len(self.steps), first_value, len(self.value_terms), first_consumed, len(self.consumed),
                consuming, admissible, len(rule.names), self.type_numbers.get(rule.type, -1),
            ]
        )  # fmt: skip

    def _step(self, step: Step, consuming: int, reach: Sequence[int]) -> list[int]:
        row = [0] * (t.S_MEMO + 1)
        row[t.S_MEMO] = row[t.S_PER] = -1
        match step:
            case Select(slot, policy, number, per, matching, span):
                row[t.S_KIND], row[t.S_SLOT], row[t.S_NUMBER] = POLICIES[policy], slot, number
                row[t.S_PER] = -1 if per is None else self.attribute_numbers[per]
                row[t.S_PROBE] = self._probe(matching, span, reach, consuming=consuming)
            case Absent(matching, span):
                row[t.S_KIND], row[t.S_PROBE] = t.ABSENT, self._probe(matching, span, reach)
            case Compute(number, function, attribute, matching, span):
                row[t.S_KIND], row[t.S_SLOT], row[t.S_FUNCTION] = t.COMPUTE, number, FUNCTIONS[function]
                row[t.S_ATTRIBUTE] = self._attribute(attribute)
                row[t.S_PROBE] = self._probe(matching, span, reach, summed=(function, attribute))
                reads = [test.term for test in (*matching.keys, *matching.rest)]
                if span.anchor == 0 and span.other is None and not matching.rest and _of_terminator(reads):
                    key = (function, attribute, matching, span.span_us)
                    row[t.S_MEMO] = self.computed_memos.setdefault(key, len(self.computed_memos))
            case Compare(left, comparison, right):
                row[t.S_KIND], row[t.S_COMPARISON] = t.COMPARE, COMPARISONS[comparison]
                row[t.S_LEFT], row[t.S_RIGHT] = self._term(left), self._term(right)
        return row

    def _attribute(self, name: str | None) -> int:
        if name is None:
            return NO_ATTRIBUTE
        return TIME_ATTRIBUTE if name == TS else self.attribute_numbers[name]

    def _probe(
        self,
        matching: Matching,
        span: Span,
        reach: Sequence[int],
        consuming: int = -1,
        summed: tuple[str, str | None] | None = None,
    ) -> int:
        keys, rest = matching.keys[: t.MOST_KEYS], [*matching.rest, *matching.keys[t.MOST_KEYS :]]
        alone = matching.alone
        if summed is None and consuming < 0:
            moved = [test for test in alone if _is_threshold(test) and _form(matching, test) in self.shared][:1]
            alone = tuple(test for test in alone if test not in moved)
            rest = [*moved, *rest]
        sums = NO_ATTRIBUTE
        counts_all = 0
        if summed is not None and summed[0] in ("count", "sum", "avg") and not rest:
            sums, counts_all = self._attribute(summed[1]), int(summed[0] == "count" and summed[1] is not None)
        names = tuple(self.attribute_numbers[test.attribute] for test in keys)
        column = self._column(matching.type, alone, names, sums, counts_all, consuming)
        other = -1 if span.other is None else span.other
        back = reach[span.anchor] + span.span_us if span.other is None else max(reach[span.anchor], reach[span.other])
        self.column_rows[column][t.C_HORIZON] = max(self.column_rows[column][t.C_HORIZON], back)
        key_terms = [self._term(test.term) for test in keys]
        memo = -1
        if _of_terminator([test.term for test in keys]):
            memo = self.memos.setdefault((column, tuple(key_terms)), len(self.memos))
        begin, end = self._tests(rest)
        padding = [0] * (t.MOST_KEYS - len(key_terms))
        self.probes.append([column, begin, end, other, span.anchor, span.span_us, memo, *key_terms, *padding])
        return len(self.probes) - 1

    def _column(
        self, kind: str, alone: tuple[Test, ...], keys: tuple[int, ...], sums: int, counts_all: int, consuming: int
    ) -> int:
        identity = (kind, frozenset(alone), keys, sums, counts_all, consuming)
        if identity not in self.columns:
            self.columns[identity] = len(self.column_rows)
            padding = [0] * (t.MOST_KEYS - len(keys))
            self.column_rows.append([len(keys), 0, sums, counts_all, consuming, *keys, *padding])
            self.column_matchings.append((kind, alone))
        return self.columns[identity]

    def _tests(self, tests: Sequence[Test]) -> tuple[int, int]:
        begin = len(self.tests)
        for test in tests:
            constant = isinstance(test.term, Literally)
            term = -1 if constant else self._term(test.term)
            attribute = TIME_ATTRIBUTE if test.attribute == TS else self.attribute_numbers[test.attribute]
            self.tests.append((attribute, COMPARISONS[test.comparison], term))
            self.test_constants.append(
                self.dictionary.value(test.term.value) if isinstance(test.term, Literally) else 0.0
            )
        return begin, len(self.tests)

    def _term(self, term: Term) -> int:
        if term not in self.terms:
            self._emit(term)
            self.terms[term] = len(self.code_at) - 1
            self.code_at.append(len(self.code))
        return self.terms[term]

    def _emit(self, term: Term) -> None:
        match term:
            case Literally(value):
                self.constants.append(self.dictionary.value(value))
                self.code.append((t.CONSTANT, len(self.constants) - 1, 0))
            case Field(slot, attribute):
                if attribute == TS:
                    self.code.append((t.TIME, slot, 0))
                else:
                    self.code.append((t.ATTRIBUTE, slot, self.attribute_numbers[attribute]))
            case Computed(number):
                self.code.append((t.TEMPORARY, number, 0))
            case Apply(operation, arguments):
                self._emit(arguments[0])
                unary = {"abs": t.ABSOLUTE, "round": t.ROUNDED}
                if operation == "dist":
                    for argument in arguments[1:]:
                        self._emit(argument)
                    self.code.append((t.DISTANCE, 0, 0))
                elif len(arguments) == 1:
                    self.code.append((unary[operation], 0, 0))
                for argument in arguments[1:] if operation != "dist" else ():
                    self._emit(argument)
                    self.code.append((t.ROUNDED_TO if operation == "round" else OPERATIONS[operation], 0, 0))


def _table(rows: Sequence[Sequence[int]], width: int) -> NDArray[np.int64]:
    return np.array(rows, dtype=np.int64).reshape(-1, width) if rows else np.zeros((1, width), dtype=np.int64)


def _is_threshold(test: Test) -> bool:
    constant = isinstance(test.term, Literally) and type(test.term.value) is float
    return constant and test.comparison not in ("=", "!=") and test.attribute != TS


def _form(matching: Matching, test: Test) -> tuple[object, ...]:
    others = frozenset(other for other in matching.alone if other is not test)
    keys = tuple(key.attribute for key in matching.keys)
    return (matching.type, others, keys, test.attribute, test.comparison)


def _of_terminator(terms: Sequence[Term]) -> bool:
    """Whether they are known from the terminator alone."""
    return all(_reads_only_terminator(term) for term in terms)


def _reads_only_terminator(term: Term) -> bool:
    match term:
        case Literally():
            return True
        case Field(slot, _):
            return slot == 0
        case Apply(_, arguments):
            return all(_reads_only_terminator(argument) for argument in arguments)
        case Computed():
            return False


def _reach(rule: Resolved) -> list[int]:
    """How long before the terminator the event of each slot may be, at most."""
    reach = [0] * len(rule.names)
    for step in rule.steps:
        if isinstance(step, Select):
            reach[step.slot] = reach[step.span.anchor] + step.span.span_us
    return reach


def _selection_matters(rule: Resolved) -> bool:
    """Whether admissible selection can differ from local: not where one clause selects and no negation looks at it."""
    selects = [step for step in rule.steps if isinstance(step, Select)]
    if all(step.policy == "each" for step in selects):
        return False
    if len(selects) > 1:
        return True
    negations = [step for step in rule.steps if isinstance(step, Absent)]
    reads = [
        field
        for step in negations
        for term in step.matching.keys + step.matching.rest
        for field in fields_of(term.term)
    ]
    spans = {slot for step in negations for slot in (step.span.anchor, step.span.other)}
    computes = any(not _plain(test.term) for step in negations for test in (*step.matching.keys, *step.matching.rest))
    return computes or 1 in spans or any(read.slot not in (0, SELF) for read in reads)


def _plain(term: Term) -> bool:
    match term:
        case Computed():
            return False
        case Apply(_, arguments):
            return all(_plain(argument) for argument in arguments)
        case _:
            return True
