from pathlib import Path

import pytest

from foresail.patterns.catalog import PatternEntry
from foresail.patterns.catalog.loader import read_text
from foresail.patterns.catalog.writer import write_entry
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.errors import PatternError, PatternSyntaxError
from foresail.patterns.language.parser import parse_pattern
from foresail.patterns.notations.sre import Importing, import_sre
from foresail.patterns.notations.sre_expressions import SreError

FILES = Path(__file__).parent / "files"


def imported(text: str, declarations: str | None = None) -> PatternEntry:
    (entry,) = import_sre(text, "x.sre", Importing("x"), (declarations, "x.declarations") if declarations else None)
    return entry


def test_a_file_becomes_entries_that_read_as_if_written_here() -> None:
    text = (FILES / "harbour.sre").read_text(encoding="utf-8")
    declared = (FILES / "harbour.declarations").read_text(encoding="utf-8")
    first, second = import_sre(text, "harbour.sre", Importing("harbour"), (declared, "harbour.declarations"))
    assert first.name == "harbour_1"
    assert first.pattern == "beyond_4_km ; (within_4_km | docked) ; speed_0_5*"
    assert first.where == {
        "beyond_4_km": "distance_m(lon, lat, 23.6, 37.9) >= 4000",
        "within_4_km": "distance_m(lon, lat, 23.6, 37.9) < 4000",
        "docked": 'type = "docked"',
        "speed_0_5": "speed < 0.5",
    }
    assert first.features == {"from_4_to_5_5_km": "4000 <= distance_m(lon, lat, 23.6, 37.9) < 5500"}
    assert first.exclusive == (("within_4_km", "beyond_4_km"),)
    assert first.forecast is not None
    assert first.forecast.order == 2
    assert "grouped by 'mmsi'" in str(first.notes)
    assert second.pattern == "next(gap as before, speed_before_10)"
    assert second.where["speed_before_10"] == "speed > before.speed or not (10 <= course <= 350)"
    assert second.window == "600s"


def test_an_imported_pattern_without_registers_compiles() -> None:
    entry = imported("#(;(IsEventTypePredicate(A),EQ(level,2),LTE(level,1))){window:20}")
    assert entry.pattern == "any(a, level_2, level_1)"
    assert entry.window == "20 events"
    assert compile_pattern(entry.spec()).automaton.states > 1


def test_an_imported_pattern_with_registers_parses() -> None:
    entry = imported('#(;(EQStr(name,east)["x"],^(EQStr(name,west),GTAttr(price,"x")))){window:500}{windowType:time}')
    assert entry.pattern == "any(east as x, west)"
    assert entry.where["west"] == 'name = "west" and price > x.price'
    parse_pattern(entry.pattern, entry.spec().pattern.place)


@pytest.mark.parametrize(
    ("sre", "pattern"),
    [
        (";(EQ(a,1),EQ(a,2))", "a_1 ; a_2"),
        ("+(EQ(a,1),;(EQ(a,2),EQ(a,3)))", "a_1 | (a_2 ; a_3)"),
        ("*(+(EQ(a,1),EQ(a,2)))", "(a_1 | a_2)*"),
        ("!(;(EQ(a,1),EQ(a,2)))", "not(a_1 ; a_2)"),
        ("@(EQ(a,1),EQ(a,2))", "next(a_1, a_2)"),
        ("#(;(EQ(a,1),#(*(EQ(a,2))),EQ(a,3)))", "any(a_1, any(a_2*), a_3)"),
        (";(EQ(a,1),*(EQ(a,1)),TruePredicate())", "a_1 ; a_1* ; _"),
        (";(;(EQ(a,1),EQ(a,2)),EQ(a,3))", "(a_1 ; a_2) ; a_3"),
        ("-EQ(a,1)", "not_a_1"),
    ],
)
def test_each_operator_has_its_word(sre: str, pattern: str) -> None:
    entry = imported(sre)
    assert entry.pattern == pattern
    parse_pattern(entry.pattern, entry.spec().pattern.place)


def test_an_iteration_of_several_is_read_as_one_of_their_sequence_and_says_so() -> None:
    entry = imported(";(EQ(a,1),*(EQ(a,2),EQ(a,3)))")
    assert entry.pattern == "a_1 ; (a_2 ; a_3)*"
    assert entry.notes == "The iteration of 2 expressions on line 1 was read as one of their sequence."


