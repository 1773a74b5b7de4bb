"""What the saved state of a pattern belongs to: its name, its version, and the tables that give its numbers a meaning.

A state outlives the process that made it. Read by another pattern's tables, or by those of a changed one, its numbers
would mean something else; so whoever saves a state keeps its form with it, and goes on only where the form is the same.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.text import text_of
from foresail.patterns.recognition.tables import plan

DIGEST_DIGITS = 16


@dataclass(frozen=True, slots=True)
class PatternForm:
    """One pattern, and how many run states a track has of it."""

    name: str
    version: int
    digest: str
    runs: int


@dataclass(frozen=True, slots=True)
class RecogniserForm:
    """The patterns of a recogniser in the order of its columns: those that detect, and those that count or list."""

    patterns: tuple[PatternForm, ...] = ()
    counting: tuple[PatternForm, ...] = ()

    @property
    def runs(self) -> int:
        """How many run states a track has over all patterns that detect."""
        return sum(pattern.runs for pattern in self.patterns)

    @property
    def most_runs(self) -> int:
        """How many run states a track has of the pattern that has most."""
        return max((pattern.runs for pattern in self.patterns if pattern.runs), default=1)

    def runs_of(self, pattern: int) -> NDArray[np.int64]:
        """Which of the run states are those of a pattern."""
        first = sum(before.runs for before in self.patterns[:pattern])
        return np.arange(first, first + self.patterns[pattern].runs)


def form_of(pattern: CompiledPattern) -> PatternForm:
    """The form of a pattern: equal for two patterns if and only if one can go on where the other stands."""
    alone = plan([pattern])
    said = (pattern.name, pattern.version, pattern.spec.output.name, pattern.spec.limit)
    digest = hashlib.sha256(repr((said, [text_of(c) for c in pattern.conditions])).encode())
    arrays = [np.asarray(array) for array in alone.tables]
    if pattern.marking is not None:
        arrays += [np.asarray(pattern.marking.delta), np.asarray(pattern.marking.accepting)]
    for array in arrays:
        digest.update(repr((array.dtype.str, array.shape)).encode() + np.ascontiguousarray(array).tobytes())
    return PatternForm(pattern.name, pattern.version, digest.hexdigest()[:DIGEST_DIGITS], alone.runs)
