"""The acceptance cases of the language from outside: files in, `foresail try --json` out, rows as users get them."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from foresail.patterns.spaseq.events import GraphEvent
from foresail.pipeline.cli.try_patterns import command as try_patterns
from tests.patterns.spaseq.running import BODIES, DB, SECOND_US, event, p, query, short, w
from tests.patterns.spaseq.test_acceptance import FOUR, LOCATIONS, OPERATORS, TWO, VESSEL, letters, trip, typed

ENRICHED = {"A": ("u1", f"?h :pow ?p . ?h :loc ?l GRAPH <{DB}> {{ ?h :owner ?n . ?h :address ?a }}")}
OWNERS = ":H1 :owner :john; :address :paris. :H2 :owner :smith; :address :lyon ."
NINE = [p(10, 1, 1), p(25, 2, 2), w(15, 1, 1), w(40, 2, 2)]
STRAY = [p(1, 1, 1), w(2, 1, 1), event("u3", 2, ":n :x :y .")]
ALARM = {"A": ("u1", "?h :pow ?p"), "B": ("u1", "?k :alarm ?z")}
ALARMED = [event("u1", 1, ":H1 :pow :P1 ."), w(2, 9, 9), event("u1", 3, ":K :alarm :Z .")]
BLANK = [event("u1", 1, ":H1 :loc _:b0 ."), event("u2", 2, ":W1 :loc _:b0 .")]
TWICE = [event("u1", 1, ":H1 :pow :P1 ."), event("u1", 1, ":H1 :loc :L1 .")]
LATER = [
    event("u1", 1, ":H1 :loc :L1 . :H2 :loc :L2 ."),
    event("u2", 2, ":W1 :loc :L1 ."),
    event("u2", 3, ":W2 :loc :L2 ."),
]
D = {**BODIES, "D": ("u1", "?h :loc ?l")}
TRIP = query("A, B+, C", 30, VESSEL, select="?vessel ?n ?cname")
VESSEL_ROW = "A1 B2 B3 C4 cname=Aegean n=Nea vessel=v1"

CASES: dict[str, tuple[str, list[GraphEvent], dict[str, Any], list[str]]] = {
    "1": (query("A", 10), [p(10, 1, 1), p(15, 2, 2)], {"start": 5}, ["A10 h=H1 l=L1 p=Pw1", "A15 h=H2 l=L2 p=Pw2"]),
    "2": (query("A&B", 15), TWO, {"start": 10}, ["A10 B10 h=H1 l=L1 p=Pw1 v=Vl1 w=W1"]),
    "3": (
        query("A|B", 15),
        TWO,
        {"start": 10},
        ["A10 h=H1 l=L1 p=Pw1", "A25 h=H2 l=L2 p=Pw2", "B10 l=L1 v=Vl1 w=W1", "B20 l=L1 v=Vl2 w=W2"],
    ),
    "4": (
        query("A : B", 15, select="?h ?w ?v"),
        FOUR,
        {"start": 10},
        ["A10 B20 h=H1 v=Vl1 w=W1", "A10 B25 h=H1 v=Vl2 w=W2", "A15 B20 h=H2 v=Vl1 w=W1", "A15 B25 h=H2 v=Vl2 w=W2"],
    ),
    "4 without blanks": (query("A:B", 15, select="?h"), FOUR[:1] + FOUR[3:4], {}, ["A10 B20 h=H1"]),
    "5": (query("A ; B", 15, select="?h ?w"), FOUR, {"start": 10}, ["A10 B20 h=H1 w=W1", "A15 B20 h=H2 w=W1"]),
    "6": (query("A , B", 15, select="?h ?w"), FOUR, {"start": 10}, ["A15 B20 h=H2 w=W1"]),
    "7": (
        query("A , B+", 10, select="?h ?w"),
        [p(10, 1, 1), w(15, 1, 1), w(20, 2, 1)],
        {"start": 10},
        ["A10 B15 B20 h=H1 w=W2", "A10 B15 h=H1 w=W1"],
    ),
    "8": (
        query("A", 10, ENRICHED),
        [p(10, 1, 1)],
        {"start": 10, "kb": OWNERS},
        ["A10 a=paris h=H1 l=L1 n=john p=Pw1"],
    ),
    "8 without knowledge": (query("A", 10, ENRICHED), [p(10, 1, 1)], {"start": 10, "kb": ""}, []),
    "9": (
        query("A ; B", 50, select="?h ?p ?v"),
        NINE,
        {"start": 0},
        ["A10 B15 h=H1 p=Pw1 v=Vl1", "A25 B40 h=H2 p=Pw2 v=Vl2"],
    ),
    "9 at 20": (query("A ; B", 50, select="?h ?v"), NINE, {"start": 20}, ["A25 B40 h=H2 v=Vl2"]),
    "10 strict": (typed("A, B, C"), letters("ABCAABC"), {}, ["A1 B2 C3", "A5 B6 C7"]),
    "10 next": (typed("A; B; C"), letters("ABCAABC"), {}, ["A1 B2 C3", "A4 B6 C7", "A5 B6 C7"]),
    "10 any": (
        typed("A : B : C"),
        letters("ABCAABC"),
        {},
        ["A1 B2 C3", "A1 B2 C7", "A1 B6 C7", "A4 B6 C7", "A5 B6 C7"],
    ),
    "12": (TRIP, trip("v1", 1, 2, 3, 4), {"start": 0, "kb": OPERATORS}, [VESSEL_ROW]),
    "12 formal": (TRIP, trip("v1", 1, 2, 3, 4), {"start": 0, "kb": OPERATORS, "kleene": "formal"}, []),
    "13": (TRIP, trip("v1", 1, 3, 5, 7) + trip("v2", 2, 4, 6, 8), {"kb": OPERATORS}, []),
    "13 partitioned": (
        query("A, B+, C", 30, VESSEL, select="?n", partition_by="?vessel"),
        trip("v1", 1, 3, 5, 7) + trip("v2", 2, 4, 6, 8),
        {"kb": OPERATORS},
        ["A1 B3 B5 C7 n=Nea", "A2 B4 B6 C8 n=Eos"],
    ),
    "14": (query("A ; B", 10, LOCATIONS, select="?h ?w"), LATER, {}, ["A1 B2 h=H1 w=W1"]),
    "14 per mapping": (
        query("A ; B", 10, LOCATIONS, select="?h ?w"),
        LATER,
        {"stn": "per_mapping"},
        ["A1 B2 h=H1 w=W1", "A1 B3 h=H2 w=W2"],
    ),
    "15a": (query("A ; B", 10), [p(8, 1, 1), w(12, 1, 1)], {"start": 0}, []),
    "15b": (query("A ; B", 10, select="?h"), [p(8, 1, 1), w(10, 1, 1)], {"start": 0}, ["A8 B10 h=H1"]),
    "15c": (query("A", 10, select="?h"), [p(10, 1, 1)], {"start": 0}, ["A10 h=H1"]),
    "15 per run": (
        query("A ; B", 10, select="?h"),
        [p(8, 1, 1), w(12, 1, 1)],
        {"start": 0, "windows": "per_run"},
        ["A8 B12 h=H1"],
    ),
    "15 half open": (query("A ; B", 10), [p(8, 1, 1), w(10, 1, 1)], {"start": 0, "half_open": True}, []),
    "16": (query("A , B", 10, ALARM), ALARMED, {}, []),
    "16 undeclared": (query("A , B", 10, ALARM, "?h", "u1"), ALARMED, {}, ["A1 B3 h=H1"]),
    "17": (query("A , B", 10, select="?h"), STRAY, {}, ["A1 B2 h=H1"]),
    "17 turned": (query("A , B", 10, select="?h"), [STRAY[0], STRAY[2], STRAY[1]], {}, ["A1 B2 h=H1"]),
    "21": (query("A ; B", 10, select="?h"), [p(1, 1, 1), p(2, 1, 1), w(3, 1, 1)], {}, ["A1 B3 h=H1", "A2 B3 h=H1"]),
    "21 bindings": (
        query("A ; B", 10, select="?h"),
        [p(1, 1, 1), p(2, 1, 1), w(3, 1, 1)],
        {"distinct": "bindings"},
        ["A1 B3 h=H1"],
    ),
    "23": (query("A ; B", 10, LOCATIONS), BLANK, {}, []),
    "25 next": (query("A ; B", 10), [p(5, 1, 1), w(5, 1, 1)], {}, []),
    "25 strict": (query("A , B", 10), [p(5, 1, 1), w(5, 1, 1)], {}, []),
    "25 any": (query("A : B", 10), [p(5, 1, 1), w(5, 1, 1)], {}, []),
    "25 both": (query("B & A", 10, select="?h"), [p(5, 1, 1), w(5, 1, 1)], {}, ["B5 A5 h=H1"]),
    "26": (query("A & D", 10, D, select="?l"), [p(5, 1, 1)], {}, ["A5 D5 l=L1"]),
    "28 optional": (typed("A, B?, C"), letters("AXC"), {}, ["A1 C3"]),
    "28 optional twice": (typed("A, B?, C"), letters("ABBC"), {}, []),
    "28 negated": (typed("A, B!, C"), letters("ABC"), {}, []),
    "28 not there": (typed("A, B!, C"), letters("AC"), {}, ["A1 C2"]),
    "30": (query("A", 10), TWICE, {}, []),
    "30 merged": (query("A", 10), TWICE, {"merge_same_tau": True}, ["A1 h=H1 l=L1 p=P1"]),
    "31": (typed("A, B+, C"), letters("ABCBC"), {}, ["A1 B2 C3"]),
}


def in_files(folder: Path, text: str, events: list[GraphEvent], options: dict[str, Any]) -> list[dict[str, Any]]:
    rows = [{"stream": e.stream, "time": e.time_us // SECOND_US, "graph": e.text} for e in events]
    (folder / "events.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = dict(options)
    if "kb" in said:
        (folder / "kb.ttl").write_text("@prefix : <http://ex/> . " + said.pop("kb"))
        said["knowledge"] = {DB: "kb.ttl"}
    indented = "".join(f"  {row}\n" for row in text.splitlines())
    keys = "".join(f"{key}: {json.dumps(value)}\n" for key, value in said.items())
    (folder / "q.yaml").write_text(f"language: spaseq\nname: q\nsays: A case.\nquery: |\n{indented}{keys}")
    given = ["--patterns", str(folder / "q.yaml"), "--events", str(folder / "events.jsonl"), "--json"]
    done = CliRunner().invoke(try_patterns, given, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return [json.loads(row) for row in done.stdout.splitlines()]


def in_short(row: dict[str, Any]) -> str:
    assert row["time"] == max(one["time"] for one in row["events"])
    steps = [f"{one['gpm']}{int(one['time'][14:16]) * 60 + int(one['time'][17:19])}" for one in row["events"]]
    terms = [f"{name}={short(term)}" for name, term in sorted(row["bindings"].items())]
    return " ".join([*steps, *([] if terms and terms[0].startswith("a=x") else terms)])


@pytest.mark.parametrize("case", CASES)
def test_a_case_gives_exactly_its_rows(case: str, tmp_path: Path) -> None:
    text, events, options, expected = CASES[case]
    assert sorted(map(in_short, in_files(tmp_path, text, events, options))) == sorted(expected)
