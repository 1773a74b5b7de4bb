"""The page on published systems is true of the code: its files exist, and its table agrees with what compiles."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from foresail.patterns.compiler import compile_pattern
from foresail.patterns.errors import PatternError, Place
from foresail.patterns.spaseq.plan import compile_query
from foresail.patterns.spec import Output, spec_of
from foresail.patterns.tesla.check import resolve_rules
from foresail.patterns.tesla.parser import parse_rules

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "literature.md").read_text()
LANGUAGES = ("patterns", "rules", "queries")
SLOW, FAST = "[speed_kn < 1]", "[speed_kn > 9]"


def pattern(text: str, **options: object) -> Callable[[], object]:
    """Compiles the pattern, in a window unless another is given."""
    window = options or {"window_us": 3_600_000_000}
    return lambda: compile_pattern(spec_of("sample", text, **window))


def rules(clauses: str, head: str = "Out()") -> Callable[[], object]:
    """Parses and checks one rule whose terminator is `Smoke(area = $a)`."""
    text = f"define {head} from Smoke(area = $a) {clauses}"
    return lambda: resolve_rules(parse_rules(text, Place("sample")))


def query(sequence: str, *, head: str = "SELECT ?v", within: str = "30 MINUTES", b: str = "") -> Callable[[], object]:
    """Compiles a query over `sequence` of A, B and C, each of one triple; `b` is added to the pattern of B."""
    triples = {"A": "?v <e:speed> ?a", "B": f"?v <e:speed> ?b {b}", "C": "?v <e:speed> ?c"}
    used = [name for name in triples if name in sequence]
    gpms = " ".join(f"DEFINE GPM {name} ON S {{ {triples[name]} }}" for name in used)
    text = f"{head} WITHIN {within} FROM STREAM S <e:s> WHERE {{ SEQ({sequence}) {gpms} }}"
    return lambda: compile_query(text, Place("sample"))


SAMPLES = {
    "condition on one event": (
        pattern(SLOW),
        rules("and each Temp(value > 45) within 5 min from Smoke"),
        query("A, B", b=". FILTER(?b > 3)"),
    ),
    "condition that relates events of a match": (
        pattern(f"{SLOW} as r ; [speed_kn > r.speed_kn]"),
        rules("and each Temp(area = $a) within 5 min from Smoke"),
        query("A, B", b=". FILTER(?b > ?a)"),
    ),
    "sequence": (
        pattern(f"{SLOW} ; {FAST}"),
        rules("and each Temp() within 5 min from Smoke and each Wind() within 1 min from Temp"),
        query("A, B"),
    ),
    "alternative": (pattern(f"{SLOW} | {FAST}"), rules("or Temp() within 5 min from Smoke"), query("A, (B|C)")),
    "conjunction": (
        pattern(f"({SLOW} ; _) & (_ ; {FAST})"),
        rules("and each Temp() within 5 min from Smoke and each Wind() within 5 min from Smoke"),
        query("A, (B&C)"),
    ),
    "iteration": (
        pattern(f"{SLOW}+"),
        rules("and each Out(n = $n) within 5 min from Smoke where n = $n + 1", "Out(n: int)"),
        query("A, B+"),
    ),
    "iteration inside iteration": (
        pattern(f"({SLOW} ; {FAST}+)+"),
        rules("and each (Temp()+)+ within 5 min from Smoke"),
        query("A, (B, C+)+"),
    ),
    "absence": (
        pattern(f"{SLOW} ; absent({FAST}) ; {SLOW}"),
        rules("and not Rain() within 5 min from Smoke"),
        query("A, B!, C"),
    ),
    "complement of any expression": (
        pattern(f"{SLOW} ; not({SLOW} ; {FAST}*) ; {SLOW}"),
        rules("and not (Temp() and Rain()) within 5 min from Smoke"),
        query("A, (B, C)!"),
    ),
    "strict, next and any mixed in one text": (
        pattern(f"{SLOW} ; next({FAST}, {SLOW}) ; any({FAST}, {SLOW})", window_events=100),
        rules("and next Temp() within 5 min from Smoke"),
        query("A, B; C"),
    ),
    "the first or the last of the candidates": (
        pattern(f"last({SLOW}) ; {FAST}"),
        rules("and last Temp() within 5 min from Smoke"),
        query("last A, B"),
    ),
    "aggregates over events": (
        pattern("[avg(speed_kn) > 3]"),
        rules("and Avg(Temp().value within 5 min from Smoke) > 45"),
        query("A, B", head="SELECT (AVG(?b) AS ?m)"),
    ),
    "consumption of events": (
        pattern(f"{SLOW} ; {FAST} consuming {SLOW}"),
        rules("and each Temp() within 5 min from Smoke consuming Temp"),
        query("A, B CONSUMING A"),
    ),
    "results as events of the same language": (
        pattern("[match of sample] ; _"),
        rules("and last Out() within 5 min from Smoke"),
        query("A, B", head="CONSTRUCT { ?v <e:met> ?b }"),
    ),
    "background knowledge as a graph": (
        pattern("graph ports { _ }"),
        rules("and graph <e:db> { Temp() }"),
        query("A, B", b=". GRAPH <e:db> { ?v <e:name> ?n }"),
    ),
    "window in events": (
        pattern(f"{SLOW} ; {FAST}", window_events=10),
        rules("and each Temp() within 10 events from Smoke"),
        query("A, B", within="10 EVENTS"),
    ),
}
"""By the row's name: a sample for patterns, rules and queries, in the closest words that each language has."""
SHOWN_ELSEWHERE = {"lists the events of each match", "forecasts"}
"""Rows about results, not about what can be written."""


def table() -> dict[str, list[str]]:
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ") and line.count("|") == 12]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in rows if cells[0].strip()}


def compiles(sample: Callable[[], object]) -> bool:
    try:
        sample()
    except PatternError:
        return False
    return True


def test_every_row_of_the_table_has_samples() -> None:
    assert set(table()) == set(SAMPLES) | SHOWN_ELSEWHERE


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("row", SAMPLES)
def test_the_table_says_what_compiles(row: str, language: str) -> None:
    place = LANGUAGES.index(language)
    said = table()[row][place]
    assert compiles(SAMPLES[row][place]) == {"yes": True, "no": False}[said]


def test_patterns_list_the_events_of_a_match() -> None:
    assert table()["lists the events of each match"][0] == "yes"
    compile_pattern(spec_of("sample", f"any({SLOW}, {FAST})", window_events=10, output=Output.ENUMERATE))


def test_the_files_that_the_page_names_exist() -> None:
    named = re.findall(r"`((?:patterns|models|pipeline)/[\w/]*(?:\.py)?)`", PAGE)
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []
