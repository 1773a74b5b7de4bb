"""A query over columns: guards by whole arrays, runs by the kernel, and results in the same form as over graphs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.spaseq import column_kernel as kernel
from foresail.patterns.spaseq.column_table import Column, ColumnTable
from foresail.patterns.spaseq.expressions import (
    Arithmetic,
    Bound,
    Compare,
    Constant,
    Expression,
    Logic,
    Mu,
    Negation,
    Var,
)
from foresail.patterns.spaseq.filters import asking
from foresail.patterns.spaseq.knowledge import Knowledge, Row
from foresail.patterns.spaseq.lower import ColumnGpm, ColumnKnowledge, ColumnPlan, NotLowered
from foresail.patterns.spaseq.results import Binding, Projection
from foresail.patterns.spaseq.runs import Found, Trace
from foresail.patterns.spaseq.terms import value_of

Bits: TypeAlias = NDArray[np.int64]
KnownRows: TypeAlias = dict[str | None, list[Row]]
"""By the term of the shared variable the rows of knowledge; under None all, where nothing is shared."""
_AFTER = {None: kernel.FIRST, ",": kernel.STRICT, ";": kernel.NEXT, ":": kernel.ANY}
_ROOM = 1_024
_OPERATIONS = {
    "+": kernel.ADD,
    "-": kernel.SUBTRACT,
    "*": kernel.MULTIPLY,
    "<": kernel.LESS,
    "<=": kernel.LESS_EQUAL,
    "=": kernel.EQUAL,
    "!=": kernel.NOT_EQUAL,
}
_CHANGED_SIDES = {">": "<", ">=": "<="}


class ColumnMachine:
    """A plan over columns with its knowledge."""

    def __init__(self, lowered: ColumnPlan, known: Sequence[KnownRows]) -> None:
        self._lowered = lowered
        self._plan = lowered.plan
        self._projection = Projection(lowered.plan)
        self._slots = {name: slot for slot, name in enumerate(lowered.variables)}
        # by the place of a pattern and of its knowledge
        asked = ((n, m) for n, gpm in enumerate(lowered.gpms) for m in range(len(gpm.knowledge)))
        self._known = dict(zip(asked, known, strict=True))

    def results(self, table: ColumnTable, start_us: int) -> tuple[list[Binding], int]:
        """What the query finds in a table, and how many runs a limit has cut off; windows begin at `start_us`."""
        names = list(table.columns)
        values = np.ascontiguousarray([table.columns[name].values for name in names])
        tables = self._tables(names, table, start_us)
        counts = np.zeros(4, np.int64)
        slots = max(len(self._slots), 1)
        nodes, matches = kernel.column_kernel()(
            tables,
            table.first_of,
            table.times,
            self._guards(table),
            values.reshape(len(names), len(table.times)),
            kernel.fresh_pool(_ROOM, slots),
            kernel.fresh_nodes(_ROOM),
            kernel.fresh_matches(_ROOM, slots),
            counts,
        )
        found = self._found(table, nodes, matches, int(counts[kernel.RESULTS]))
        return self._projected(found), int(counts[kernel.CUT_OFF])

    def _projected(self, found: Iterable[Found]) -> list[Binding]:
        by_time: dict[int, list[Found]] = {}
        for match in found:
            by_time.setdefault(match.time_us, []).append(match)
        return [one for time_us in sorted(by_time) for one in self._projection.results(by_time[time_us])]

    def _found(self, table: ColumnTable, nodes: Any, matches: Any, count: int) -> Iterable[Found]:
        ways = [way for atom in self._plan.atoms for way in atom.alternatives]
        columns = [table.columns[self._column_of(name)] for name in self._slots]
        for number in range(count):
            steps = []
            node = int(matches.node[number])
            while node >= 0:
                steps.append((int(nodes.way[node]), int(table.times[nodes.event[node]])))
                node = int(nodes.before[node])
            trace: Trace | None = None
            for way, time_us in reversed(steps):
                for use in ways[way].uses:
                    trace = (trace, use, time_us)
            values = matches.registers[number].tolist()
            held = {
                name: column.term(value)
                for name, column, value in zip(self._slots, columns, values, strict=False)
                if value == value  # noqa: PLR0124 - not NaN
            }
            uses = {use for way, _ in steps for use in ways[way].uses}
            yield Found(steps[0][1], trace, tuple(self._enriched(held, uses)))

    def _column_of(self, variable: str) -> str:
        return next(column for gpm in self._lowered.gpms for name, column in gpm.binds if name == variable)

    def _enriched(self, held: dict[str, str], uses: set[int]) -> list[Mu]:
        """The mapping with all that is known of it."""
        every = [held]
        for use in sorted(uses):
            gpm = self._plan.use_gpm[use]
            for place, one in enumerate(self._lowered.gpms[gpm].knowledge):
                rows = self._known[gpm, place][held[one.variable] if one.variable else None]
                every = [
                    {
                        **mapping,
                        **{n: term for n, term in zip(one.part.variables, row, strict=True) if term is not None},
                    }
                    for mapping in every
                    for row in rows
                ]
        return list(dict.fromkeys(tuple(mapping.get(name) for name in self._plan.slots) for mapping in every))

    def _guards(self, table: ColumnTable) -> Bits:
        """Per row the bits of the uses whose pattern it matches by itself."""
        by_gpm = [self._matches(place, gpm, table) for place, gpm in enumerate(self._lowered.gpms)]
        guards = np.zeros(len(table.times), np.int64)
        for use, gpm in enumerate(self._plan.use_gpm):
            guards |= by_gpm[gpm].astype(np.int64) << use
        return guards

    def _matches(self, place: int, gpm: ColumnGpm, table: ColumnTable) -> NDArray[np.bool_]:
        fits = np.ones(len(table.times), np.bool_)
        for name in dict.fromkeys([column for _, column in gpm.binds] + [column for column, _ in gpm.constants]):
            fits &= ~np.isnan(table.columns[name].values)
        for name, term in gpm.constants:
            code = table.columns[name].code(term)
            fits &= False if code is None else table.columns[name].values == code
        columns = {variable: table.columns[name] for variable, name in reversed(gpm.binds)}
        for variable, name in gpm.binds:
            if table.columns[name] is not columns[variable]:
                fits &= table.columns[name].values == columns[variable].values
        for expression in gpm.filters:
            fits &= _evaluated(expression, columns)
        for number, one in enumerate(gpm.knowledge):
            known = self._known[place, number]
            if one.variable is None:
                fits &= bool(known.get(None))
            else:
                fits &= _is_known(columns[one.variable], known, fits)
        return fits

    def _tables(self, names: Sequence[str], table: ColumnTable, start_us: int) -> kernel.Tables:
        plan, options = self._plan, self._plan.options
        ways = [way for atom in plan.atoms for way in atom.alternatives]
        binds = [[bind for use in way.uses for bind in self._lowered.gpms[plan.use_gpm[use]].binds] for way in ways]
        code = _Code(self._slots, lambda name: table.columns[self._column_of(name)])
        first_code = [0]
        for way in ways:
            code.conjunction([e for use in way.uses for e in self._lowered.gpms[plan.use_gpm[use]].stateful])
            first_code.append(len(code.operation))
        return kernel.Tables(
            _longs(np.cumsum([0, *(len(atom.alternatives) for atom in plan.atoms)])),
            _longs([_AFTER[atom.after] for atom in plan.atoms]),
            _longs([atom.postfix == "+" for atom in plan.atoms]),
            np.array([sum(1 << use for use in way.uses) for way in ways], np.uint64).view(np.int64),
            _longs(np.cumsum([0, *map(len, binds)])),
            _longs([self._slots[variable] for way in binds for variable, _ in way]),
            _longs([names.index(column) for way in binds for _, column in way]),
            _longs(first_code),
            _longs(code.operation),
            _longs(code.operand),
            np.array(code.constants, np.float64),
            int(options.kleene == "formal"),
            int(options.windows == "per_run"),
            plan.query.within_us,
            int(options.half_open),
            start_us,
        )


class _Code:
    """Conditions as code for the kernel's stack."""

    def __init__(self, slots: Mapping[str, int], column_of: Callable[[str], Column]) -> None:
        self.operation: list[int] = []
        self.operand: list[int] = []
        self.constants: list[float] = []
        self._slots = slots
        self._column_of = column_of

    def conjunction(self, parts: Sequence[Expression]) -> None:
        for number, part in enumerate(parts):
            self._write(part)
            if number:
                self._add(kernel.ALL)

    def _add(self, operation: int, operand: int = 0) -> None:
        self.operation.append(operation)
        self.operand.append(operand)

    def _write(self, expression: Expression) -> None:
        match expression:
            case Var(name):
                self._add(kernel.SLOT, self._slots[name])
            case Constant(term):
                self._constant(float(value_of(term) or 0))
            case Compare(sign, left, right):
                if sign in _CHANGED_SIDES:
                    left, right = right, left
                self._side(left, right)
                self._side(right, left)
                self._add(_OPERATIONS[_CHANGED_SIDES.get(sign, sign)])
            case Arithmetic(sign, left, right):
                self._write(left)
                self._write(right)
                self._add(_OPERATIONS[sign])
            case Logic(sign, parts):
                for number, part in enumerate(parts):
                    self._write(part)
                    if number:
                        self._add(kernel.ALL if sign == "&&" else kernel.SOME)
            case Negation(part):
                self._write(part)
                self._add(kernel.NOT)
            case Bound():
                msg = "lowering lets no BOUND through"
                raise AssertionError(msg)
            case _:
                assert_never(expression)

    def _side(self, side: Expression, other: Expression) -> None:
        """One side of a comparison; a text is compared by its place in the other side's list."""
        if isinstance(side, Constant) and isinstance(other, Var):
            self._constant(_code_of(side, self._column_of(other.name)))
        else:
            self._write(side)

    def _constant(self, value: float) -> None:
        self._add(kernel.CONSTANT, len(self.constants))
        self.constants.append(value)


