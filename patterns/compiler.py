"""Text to automaton. This file knows the order of the passes and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.automata.deterministic import Deterministic, complement, detector, detectors, symbol_classes
from foresail.patterns.automata.explosion import explained
from foresail.patterns.automata.limits import SizeExceededError
from foresail.patterns.automata.marking import Marking, marking
from foresail.patterns.automata.nondeterministic import Nondeterministic, construct, trimmed
from foresail.patterns.automata.registers import RegisterAutomaton
from foresail.patterns.conditions.syntax import Attribute, Condition
from foresail.patterns.conditions.text import attributes_of
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.language.check import check_alphabet, check_conditions, check_matchable, check_tree
from foresail.patterns.language.conditions import Conditions, resolve_conditions
from foresail.patterns.language.expand import Core, expand
from foresail.patterns.language.parser import parse_pattern
from foresail.patterns.language.registers import (
    Registers,
    check_complements,
    check_registers,
    find_registers,
    unwritten_reads,
)
from foresail.patterns.language.syntax import Pattern
from foresail.patterns.memory import NO_TABLE, register_automaton, remembered_types, split_conditions
from foresail.patterns.minterms import Alphabet, alphabet
from foresail.patterns.spec import Output, PatternSpec


@dataclass(frozen=True, slots=True, eq=False)
class CompiledPattern:
    """A pattern as it runs: its conditions, its alphabet, and its automata over classes of symbols."""

    spec: PatternSpec
    tree: Pattern
    condition_names: tuple[str, ...]
    conditions: tuple[Condition, ...]
    alphabet: Alphabet
    nfa: Nondeterministic
    classes: NDArray[np.int32]
    """For each symbol its class: the column of the tables."""
    automaton: Deterministic
    watching: Deterministic
    """As `automaton`, but in state 0 only while no run is under way: what recognition steps, to tell every start."""
    marking: Marking | None
    """Made when sets of events are counted or listed."""
    memory: RegisterAutomaton | None = None
    """Of a pattern that reads registers: what it runs on instead of the tables. Its conditions are then those on one
    event, its alphabet and `nfa` are over all of them, relations included."""

    @property
    def name(self) -> str:
        """The pattern's name."""
        return self.spec.name

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """All that it reads of events, of the current one or of those that registers hold."""
        asked = self.conditions if self.memory is None else self.memory.asked
        registers = () if self.memory is None else self.memory.registers
        read = [attribute for condition in asked for attribute in attributes_of(condition)]
        return tuple(dict.fromkeys(Attribute(a.name) if a.owner in registers else a for a in read))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is right but hardly meant, each with its place."""
        return self.memory.warnings if self.memory is not None else ()

    @property
    def states(self) -> int:
        """Of the automaton that it runs on."""
        return self.automaton.states if self.memory is None else self.nfa.states

    @property
    def symbol_names(self) -> tuple[str, ...]:
        """The conditions that a symbol tells of; with registers the relations are among them."""
        return self.condition_names if self.memory is None else self.memory.names

    @property
    def version(self) -> int:
        """The version of the catalog entry."""
        return self.spec.version


def compile_pattern(spec: PatternSpec, attributes: Mapping[str, AttributeType] | None = None) -> CompiledPattern:
    """The automata that recognise `spec`; with `attributes` its conditions are checked against the events' schema."""
    tree = parse_pattern(spec.pattern.text, spec.pattern.place)
    check_tree(tree, spec)
    return compile_tree(tree, resolve_conditions(tree, spec), spec, attributes)


def compile_tree(
    tree: Pattern, conditions: Conditions, spec: PatternSpec, attributes: Mapping[str, AttributeType] | None = None
) -> CompiledPattern:
    """The automata of a tree, whatever language it was written in: faults point at the places that its nodes carry."""
    registers = find_registers(tree, conditions, spec, attributes)
    check_conditions(conditions, spec, attributes)
    if registers:
        return _with_memory(tree, conditions, registers, spec, attributes)
    letters = alphabet(conditions.parsed, exclusive=_exclusive(conditions, spec), types=_types(spec, attributes))
    check_alphabet(letters, conditions)
    try:
        nfa = trimmed(_construct(expand(tree, conditions.number), letters), must_mark_last=True)
        check_matchable(nfa, spec)
        classes = symbol_classes(nfa, len(letters.codes))
        detecting = detectors(nfa, classes)
        marked = marking(nfa, classes) if spec.output is not Output.DETECT else None
    except SizeExceededError as error:
        raise explained(error, tree, spec, lambda part: _probe(part, conditions, letters)) from None
    return CompiledPattern(
        spec,
        tree,
        conditions.names,
        conditions.parsed,
        letters,
        nfa,
        classes,
        detecting.smallest,
        detecting.watching,
        marked,
    )


def _with_memory(
    tree: Pattern,
    conditions: Conditions,
    registers: Registers,
    spec: PatternSpec,
    attributes: Mapping[str, AttributeType] | None,
) -> CompiledPattern:
    """The automaton of a pattern that reads registers."""
    check_registers(tree, registers, conditions, spec)
    types = _types(spec, attributes)
    asked = split_conditions(conditions, registers)
    letters = alphabet(asked.parsed, exclusive=_exclusive(conditions, spec), types=remembered_types(types, registers))
    check_alphabet(letters, conditions)
    core = expand(tree, conditions.number, kept=frozenset(registers.names))
    check_complements(core, registers, spec)
    try:
        nfa = trimmed(_construct(core, letters), must_mark_last=True)
        check_matchable(nfa, spec)
        memory = register_automaton(nfa, letters, asked, registers, types, unwritten_reads(core, registers, conditions))
    except SizeExceededError as error:
        raise explained(error, tree, spec, lambda part: _probe(part, conditions, letters)) from None
    return CompiledPattern(
        spec,
        tree,
        asked.bit_names,
        asked.bits,
        letters,
        nfa,
        symbol_classes(nfa, len(letters.codes)),
        NO_TABLE,
        NO_TABLE,
        None,
        memory,
    )


def _types(spec: PatternSpec, attributes: Mapping[str, AttributeType] | None) -> dict[str, AttributeType]:
    """What is known of the attributes' types: at the least, that `time` is a time and a distance a number."""
    known = {"time": AttributeType.TIMESTAMP, **(attributes or {})}
    return known | ({f"{spec.family}.distance_m": AttributeType.NUMBER} if spec.family else {})


def _construct(core: Core, letters: Alphabet) -> Nondeterministic:
    symbols = len(letters.codes)
    everything = (1 << symbols) - 1

    def guard(condition: int | None) -> int:
        if condition is None:
            return everything
        holds = (letters.codes >> np.uint64(condition)) & np.uint64(1)
        return sum(1 << int(symbol) for symbol in np.flatnonzero(holds))

    return construct(core, guard, complement(symbols))


def _probe(part: Pattern, conditions: Conditions, letters: Alphabet) -> None:
    """Build `part` alone; raises where it is what grows too large."""
    nfa = trimmed(_construct(expand(part, conditions.number), letters))
    if nfa.transitions:
        detector(nfa, symbol_classes(nfa, len(letters.codes)))


def _exclusive(conditions: Conditions, spec: PatternSpec) -> list[list[int]]:
    groups = [[conditions.numbers[name] for name in group if name in conditions.numbers] for group in spec.exclusive]
    return [group for group in groups if len(group) > 1]
