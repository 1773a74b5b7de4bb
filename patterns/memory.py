"""From an automaton over all conditions to one with registers: conditions split, relations programmed, steps tabled."""

from dataclasses import dataclass

import numpy as np

from foresail.patterns.automata.deterministic import Deterministic
from foresail.patterns.automata.nondeterministic import Nondeterministic
from foresail.patterns.automata.registers import Letters, RegisterAutomaton, register_steps
from foresail.patterns.conditions.relations import MOST_DEPTH, Programmer, depth_of, may_hold, own_parts
from foresail.patterns.conditions.syntax import TIME, Condition, Literal
from foresail.patterns.conditions.text import attributes_of, text_of
from foresail.patterns.conditions.typing import AttributeType, Schema
from foresail.patterns.errors import PatternRuleError
from foresail.patterns.language.conditions import Conditions
from foresail.patterns.language.registers import Registers
from foresail.patterns.limits import TooLargeError
from foresail.patterns.minterms import MOST_CONDITIONS, Alphabet

NO_TABLE = Deterministic(np.zeros((1, 1), dtype=np.int32), np.zeros(1, dtype=np.bool_))
"""Stands where a pattern without memory has its tables."""


@dataclass(frozen=True, slots=True)
class SplitConditions:
    """The conditions of a pattern with memory, and what relations ask of the current event alone."""

    names: tuple[str, ...]
    read: int
    parsed: tuple[Condition, ...]
    """Those of the pattern by their numbers, then what each relation needs before it can hold: the alphabet."""
    own: tuple[int, ...]
    """The numbers of those that read the current event alone: they choose the class."""
    relations: tuple[int, ...]
    bits: tuple[Condition, ...]
    """The conditions that are evaluated on every event: `own` first, then the parts that programs read."""
    bit_names: tuple[str, ...]


def split_conditions(conditions: Conditions, registers: Registers) -> SplitConditions:
    """Each relation with what it asks of the current event alone beside it."""
    relations = tuple(n for n in range(len(conditions.parsed)) if registers.reads[n])
    known = {text_of(condition) for condition in conditions.parsed}
    needed: dict[str, Condition] = {}
    for n in relations:
        condition = may_hold(conditions.parsed[n], registers.names)
        if not isinstance(condition, Literal) and text_of(condition) not in known:
            needed.setdefault(text_of(condition), condition)
    parsed = (*conditions.parsed, *needed.values())
    names = (*conditions.names, *needed)
    own = tuple(n for n in range(len(parsed)) if n not in relations)
    bits = {text_of(parsed[n]): (names[n], parsed[n]) for n in own}
    for n in relations:
        for part in own_parts(parsed[n], registers.names):
            bits.setdefault(text_of(part), (text_of(part), part))
    if len(parsed) > MOST_CONDITIONS or len(bits) > MOST_CONDITIONS:
        count = max(len(parsed), len(bits))
        msg = f"{conditions.places[0]}: {count} conditions with those of relations; {MOST_CONDITIONS} are the most. "
        raise PatternRuleError(msg + "Split the pattern.")
    return SplitConditions(
        names,
        conditions.read,
        parsed,
        own,
        relations,
        tuple(c for _, c in bits.values()),
        tuple(name for name, _ in bits.values()),
    )


def remembered_types(types: Schema, registers: Registers) -> dict[str, AttributeType]:
    """The types of attributes, those of remembered events among them."""
    again = {f"{register}.{name}": kind for register in registers.names for name, kind in types.items()}
    return {**again, **types}


def register_automaton(
    nfa: Nondeterministic,
    letters: Alphabet,
    asked: SplitConditions,
    registers: Registers,
    types: Schema,
    warnings: tuple[str, ...],
) -> RegisterAutomaton:
    """The tables and programs of a pattern with memory."""
    relations = tuple(asked.parsed[n] for n in asked.relations)
    reads = [registers.reads[n] for n in asked.relations]
    steps, ambiguous = register_steps(nfa, Letters.of(letters, asked.own, asked.relations), registers.names, reads)
    places = {text_of(condition): n for n, condition in enumerate(asked.bits)}
    programmer = Programmer(registers.names, _typed(relations, registers, types), places)
    programs = programmer.programs(relations)
    if depth_of(programs) > MOST_DEPTH:
        msg = f"a condition computes with more than {MOST_DEPTH} values at once. Split it."
        raise TooLargeError(msg)
    columns = tuple(programmer.columns.values())
    return RegisterAutomaton(
        registers.names,
        relations,
        programs,
        columns,
        len(asked.own),
        steps,
        asked.names,
        asked.parsed,
        asked.read,
        ambiguous,
        warnings,
    )


def _typed(relations: tuple[Condition, ...], registers: Registers, types: Schema) -> dict[str, AttributeType]:
    """The types, where an attribute of which nothing is known is taken for a number."""
    known = {TIME: AttributeType.TIMESTAMP, **types}
    for relation in relations:
        for attribute in attributes_of(relation):
            name = attribute.name if attribute.owner in registers.names else attribute.key
            known.setdefault(name, AttributeType.NUMBER)
    return remembered_types(known, registers)
