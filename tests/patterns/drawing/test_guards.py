import re

from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.drawing.guards import say_guard

NAMES = ("a", "b", "c", "d")
SYMBOLS = st.sets(st.frozensets(st.sampled_from(NAMES)), min_size=1, max_size=16)


def holds(words: str, symbol: frozenset[str]) -> bool:
    """What a reader takes the words to mean: `and` before `or`, `not` before both."""
    said = "True" if words == "any event" else re.sub(r"\b[a-d]\b", lambda name: str(name[0] in symbol), words)
    return bool(eval(said))


@settings(max_examples=200)
@given(SYMBOLS, st.data())
def test_the_words_hold_for_the_chosen_symbols_and_no_others(symbols: set[frozenset[str]], data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.sampled_from(sorted(symbols, key=sorted)), min_size=1))
    words = say_guard(chosen, symbols, NAMES)
    assert {symbol for symbol in symbols if holds(words, symbol)} == chosen


def test_what_cannot_occur_makes_the_words_short() -> None:
    exclusive = [frozenset(), frozenset("a"), frozenset("b"), frozenset("c")]
    assert say_guard([frozenset("b")], exclusive, NAMES) == "b"
    assert say_guard([frozenset("a"), frozenset("b")], exclusive, NAMES) == "a or b"
    assert say_guard([frozenset(), frozenset("b"), frozenset("c")], exclusive, NAMES) == "not a"
    assert say_guard(exclusive, exclusive, NAMES) == "any event"


def test_the_more_general_condition_is_said_where_both_would_do() -> None:
    nested = [frozenset(), frozenset("b"), frozenset("ab")]
    assert say_guard([frozenset("b"), frozenset("ab")], nested, NAMES) == "b"
    assert say_guard([frozenset("b")], nested, NAMES) == "b and not a"
