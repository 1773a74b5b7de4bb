"""One pattern with registers as its kernel reads it: bits, steps, programs, windows and limits."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.automata.registers import RegisterAutomaton, Steps
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.relations import Programs
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.conditions.text import text_of
from foresail.patterns.recognition.arrays import compiled, inlined
from foresail.patterns.recognition.register_state import Widths
from foresail.patterns.recognition.tables import NEVER
from foresail.patterns.spec import AfterMatch, Output, Report

BAD_EVENT = -1
MOST_CONFIGURATIONS = 20_000
"""Of one track and pattern: memory stays bounded, and beyond that the oldest are given up and counted."""


class RegisterRules(NamedTuple):
    """One pattern as this kernel reads it."""

    bits: NDArray[np.int32]
    """The numbers of its conditions among those of the words."""
    own: int
    steps: Steps
    programs: Programs
    live: NDArray[np.int64]
    fan: int
    """The most steps that one configuration can take at once."""
    together: bool
    """Whether a group holds all configurations that one set of marked events leads to."""
    window_us: int
    window_events: int
    max_gap_us: int
    restart: bool
    listing: bool
    counting: bool
    episodes: bool
    min_dwell_us: int
    updates: bool
    limit: int
    most: int
    """Configurations of one track; beyond that the oldest are given up."""


@inlined
def bits_of(rules: RegisterRules, words: NDArray[np.int64], event: int) -> int:
    """The pattern's own conditions that hold of an event, a bit each."""
    code = np.uint64(0)
    for i in range(len(rules.bits)):
        bit = rules.bits[i]
        code |= ((np.uint64(words[event, bit >> 6]) >> np.uint64(bit & 63)) & np.uint64(1)) << np.uint64(i)
    return code


@compiled
def column_of(rules: RegisterRules, bits: int) -> int:
    """The class of an event with these bits, or BAD_EVENT where no minterm allows them."""
    mask = ~np.uint64(0) if rules.own >= 64 else (np.uint64(1) << np.uint64(rules.own)) - np.uint64(1)
    code = np.uint64(bits) & mask
    codes = rules.steps.codes
    low, high = 0, len(codes)
    while low < high:
        middle = (low + high) // 2
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    if low == len(codes) or codes[low] != code:
        return BAD_EVENT
    return rules.steps.class_of[low]


def memory_of(pattern: CompiledPattern) -> RegisterAutomaton:
    """The automaton of a pattern that reads registers."""
    assert pattern.memory is not None, "a pattern with registers has an automaton with registers"
    return pattern.memory


def widths_of(pattern: CompiledPattern) -> Widths:
    """How wide the rows of what it remembers are."""
    memory = memory_of(pattern)
    long = sum(column.long for column in memory.columns)
    return Widths(len(memory.registers), len(memory.columns) - long, long)


def rules_of(
    pattern: CompiledPattern,
    conditions: Sequence[Condition],
    updates: bool = True,
    most: int = MOST_CONFIGURATIONS,
) -> RegisterRules:
    """The pattern over words whose bits are `conditions`."""
    memory, spec = memory_of(pattern), pattern.spec
    numbers = {text_of(condition): n for n, condition in enumerate(conditions)}
    listing = spec.output is Output.ENUMERATE
    together = memory.ambiguous and spec.output is not Output.DETECT
    # what a listed set has in registers is told also where nothing reads it, so it keeps sets apart
    live = np.full_like(memory.steps.live, -1) if together and listing else memory.steps.live
    return RegisterRules(
        np.array([numbers[text_of(condition)] for condition in pattern.conditions], dtype=np.int32),
        memory.own,
        memory.steps,
        memory.programs,
        live,
        int(np.diff(memory.steps.at).max(initial=0)),
        together,
        NEVER if spec.window_us is None else spec.window_us,
        NEVER if spec.window_events is None else spec.window_events,
        NEVER if spec.max_gap_us is None else spec.max_gap_us,
        spec.after_match is AfterMatch.RESTART,
        listing,
        spec.output is Output.COUNT,
        spec.report is Report.EPISODES,
        spec.min_dwell_us,
        updates,
        spec.limit,
        most,
    )