def _code_of(constant: Constant, column: Column) -> float:
    if column.terms.kind in ("string", "iri"):
        code = column.code(constant.term)
        return -1.0 if code is None else code
    value = value_of(constant.term)
    assert value is not None, "lowering compares with terms that have a value"
    return float(value)


def _evaluated(expression: Expression, columns: Mapping[str, Column]) -> Any:
    """A filter over the columns of one row, for all rows at once."""
    match expression:
        case Var(name):
            return columns[name].values
        case Constant(term):
            value = value_of(term)
            return float(value) if value is not None and not isinstance(value, str) else np.nan
        case Compare(sign, left, right):
            one, other = _side_of(left, right, columns), _side_of(right, left, columns)
            return {
                "<": np.less,
                "<=": np.less_equal,
                ">": np.greater,
                ">=": np.greater_equal,
                "=": np.equal,
                "!=": np.not_equal,
            }[sign](one, other)
        case Arithmetic(sign, left, right):
            one, other = _evaluated(left, columns), _evaluated(right, columns)
            return one + other if sign == "+" else one - other if sign == "-" else one * other
        case Logic(sign, parts):
            found = [_evaluated(part, columns) for part in parts]
            return np.logical_and.reduce(found) if sign == "&&" else np.logical_or.reduce(found)
        case Negation(part):
            return ~_evaluated(part, columns)
        case Bound():
            msg = "lowering lets no BOUND through"
            raise AssertionError(msg)
        case _:
            assert_never(expression)


