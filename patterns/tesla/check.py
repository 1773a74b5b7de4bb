"""The static checks of TESLA: every rule is resolved to slots and terms, or refused with place, fault and way out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from foresail.patterns.errors import Place, nearest
from foresail.patterns.tesla.resolved import (
    KINDS,
    SELF,
    Absent,
    Apply,
    Compare,
    Compute,
    Computed,
    Field,
    Kind,
    Literally,
    Matching,
    Resolved,
    RuleError,
    Select,
    Span,
    Step,
    Term,
    Test,
    fields_of,
)
from foresail.patterns.tesla.syntax import (
    TS,
    Aggregate,
    Attribute,
    Between,
    Binary,
    Call,
    Comparison,
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

MOST_SLOTS = 32
MOST_STEPS = 200
Schema = Mapping[str, Mapping[str, Kind]]
"""By the name of a type what is known of its attributes."""


def resolve_rules(rules: Sequence[Rule], schema: Schema | None = None) -> tuple[Resolved, ...]:
    """The rules as they are evaluated; raises `RuleError` for the first that cannot be."""
    _check_cycles(rules)
    made = _declared_types(rules)
    known: dict[str, Mapping[str, Kind]] = {**(schema or {}), **made}
    return tuple(_Resolver(rule, known, frozenset(made)).resolve() for rule in rules)


def _declared_types(rules: Sequence[Rule]) -> dict[str, dict[str, Kind]]:
    found: dict[str, tuple[Rule, list[tuple[str, str]]]] = {}
    for rule in rules:
        held: list[tuple[str, str]] = []
        for each in rule.declared:
            if each.type not in KINDS:
                msg = f"{each.place}: unknown type '{each.type}'. {nearest(each.type, KINDS)}Known: {', '.join(KINDS)}."
                raise RuleError(msg)
            if each.name == TS or each.name in dict(held):
                why = "is the time of every event" if each.name == TS else "is declared twice"
                msg = f"{each.place}: attribute '{each.name}' {why}. Choose another name."
                raise RuleError(msg)
            held.append((each.name, each.type))
        if rule.type in found and found[rule.type][1] != held:
            other = found[rule.type][0]
            msg = (
                f"{rule.place}: '{rule.type}' has other attributes than in rule '{other.name}' at {other.place}. "
                "Declare the same names and types in the same order, or name another type."
            )
            raise RuleError(msg)
        found.setdefault(rule.type, (rule, held))
    return {name: {attribute: KINDS[kind] for attribute, kind in held} for name, (_, held) in found.items()}


def _check_cycles(rules: Sequence[Rule]) -> None:
    """A composite that, as a terminator, leads to its own type would fire for ever at one instant."""
    made: dict[str, list[Rule]] = {}
    for rule in rules:
        made.setdefault(rule.terminator.type, []).append(rule)
    done: set[str] = set()
    for start in made:
        path: list[tuple[str, int]] = [(start, 0)]
        on_path = {start}
        while path:
            name, place = path.pop()
            if place == len(made.get(name, ())):
                on_path.discard(name)
                done.add(name)
                continue
            rule = made[name][place]
            path.append((name, place + 1))
            if rule.type in on_path:
                way = " -> ".join([*(n for n, _ in path), rule.type])
                msg = (
                    f"{rule.terminator.place}: the terminator of rule '{rule.name}' comes of its own result ({way}): "
                    "it would fire for ever. Make the earlier event a clause: last ... within ... from ... ."
                )
                raise RuleError(msg)
            if rule.type not in done:
                path.append((rule.type, 0))
                on_path.add(rule.type)


@dataclass(slots=True)
class _Resolver:
    """One rule, clause after clause: what is bound so far, and the steps until here."""

    rule: Rule
    known: Mapping[str, Mapping[str, Kind]]
    made: frozenset[str]
    """The types that rules define: their attributes are known to the last."""
    slots: dict[str, int] = field(default_factory=dict)
    types: list[str] = field(default_factory=list)
    params: dict[str, Term] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    computed: list[Kind | None] = field(default_factory=list)
    others: dict[str, Place] = field(default_factory=dict)
    """Names of events that are negated or aggregated: not to be used elsewhere."""

    def resolve(self) -> Resolved:
        rule = self.rule
        terminator = self._bound(rule.terminator, None)
        bound = tuple(term.attribute for term in self.params.values() if isinstance(term, Field))
        for clause in rule.clauses:
            match clause:
                case Positive():
                    span = self._span(clause.scope)
                    slot = len(self.slots)
                    matching = self._bound(clause.predicate, clause)
                    per = clause.predicate.per
                    self.steps.append(Select(slot, clause.policy, clause.number or 0, per, matching, span))
                case Negation():
                    span = self._span(clause.scope)
                    self.others[clause.predicate.name] = clause.predicate.place
                    self.steps.append(Absent(self._matching(clause.predicate, "a negation"), span))
                case Condition():
                    self._condition(clause)
        values = self._values()
        consumed = tuple(dict.fromkeys(self._slot(each.name, each.place, "consuming") for each in rule.consuming))
        if len(self.slots) > MOST_SLOTS or len(self.steps) > MOST_STEPS:
            msg = f"{rule.place}: the rule has more than {MOST_SLOTS} events or {MOST_STEPS} steps. Split it."
            raise RuleError(msg)
        return Resolved(
            rule.name, rule.type, tuple((d.name, d.type) for d in rule.declared), tuple(self.slots), tuple(self.types),
            terminator, tuple(self.steps), values, consumed, bound, rule.place,
        )  # fmt: skip

    def _bound(self, predicate: Predicate, clause: Positive | None) -> Matching:
        """A positive predicate, whose event gets a slot."""
        if predicate.name in self.slots:
            msg = (
                f"{predicate.place}: the event name '{predicate.name}' is taken. Give this one another: "
                f"{predicate.type}(...) as {predicate.name}2."
            )
            raise RuleError(msg)
        if clause is not None and predicate.per is not None and clause.policy == "each":
            msg = f"{predicate.place}: 'per' goes with last and first. Leave it out, or write last."
            raise RuleError(msg)
        matching = self._matching(predicate, None)
        self.slots[predicate.name] = len(self.slots)
        self.types.append(predicate.type)
        slot = self.slots[predicate.name]
        self.params = {name: _in_slot(term, slot) for name, term in self.params.items()}
        return matching

    def _matching(self, predicate: Predicate, unbinding: str | None) -> Matching:
        alone: list[Test] = []
        keys: list[Test] = []
        rest: list[Test] = []
        for constraint in predicate.constraints:
            what = constraint.expression
            own = Field(SELF, constraint.attribute)
            if isinstance(what, Param) and what.name not in self.params:
                if unbinding is None and constraint.comparison == "=":
                    self.params[what.name] = own
                    continue
                where = f"inside {unbinding}, which binds nothing" if unbinding else "before it is bound"
                msg = (
                    f"{what.place}: parameter ${what.name} is used {where}. Bind it in an earlier positive predicate: "
                    f"attribute=${what.name}."
                )
                raise RuleError(msg)
            term = self._term(what)
            self._check_kinds(
                self._attribute_kind(predicate.type, constraint.attribute), self._kind(term), constraint.comparison,
                constraint.place,
            )  # fmt: skip
            test = Test(constraint.attribute, constraint.comparison, term)
            reads = fields_of(term)
            if not _computes(term) and all(read.slot == SELF for read in reads):
                alone.append(test)
            elif constraint.comparison == "=" and constraint.attribute != TS and all(r.slot != SELF for r in reads):
                keys.append(test)
            else:
                rest.append(test)
        return Matching(predicate.type, tuple(alone), tuple(keys), tuple(rest))

    def _span(self, scope: Scope) -> Span:
        if isinstance(scope, Between):
            one = self._slot(scope.one, scope.place, "between")
            return Span(one, 0, self._slot(scope.other, scope.place, "between"))
        return Span(self._slot(scope.anchor, scope.place, "from"), scope.span_us)

    def _slot(self, name: str, place: Place, word: str) -> int:
        if name in self.slots:
            return self.slots[name]
        why = "is negated: there is no such event" if name in self.others else "is no event declared before this"
        hint = nearest(name, self.slots)
        msg = f"{place}: '{word} {name}': {name} {why}. {hint}Declared: {', '.join(self.slots)}."
        raise RuleError(msg)

    def _condition(self, clause: Condition) -> None:
        """A chain; `$t = Avg(...)` in it binds the parameter."""
        operands: list[Term] = []
        signs: list[Comparison] = []
        place = 0
        while place < len(clause.operands):
            what = clause.operands[place]
            following = clause.operands[place + 1] if place + 1 < len(clause.operands) else None
            binds = isinstance(what, Param) and what.name not in self.params and isinstance(following, Aggregate)
            if binds and clause.comparisons[place] == "=":
                assert isinstance(what, Param)
                assert following is not None
                term = self._term(following)
                self.params[what.name] = term
                place += 1
            else:
                term = self._term(what)
            operands.append(term)
            if place < len(clause.comparisons):
                signs.append(clause.comparisons[place])
            place += 1
        for left, sign, right in zip(operands, signs, operands[1:], strict=False):
            self._check_kinds(self._kind(left), self._kind(right), sign, clause.place)
            self.steps.append(Compare(left, sign, right))

    def _term(self, what: Expression) -> Term:
        match what:
            case Constant(value):
                return Literally(value)
            case Param(name, place):
                if name in self.params:
                    return self.params[name]
                bound = ", ".join(f"${each}" for each in self.params) or "none"
                hint = nearest(name, self.params)
                msg = f"{place}: parameter ${name} is used before it is bound. {hint}Bound: {bound}."
                raise RuleError(msg)
            case Attribute(event, name, place):
                slot = self._slot(event, place, f"{event}.{name} of")
                self._attribute_kind(self.types[slot], name, place)
                return Field(slot, name)
            case Call(function, arguments, place):
                return self._applied(function, [self._term(each) for each in arguments], place)
            case Binary(operator, left, right):
                return self._applied(operator, [self._term(left), self._term(right)], self.rule.place)
            case Aggregate():
                return self._aggregate(what)

    def _applied(self, operation: str, arguments: list[Term], place: Place) -> Term:
        for argument in arguments:
            if self._kind(argument) in ("string", "bool"):
                msg = f"{place}: '{operation}' takes numbers, and a {self._kind(argument)} stands there. Give a number."
                raise RuleError(msg)
        return Apply(operation, tuple(arguments))

    def _aggregate(self, what: Aggregate) -> Term:
        if what.attribute is None and what.function != "count":
            msg = (
                f"{what.place}: {what.function} needs an attribute. Write {what.function.capitalize()}"
                f"({what.predicate.type}(...).value ...)."
            )
            raise RuleError(msg)
        span = self._span(what.scope)
        self.others[what.predicate.name] = what.predicate.place
        matching = self._matching(what.predicate, "an aggregate")
        kind: Kind | None = "number"
        if what.attribute is not None:
            kind = self._attribute_kind(what.predicate.type, what.attribute, what.place)
            if what.function in ("sum", "avg") and kind not in (None, "number"):
                msg = f"{what.place}: {what.function} of '{what.attribute}', which is a {kind}. Give a number."
                raise RuleError(msg)
        number = len(self.computed)
        self.computed.append(kind if what.function in ("min", "max") else "number")
        self.steps.append(Compute(number, what.function, what.attribute, matching, span))
        return Computed(number)

    def _values(self) -> tuple[Term, ...]:
        declared = {each.name: each for each in self.rule.declared}
        given: dict[str, Term] = {}
        for each in self.rule.assignments:
            if each.name not in declared or each.name in given:
                why = "is set twice" if each.name in given else "is not declared"
                msg = (
                    f"{each.place}: attribute '{each.name}' {why}. {nearest(each.name, declared)}"
                    f"Declared: {', '.join(declared) or 'none'}."
                )
                raise RuleError(msg)
            given[each.name] = self._term(each.expression)
            kind, wanted = self._kind(given[each.name]), KINDS[declared[each.name].type]
            if kind is not None and kind != wanted:
                msg = f"{each.place}: '{each.name}' is declared as {wanted} and set to a {kind}. Change one of the two."
                raise RuleError(msg)
        missing = [name for name in declared if name not in given]
        if missing:
            msg = f"{declared[missing[0]].place}: 'where' does not set '{missing[0]}'. Add {missing[0]}=... to it."
            raise RuleError(msg)
        return tuple(given[name] for name in declared)

    def _attribute_kind(self, type_name: str, attribute: str, place: Place | None = None) -> Kind | None:
        if attribute == TS:
            return "number"
        held = self.known.get(type_name, {})
        if attribute not in held and type_name in self.made:
            made = ", ".join([*held, TS])
            msg = (
                f"{place or self.rule.place}: '{type_name}' has no attribute '{attribute}'. "
                f"{nearest(attribute, held)}It has: {made}."
            )
            raise RuleError(msg)
        return held.get(attribute)

    def _kind(self, term: Term) -> Kind | None:
        match term:
            case Literally(value):
                return "bool" if isinstance(value, bool) else "string" if isinstance(value, str) else "number"
            case Field(slot, attribute):
                if slot == SELF:
                    return None
                return "number" if attribute == TS else self.known.get(self.types[slot], {}).get(attribute)
            case Computed(number):
                return self.computed[number]
            case Apply():
                return "number"

    def _check_kinds(self, left: Kind | None, right: Kind | None, sign: Comparison, place: Place) -> None:
        if left is None or right is None:
            return
        if left != right:
            msg = f"{place}: a {left} is compared with a {right}, which is never true. Compare values of one type."
            raise RuleError(msg)
        if left == "bool" and sign not in ("=", "!="):
            msg = f"{place}: truth values have no order. Use = or !=."
            raise RuleError(msg)


def _in_slot(term: Term, slot: int) -> Term:
    """A parameter that its predicate has just bound, as all that follows reads it."""
    return Field(slot, term.attribute) if isinstance(term, Field) and term.slot == SELF else term


def _computes(term: Term) -> bool:
    match term:
        case Computed():
            return True
        case Apply(_, arguments):
            return any(_computes(argument) for argument in arguments)
        case _:
            return False