@pytest.mark.parametrize(
    ("predicate", "condition"),
    [
        ("IsEventTypePredicate(SELL)", 'type = "SELL"'),
        ("EQ(a,-1.5)", "a = -1.5"),
        ("LT(a,1)", "a < 1"),
        ("LTE(a,1)", "a <= 1"),
        ("GT(a,1)", "a > 1"),
        ("GTE(a,1)", "a >= 1"),
        ("BT(a,1,2)", "1 <= a <= 2"),
        ("EQStr(a,b)", 'a = "b"'),
        ("|(^(LT(a,1),GT(b,2)),-(EQ(c,3)))", "a < 1 and b > 2 or not (c = 3)"),
        ("^(|(LT(a,1),GT(b,2)),EQ(c,3))", "(a < 1 or b > 2) and c = 3"),
    ],
)
def test_each_predicate_has_its_condition(predicate: str, condition: str) -> None:
    assert list(imported(predicate).where.values()) == [condition]


@pytest.mark.parametrize(("predicate", "sign"), [("EQAttr", "="), ("EQAttrStr", "="), ("GTAttr", ">"), ("LTAttr", "<")])
def test_a_quoted_argument_reads_a_register(predicate: str, sign: str) -> None:
    entry = imported(f';(EQ(a,1)["r"],{predicate}(b,"r"))')
    assert f"b {sign} r.b" in entry.where.values()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (";(EQ(a,1),\n  *(EQQ(a,2)))", "x.sre:2:5: unknown predicate 'EQQ'. Did you mean 'EQ'?"),
        ("EQ(a)", "x.sre:1:1: EQ takes 2 arguments, not 1."),
        ("EQ(a,b)", "x.sre:1:6: 'b' stands where a number is needed."),
        ("EQ(1,2)", "x.sre:1:4: '1' stands where an attribute is needed."),
        ("GTAttr(a,b)", "x.sre:1:10: 'b' is not a register."),
        (';(EQ(a,1)["one"],EQAttr(b,"on"))', "x.sre:1:27: the register 'on' is never written. Did you mean 'one'?"),
        ('EQ(a,1)["not"]', "x.sre:1:9: 'not' cannot name a register."),
        ("EQ(a,1){windw:3}", "x.sre:1:9: unknown option 'windw'. Did you mean 'window'?"),
        ("EQ(a,1){window:3}{windowType:cont}", "x.sre:1:30: windowType cannot be 'cont'. Did you mean 'count'?"),
        ("EQ(a,1){window:3.5}", "x.sre:1:16: '3.5' is not a whole number."),
    ],
)
def test_a_fault_names_its_place_and_the_way_out(text: str, said: str) -> None:
    with pytest.raises(SreError) as caught:
        imported(text)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("text", "place", "caret"),
    [
        (";(EQ(a,1),\n *EQ(a,2))", "x.sre:2:3: unexpected 'EQ'. Expected '('.", 2),
        (";(EQ(a,1)", "x.sre:1:10: the text ends too early. Expected ')', ','.", 9),
        ("EQ(a,1) $", "x.sre:1:9: unexpected '$'.", 8),
        ("~(EQ(a,1))", "x.sre:1:1: unexpected '~'. Declarations stand in a file of their own", 0),
        ("", "x.sre:1:1: the text ends too early.", 0),
    ],
)
def test_a_syntax_error_shows_the_line_and_a_caret(text: str, place: str, caret: int) -> None:
    with pytest.raises(PatternSyntaxError) as caught:
        imported(text)
    first, _, pointer = str(caught.value).split("\n")
    assert first.startswith(place)
    assert pointer == " " * (4 + caret) + "^"


def test_a_fault_in_the_declarations_names_their_file() -> None:
    with pytest.raises(PatternError, match=r"^x.declarations:1:3: unknown predicate 'EQW'"):
        imported("EQ(a,1)", "+(EQW(a,1))")


def test_an_imported_entry_is_catalog_yaml() -> None:
    entry = imported(';(EQStr(name,east)["x"],GTAttr(price,"x")){window:5}')
    (again,) = read_text(write_entry(entry), "x.yaml")
    assert again.model_dump() == entry.model_dump()