def _side_of(side: Expression, other: Expression, columns: Mapping[str, Column]) -> Any:
    if isinstance(side, Constant) and isinstance(other, Var):
        return _code_of(side, columns[other.name])
    return _evaluated(side, columns)


def known_rows(lowered: ColumnPlan, knowledge: Knowledge | None) -> list[KnownRows]:
    """What a plan asks of knowledge, answered once: plain values that can be sent to whoever runs it."""
    prologue = lowered.plan.query.prologue
    return [_known_rows(one, knowledge, prologue) for gpm in lowered.gpms for one in gpm.knowledge]


def _known_rows(one: ColumnKnowledge, knowledge: Knowledge | None, prologue: str) -> KnownRows:
    places = {name: place for place, name in enumerate(one.part.variables)}
    rows = [] if knowledge is None else knowledge.rows(one.part, prologue)
    for condition in one.conditions:
        holds = asking(condition, places, prologue)
        rows = [row for row in rows if holds(row)]
    found: KnownRows = {}
    for row in rows:
        key = None if one.variable is None else row[places[one.variable]]
        if key is None and one.variable is not None:
            msg = f"knowledge leaves ?{one.variable} unbound, which joins everything"
            raise NotLowered(msg)
        found.setdefault(key, []).append(row)
    return found


def _is_known(column: Column, known: KnownRows, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For which rows among those that are asked for something is known of the column's value."""
    found = np.zeros(len(asked), np.bool_)
    if column.texts:
        answers = np.array([column.terms.term(text) in known for text in column.texts], np.bool_)
        found[asked] = answers[column.values[asked].astype(np.int64)]
        return found
    distinct, places = np.unique(column.values[asked], return_inverse=True)
    answers = np.array([column.term(value) in known for value in distinct.tolist()], np.bool_)
    found[asked] = answers[places] if len(distinct) else False
    return found


def _longs(values: Any) -> NDArray[np.int64]:
    return np.asarray(values, np.int64).reshape(-1)
