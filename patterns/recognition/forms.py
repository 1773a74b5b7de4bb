"""What the saved state of a monitor belongs to: its recognisers, their patterns and models, the tables behind numbers.

A state outlives the process that made it. Read by another pattern's tables, or by those of a changed one, its numbers
would mean something else; so whoever saves a state keeps its form with it, and goes on only where the form is the same.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.text import text_of
from foresail.patterns.recognition.register_rules import memory_of, rules_of, widths_of
from foresail.patterns.recognition.tables import plan

DIGEST_DIGITS = 16
Kind: TypeAlias = Literal["patterns", "memory", "families", "models", "family_models"]


@dataclass(frozen=True, slots=True)
class PatternForm:
    """One pattern, and how many run states a track has of it."""

    name: str
    version: int
    digest: str
    runs: int
    widths: tuple[int, int, int] = (0, 0, 0)
    """Of a pattern with memory: its registers, and how many numbers and integers are kept of an event."""


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


@dataclass(frozen=True, slots=True)
class ModelForm:
    """One model, and how many symbols of history it keeps."""

    pattern: str
    version: str
    places: int
    columns: int | None = None
    """Of a model with trees, how many columns of recent past it keeps."""


_NO_PATTERNS = RecogniserForm()


@dataclass(frozen=True, slots=True)
class PartForm:
    """One recogniser of a monitor: patterns or models that read plain events, or the features of one layer."""

    kind: Kind
    layer: str | None = None
    recognised: RecogniserForm = _NO_PATTERNS
    models: tuple[ModelForm, ...] = ()


@dataclass(frozen=True, slots=True)
class MonitorForm:
    """The recognisers of a monitor, in the order of their states."""

    parts: tuple[PartForm, ...]

    def of(self, kind: Kind) -> tuple[PartForm, ...]:
        """The parts of that kind."""
        return tuple(part for part in self.parts if part.kind == kind)

    def as_plain(self) -> list[dict[str, Any]]:
        """The form as JSON can hold it."""
        return [asdict(part) for part in self.parts]


def form_from(plain: Sequence[Mapping[str, Any]]) -> MonitorForm:
    """What `as_plain` made."""

    def recognised(held: Mapping[str, Any]) -> RecogniserForm:
        groups = (held["patterns"], held["counting"])
        return RecogniserForm(*(tuple(map(_pattern, group)) for group in groups))

    return MonitorForm(
        tuple(
            PartForm(
                part["kind"],
                part["layer"],
                recognised(part["recognised"]),
                tuple(ModelForm(**some) for some in part["models"]),
            )
            for part in plain
        )
    )


def _pattern(held: Mapping[str, Any]) -> PatternForm:
    registers, numbers, longs = held.get("widths", (0, 0, 0))
    return PatternForm(held["name"], held["version"], held["digest"], held["runs"], (registers, numbers, longs))


def form_of(pattern: CompiledPattern) -> PatternForm:
    """The form of a pattern: equal for two patterns if and only if one can go on where the other stands."""
    if pattern.memory is not None:
        return _form_with_memory(pattern)
    alone = plan([pattern])
    said = (pattern.name, pattern.version, pattern.spec.output.name, pattern.spec.limit)
    digest = hashlib.sha256(repr((said, [text_of(c) for c in pattern.conditions])).encode())
    arrays = [np.asarray(array) for array in alone.tables]
    if pattern.marking is not None:
        arrays += [np.asarray(pattern.marking.delta), np.asarray(pattern.marking.accepting)]
    for array in arrays:
        digest.update(repr((array.dtype.str, array.shape)).encode() + np.ascontiguousarray(array).tobytes())
    return PatternForm(pattern.name, pattern.version, digest.hexdigest()[:DIGEST_DIGITS], alone.runs)


def _form_with_memory(pattern: CompiledPattern) -> PatternForm:
    memory, rules = memory_of(pattern), rules_of(pattern, pattern.conditions)
    columns, conditions = [column.name for column in memory.columns], [text_of(c) for c in pattern.conditions]
    digest = hashlib.sha256(repr((pattern.name, pattern.version, memory.registers, columns, conditions)).encode())
    for value in (*rules, *rules.steps, *rules.programs):
        if not isinstance(value, tuple):
            array = np.asarray(value)
            digest.update(repr((array.dtype.str, array.shape)).encode() + np.ascontiguousarray(array).tobytes())
    widths = widths_of(pattern)
    shape = (widths.registers, widths.numbers, widths.longs)
    return PatternForm(pattern.name, pattern.version, digest.hexdigest()[:DIGEST_DIGITS], 0, shape)
