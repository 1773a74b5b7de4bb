"""Condition words become symbols, over the pattern's own conditions or among those of others."""

import numpy as np
import pytest

from foresail.models.errors import ImpossibleSymbolError, ModelError
from foresail.models.symbols import SymbolTable
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions.parser import parse_condition
from foresail.patterns.spec import spec_of
from tests.models.letters import lettered, symbols_of, words_of


def test_every_event_has_the_symbol_of_its_minterm() -> None:
    pattern = lettered("a ; b", features="cd")
    text = "aabbcdxxda"
    assert SymbolTable(pattern).symbols(words_of(pattern, text)).tolist() == symbols_of(pattern, text).tolist()


def test_bits_are_found_among_the_conditions_of_other_patterns() -> None:
    pattern = lettered("a ; b")
    others = [parse_condition(f"n == {n}") for n in range(70)]
    shared = [*others, *pattern.conditions]
    words = np.zeros((2, 2), dtype=np.int64)
    words[0, 1] = 1 << (70 - 64)
    words[1, 1] = 1 << (71 - 64)
    assert SymbolTable(pattern, shared).symbols(words).tolist() == symbols_of(pattern, "ab").tolist()


def test_read_only_words_are_read_as_they_are() -> None:
    pattern = lettered("a ; b")
    words = words_of(pattern, "abba")
    words.flags.writeable = False
    assert SymbolTable(pattern).symbols(words).tolist() == symbols_of(pattern, "abba").tolist()


def test_an_event_that_no_symbol_describes_is_refused_by_name() -> None:
    pattern = compile_pattern(spec_of("p", "a ; b", {"a": "x", "b": "y"}, exclusive=(("a", "b"),)))
    with pytest.raises(ImpossibleSymbolError, match="conditions a, b held on one event"):
        SymbolTable(pattern).symbols(np.array([[1], [3]], dtype=np.int64))


def test_a_missing_condition_is_named() -> None:
    pattern = lettered("a ; b")
    with pytest.raises(ModelError, match='the words do not tell whether letter == "b" holds'):
        SymbolTable(pattern, pattern.conditions[:1])
