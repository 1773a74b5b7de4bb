"""What a pattern keeps in registers and reads of them: checks, warnings, and what nobody reads."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from foresail.patterns.automata.registers import MOST_REGISTERS
from foresail.patterns.conditions.relations import registers_read
from foresail.patterns.conditions.text import attributes_of
from foresail.patterns.conditions.typing import Schema
from foresail.patterns.errors import Place, RegistersError, nearest
from foresail.patterns.language.conditions import Conditions, terminals_of
from foresail.patterns.language.expand import (
    Complement,
    Concatenation,
    Core,
    Event,
    Intersection,
    Iteration,
    Nothing,
    Union,
)
from foresail.patterns.language.syntax import Anything, Both, Pattern, children_of
from foresail.patterns.spec import PatternSpec


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers of a pattern that some condition reads, in the order of the text; nobody needs the others."""

    names: tuple[str, ...]
    reads: tuple[frozenset[str], ...]
    """Per condition which of them it reads."""

    def __bool__(self) -> bool:
        return bool(self.names)


def find_registers(tree: Pattern, conditions: Conditions, spec: PatternSpec, attributes: Schema | None) -> Registers:
    """The registers that the pattern reads, whether or not it ever writes them."""
    written = tuple(dict.fromkeys(t.register for t in terminals_of(tree) if t.register is not None))
    if spec.family in written:
        place = next(t.place for t in terminals_of(tree) if t.register == spec.family)
        msg = f"{place}: '{spec.family}' names the family's feature and a register. Give the register another name."
        raise RegistersError(msg)
    known = attributes or {}
    read: dict[str, None] = {}
    for number, condition in enumerate(conditions.parsed):
        owners = [
            a.owner
            for a in attributes_of(condition)
            if a.owner is not None and a.owner != spec.family and (a.owner in written or a.key not in known)
        ]
        if owners and number >= conditions.read:
            msg = f"{conditions.places[number]}: a feature cannot read a register. Read the current event alone."
            raise RegistersError(msg)
        read |= dict.fromkeys(owners)
    names = tuple(name for name in (*written, *(name for name in read if name not in written)) if name in read)
    return Registers(names, tuple(registers_read(condition, names) for condition in conditions.parsed))


def check_registers(tree: Pattern, registers: Registers, conditions: Conditions, spec: PatternSpec) -> None:
    """A pattern with memory has a window and no family; no register is written on both sides of `&`."""
    place = next((t.place for t in terminals_of(tree) if t.register in registers.names), spec.pattern.place)
    if len(registers.names) > MOST_REGISTERS:
        msg = f"{place}: {len(registers.names)} registers; {MOST_REGISTERS} are the most. Split the pattern."
        raise RegistersError(msg)
    if spec.family:
        msg = (
            f"{place}: '{registers.names[0]}' keeps an event, which a pattern of `for_each` cannot. "
            "Read the attributes that a layer gives (such as port_distance_m) instead."
        )
        raise RegistersError(msg)
    if spec.window_us is None and spec.window_events is None:
        msg = (
            f"{place}: '{registers.names[0]}' keeps an event, and without a window it would be kept for ever. "
            "Add `window:`, such as 2h or 100 events."
        )
        raise RegistersError(msg)
    _check_sides(tree, registers, conditions)


def _check_sides(tree: Pattern, registers: Registers, conditions: Conditions) -> None:
    if isinstance(tree, Both):
        sides = [list(terminals_of(part)) for part in tree.parts]
        for n, side in enumerate(sides):
            for terminal in side:
                if terminal.register not in registers.names:
                    continue
                others = [t for m, other in enumerate(sides) if m != n for t in other]
                if any(t.register == terminal.register for t in others):
                    msg = (
                        f"{terminal.place}: '{terminal.register}' is written on both sides of `&`. "
                        "Give one of the two another name."
                    )
                    raise RegistersError(msg)
                for t in others:
                    number = None if isinstance(t, Anything) else conditions.number(t)
                    if number is not None and terminal.register in registers.reads[number]:
                        msg = (
                            f"{t.place}: '{terminal.register}' is read on one side of `&` and written on the other. "
                            "Write it before the `&`, or on the side that reads it."
                        )
                        raise RegistersError(msg)
    for part in children_of(tree):
        _check_sides(part, registers, conditions)


@dataclass(frozen=True, slots=True)
class _Read:
    """A condition that reads a register, and whether that may have been written before."""

    condition: int
    register: str
    written: bool


def unwritten_reads(core: Core, registers: Registers, conditions: Conditions) -> tuple[str, ...]:
    """A warning for each condition that reads a register which no way to it has written."""
    reads = list(_reads(core, frozenset(), registers.reads))
    may = {(read.condition, read.register) for read in reads if read.written}
    never = dict.fromkeys((r.condition, r.register) for r in reads if (r.condition, r.register) not in may)
    written = {register for register in registers.names if _writes(core, register)}
    return tuple(_warning(conditions.places[c], conditions.names[c], register, written) for c, register in never)


def _warning(place: Place, name: str, register: str, written: Collection[str]) -> str:
    why = "is never written" if register not in written else "is not written before"
    hint = "" if register in written else nearest(register, written)
    return f"{place}: condition {name} reads '{register}', which {why}: a comparison with it is false. {hint}".rstrip()


def reads_own_writes(part: Core, reads: Sequence[Collection[str]]) -> bool:
    """Whether a part may read what it has itself kept, so that its runs differ in what they remember."""
    return any(read.written for read in _reads(part, frozenset(), reads))


def check_complements(core: Core, registers: Registers, spec: PatternSpec) -> None:
    """No part below `not`, `absent` or `next` reads what it has itself kept there."""
    match core:
        case Complement(part):
            if reads_own_writes(part, registers.reads):
                msg = (
                    f"{spec.pattern.place}: a part below `not`, `absent` or `next` reads a register that it writes "
                    "itself. Write the register before that part."
                )
                raise RegistersError(msg)
            check_complements(part, registers, spec)
        case Concatenation(parts) | Union(parts) | Intersection(parts):
            for part in parts:
                check_complements(part, registers, spec)
        case Iteration(part, _, _):
            check_complements(part, registers, spec)
        case Event() | Nothing():
            return
        case _:
            assert_never(core)


def _writes(core: Core, register: str) -> bool:
    return register in _written_by(core)


def _written_by(core: Core) -> frozenset[str]:
    match core:
        case Event(_, _, register):
            return frozenset({register} if register else ())
        case Nothing() | Complement():
            return frozenset()
        case Concatenation(parts) | Union(parts) | Intersection(parts):
            return frozenset().union(*map(_written_by, parts))
        case Iteration(part, _, _):
            return _written_by(part)
        case _:
            assert_never(core)


def _reads(core: Core, before: frozenset[str], reads: Sequence[Collection[str]]) -> Iterator[_Read]:
    """What conditions read where these registers may have been written before."""
    match core:
        case Event(condition, _, _):
            for register in reads[condition] if condition is not None else ():
                yield _Read(condition or 0, register, register in before)
        case Nothing():
            return
        case Concatenation(parts):
            for part in parts:
                yield from _reads(part, before, reads)
                before = before | _written_by(part)
        case Union(parts) | Intersection(parts):
            for part in parts:
                yield from _reads(part, before, reads)
        case Iteration(part, _, most):
            yield from _reads(part, before if most == 1 else before | _written_by(part), reads)
        case Complement(part):
            yield from _reads(part, before, reads)
        case _:
            assert_never(core)
