"""Small patterns over letters, and tracks written as text, for the tests of this folder."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from foresail.models.counts import NO_GROUP, Counts, TrackGroups
from foresail.models.counts.counting import Stretches, counted, stretches_of
from foresail.models.identity import Identity
from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.errors import Place
from foresail.patterns.spec import Text, spec_of

MINUTE = 60_000_000


def lettered(pattern: str, letters: str = "ab", features: str = "", **rules: object) -> CompiledPattern:
    """A pattern over letters: condition `a` is `letter == "a"`. Any other letter is one symbol more."""
    where = {letter: f'letter == "{letter}"' for letter in letters}
    extra = tuple(Text(letter, f'letter == "{letter}"', Place(f"lettered.features.{letter}")) for letter in features)
    return compile_pattern(spec_of("lettered", pattern, where, features=extra, **rules))


def symbols_of(pattern: CompiledPattern, text: str) -> NDArray[np.int32]:
    """The symbols of a track written as letters."""
    bit = {name: 1 << n for n, name in enumerate(pattern.condition_names)}
    codes = np.array([bit.get(letter, 0) for letter in text], dtype=np.uint64)
    return pattern.alphabet.symbols_of(codes).astype(np.int32)


def words_of(pattern: CompiledPattern, text: str) -> NDArray[np.int64]:
    """The condition words of a track written as letters, over the pattern's own conditions."""
    bit = {name: 1 << n for n, name in enumerate(pattern.condition_names)}
    return np.array([[bit.get(letter, 0)] for letter in text], dtype=np.int64).reshape(-1, 1)


def joined(tracks: Sequence[NDArray[np.int32]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Tracks one after the other, and where each begins."""
    first_of = np.cumsum([0, *(len(track) for track in tracks)]).astype(np.int64)
    return np.concatenate([np.empty(0, dtype=np.int32), *tracks]).astype(np.int32), first_of


def counts_of_text(text: str, letters: str, max_order: int) -> Counts:
    """The counts of one text over exactly these letters, with a minute between events."""
    symbols = np.array([letters.index(letter) for letter in text], dtype=np.int32)
    times = np.arange(len(symbols), dtype=np.int64) * MINUTE
    stretches = stretches_of(symbols, times, np.array([0, len(symbols)]), None)
    return counted_alone(Identity("text", 1, (), len(letters), letters), stretches, max_order, matches=1)


def counted_alone(identity: Identity, stretches: Stretches, max_order: int, matches: int = 0) -> Counts:
    """The counts of one track."""
    return counted(identity, stretches, TrackGroups.one(1), max_order, np.array([matches])).of_group(NO_GROUP)


def plain_counts(tracks: Sequence[Sequence[int]], depth: int) -> dict[tuple[int, ...], float]:
    """How often each stretch of at most `depth` symbols occurs, counted one by one."""
    found: dict[tuple[int, ...], float] = {}
    for track in tracks:
        for end in range(1, len(track) + 1):
            for length in range(1, min(depth, end) + 1):
                stretch = tuple(map(int, track[end - length : end]))
                found[stretch] = found.get(stretch, 0.0) + 1.0
    return found
