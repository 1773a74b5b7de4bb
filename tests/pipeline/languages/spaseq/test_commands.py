"""Queries through the commands and the library: what is printed, what is written, and what is said of bad input."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import foresail as fs
from foresail.pipeline.cli.catalog import command as catalog_command
from foresail.pipeline.cli.recognise import command as recognise
from foresail.pipeline.cli.try_patterns import command as try_patterns
from foresail.pipeline.errors import InputError

U1, U2 = "http://streams/u1", "http://streams/u2"
A = "DEFINE GPM A ON u1 { ?h :pow ?p . ?h :loc ?l }"
B = "DEFINE GPM B ON u2 { ?w :value ?v . ?w :loc ?l }"
ENRICHED = (
    "DEFINE GPM A ON u1 { ?h :pow ?p . ?h :loc ?l GRAPH <http://ex/db> { ?h :owner ?n } } "
    "DEFINE GPM B ON u2 { ?w :value ?v . ?w :loc ?l }"
)


def query(seq: str, gpms: str = f"{A}\n{B}", select: str = "*", within: str = "50 SECONDS") -> str:
    declared = f"FROM STREAM u1 <{U1}>\nFROM STREAM u2 <{U2}>"
    return f"PREFIX : <http://ex/>\nSELECT {select} WITHIN {within}\n{declared}\nWHERE {{ SEQ({seq})\n{gpms} }}\n"


def turtle(triples: str) -> str:
    return f"@prefix : <http://ex/> . {triples}"


def line(stream: str, time: Any, triples: str) -> str:
    return json.dumps({"stream": stream, "time": time, "graph": turtle(triples)})


NINE = [
    line(U1, 10, ":H1 :pow :Pw1 ; :loc :L1 ."),
    line(U1, 25, ":H2 :pow :Pw2 ; :loc :L2 ."),
    line(U2, 15, ":W1 :value :Vl1 ; :loc :L1 ."),
    line(U2, 40, ":W2 :value :Vl2 ; :loc :L2 ."),
]


@pytest.fixture
def nine(tmp_path: Path) -> Path:
    (tmp_path / "q.spaseq").write_text(query("A ; B", select="?h ?v"))
    (tmp_path / "e.jsonl").write_text("\n".join(NINE) + "\n")
    return tmp_path


def run(command: Any, *arguments: object) -> Any:
    return CliRunner().invoke(command, [str(a) for a in arguments], catch_exceptions=False)


def tried(patterns: Path, events: Path) -> tuple[list[dict[str, Any]], str]:
    done = run(try_patterns, "--patterns", patterns, "--events", events, "--json")
    assert done.exit_code == 0, done.stderr
    return [json.loads(row) for row in done.stdout.splitlines()], done.stderr


def entry(folder: Path, text: str, **keys: Any) -> Path:
    file = folder / "entry.yaml"
    said = "".join(f"{key}: {json.dumps(value)}\n" for key, value in keys.items())
    indented = "".join(f"  {row}" for row in text.splitlines(keepends=True))
    file.write_text(f"language: spaseq\nname: q\nsays: A query.\nquery: |\n{indented}{said}")
    return file


def test_a_row_has_the_fixed_keys(nine: Path) -> None:
    rows, _ = tried(nine / "q.spaseq", nine / "e.jsonl")
    assert [list(row) for row in rows] == [["binding_id", "query", "time", "bindings", "events"]] * 2
    first = rows[0]
    assert (first["query"], first["time"]) == ("q", "1970-01-01T00:00:15.000000Z")
    assert first["bindings"] == {"h": "<http://ex/H1>", "v": "<http://ex/Vl1>"}
    assert first["events"] == [
        {"gpm": "A", "stream": U1, "time": "1970-01-01T00:00:10.000000Z"},
        {"gpm": "B", "stream": U2, "time": "1970-01-01T00:00:15.000000Z"},
    ]


@pytest.mark.parametrize(
    ("start", "expected"), [(0, [15, 40]), (20, [40]), ("20", [40]), ("1970-01-01T00:00:20Z", [40])]
)
def test_an_entry_says_when_it_was_issued(nine: Path, start: object, expected: list[int]) -> None:
    rows, _ = tried(entry(nine, query("A ; B"), start=start), nine / "e.jsonl")
    assert [row["time"][17:19] for row in rows] == [f"{second:02d}" for second in expected]


def test_a_time_that_is_written_bare_is_read(nine: Path) -> None:
    file = entry(nine, query("A ; B"))
    file.write_text(file.read_text() + "start: 1970-01-01T00:00:20Z\n")
    assert len(tried(file, nine / "e.jsonl")[0]) == 1


def test_an_entry_names_the_file_of_its_query(nine: Path) -> None:
    file = nine / "entry.yaml"
    file.write_text("language: spaseq\nname: named\nsays: A query in a file.\nquery: q.spaseq\n")
    assert {row["query"] for row in tried(file, nine / "e.jsonl")[0]} == {"named"}
    file.write_text("language: spaseq\nname: named\nsays: A query in a file.\nquery: p.spaseq\n")
    done = run(catalog_command, "check", file)
    assert "p.spaseq cannot be read (No such file or directory). Name a file beside the entry." in done.stderr


def test_knowledge_is_read_beside_the_entry(nine: Path) -> None:
    text = query("A ; B", ENRICHED, select="?h ?n")
    for name, content in {
        "kb.ttl": turtle(':H1 :owner "john" .'),
        "kb.nt": '<http://ex/H1> <http://ex/owner> "john" .\n',
        "kb.trig": turtle('<http://ex/db> { :H1 :owner "john" } :other { :H2 :owner "smith" }'),
    }.items():
        (nine / name).write_text(content)
        rows, _ = tried(entry(nine, text, knowledge={"http://ex/db": name}), nine / "e.jsonl")
        assert [row["bindings"] for row in rows] == [{"h": "<http://ex/H1>", "n": '"john"'}]
    rows, said = tried(entry(nine, text), nine / "e.jsonl")
    assert rows == []
    assert "GRAPH <http://ex/db> has no file: name one in knowledge:" in said


def quads(rows: list[str]) -> str:
    said = []
    for number, row in enumerate(rows):
        held, graph = json.loads(row), f"<http://g/{number}>"
        subject, *rest = held["graph"].partition(". ")[2].removesuffix(" .").replace(" ;", "").split()
        for predicate, value in zip(rest[::2], rest[1::2], strict=True):
            terms = " ".join(f"<http://ex/{term[1:]}>" for term in (subject, predicate, value))
            said.append(f"{terms} {graph} .")
        said.append(f'{graph} <http://www.w3.org/ns/prov#generatedAtTime> "{held["time"]}" .')
        said.append(f"{graph} <http://purl.org/dc/terms/isPartOf> <{held['stream']}> .")
    return "\n".join(said) + "\n"


def trig(rows: list[str]) -> str:
    said = "@prefix : <http://ex/> .\n@prefix prov: <http://www.w3.org/ns/prov#> .\n"
    for number, row in enumerate(rows):
        held = json.loads(row)
        body = held["graph"].partition(". ")[2].removesuffix(" .")
        said += f"<http://g/{number}> {{ {body} }}\n<http://g/{number}> :of <{held['stream']}> ; prov:generatedAtTime "
        said += f'"{held["time"]}" .\n'
    return said


@pytest.mark.parametrize(("name", "text"), [("e.trig", trig(NINE)), ("e.nq", quads(NINE))])
def test_trig_and_quads_say_the_same_as_json_lines(nine: Path, name: str, text: str) -> None:
    (nine / name).write_text(text)
    assert tried(nine / "q.spaseq", nine / name)[0] == tried(nine / "q.spaseq", nine / "e.jsonl")[0]


def test_a_file_may_be_a_stream(nine: Path) -> None:
    for stream, name in ((U1, "houses.trig"), (U2, "weather.trig")):
        rows = [row for row in NINE if json.loads(row)["stream"] == stream]
        (nine / name).write_text(trig(rows).replace(f":of <{stream}> ; ", ""))
    named = entry(nine, query("A ; B", select="?h ?v"), streams={U1: "houses.trig", U2: "weather.trig"})
    assert tried(named, nine / "houses.trig")[0] == tried(nine / "q.spaseq", nine / "e.jsonl")[0]


def test_what_is_malformed_is_told_with_its_line_and_the_rest_goes_on(nine: Path) -> None:
    rows = [NINE[0], "not json", line(U1, 12, ":H1 :pow ; ."), line(U1, None, ":a :b :c ."), *NINE[1:]]
    (nine / "bad.jsonl").write_text("\n".join(rows) + "\n")
    found, said = tried(nine / "q.spaseq", nine / "bad.jsonl")
    assert found == tried(nine / "q.spaseq", nine / "e.jsonl")[0]
    for place in (
        "bad.jsonl:2: left out, unreadable",
        "bad.jsonl:3: left out, malformed",
        "bad.jsonl:4: left out, no time",
    ):
        assert place in said


def test_malformed_trig_in_the_middle(nine: Path) -> None:
    lines = trig(NINE).splitlines()
    lines[4:4] = [
        "<http://g/x> { :H1 :pow",
        "<http://g/y> { :H1 :pow ; }",
        '<http://g/y> prov:generatedAtTime "11" ; :of',
    ]
    lines[7:7] = [f"<{U1}> .", "}"]
    (nine / "bad.trig").write_text("\n".join(lines))
    found, said = tried(nine / "q.spaseq", nine / "bad.trig")
    assert found == tried(nine / "q.spaseq", nine / "e.jsonl")[0]
    assert "bad.trig:5: left out, malformed graph (the graph is not closed by a '}')" in said
    assert "bad.trig:6: left out, malformed graph" in said
    assert "bad.trig:9: left out, malformed graph (a '}' that closes nothing)" in said


def test_a_second_graph_at_one_instant_is_rejected_or_merged(nine: Path) -> None:
    rows = [line(U1, 10, ":H1 :pow :P1 ."), line(U1, 10, ":H1 :loc :L1 .")]
    (nine / "two.jsonl").write_text("\n".join(rows))
    found, said = tried(entry(nine, query("A")), nine / "two.jsonl")
    assert (found, "two.jsonl:2: left out, second graph at one instant" in said) == ([], True)
    assert len(tried(entry(nine, query("A"), merge_same_tau=True), nine / "two.jsonl")[0]) == 1


def test_an_unknown_option_and_a_bad_value_are_told(nine: Path) -> None:
    for key, value, fault in (
        ("kleen", "last", "unknown key 'kleen'. Did you mean 'kleene'"),
        ("kleene", "first", "kleene cannot be 'first'"),
        ("start", "soon", "'soon' is no time"),
        ("knowledge", {"db": "kb.ttl"}, "'db' is no IRI"),
    ):
        done = run(catalog_command, "check", entry(nine, query("A"), **{key: value}))
        assert done.exit_code == 1
        assert fault in done.stderr


def test_faults_of_the_query_stand_where_they_are_in_the_file(nine: Path) -> None:
    done = run(catalog_command, "check", entry(nine, query("A ; Z")))
    assert "entry.yaml:9:19: unknown GPM 'Z'" in done.stderr


def test_recognise_writes_bindings_in_either_form(nine: Path) -> None:
    given = ["--patterns", nine / "q.spaseq", "--events", nine / "e.jsonl", "--engine", "local", "--json", "-q"]
    done = run(recognise, *given, "--out", nine / "out")
    summary = json.loads(done.stdout.splitlines()[-1])
    assert (summary["bindings"], summary["bindings_by_query"], summary["events"]) == (2, {"q": 2}, 4)
    table = pd.read_parquet(nine / "out" / "bindings")
    assert dict(table["bindings"][0]) == {"h": "<http://ex/H1>", "v": "<http://ex/Vl1>"}
    run(recognise, *given, "--out", nine / "out", "--format", "jsonl")
    rows = [json.loads(row) for row in (nine / "out" / "bindings.jsonl").read_text().splitlines()]
    assert rows == tried(nine / "q.spaseq", nine / "e.jsonl")[0]


def test_find_takes_a_frame_of_graphs(nine: Path) -> None:
    frame = pd.DataFrame([json.loads(row) for row in NINE])
    frame["time"] = pd.to_datetime(frame["time"], unit="s", utc=True)
    found = fs.find(frame, nine / "q.spaseq")
    assert [dict(each)["v"] for each in found["bindings"]] == ["<http://ex/Vl1>", "<http://ex/Vl2>"]
    with pytest.raises(fs.InputError, match="no column 'graph'"):
        fs.find(frame.drop(columns="graph"), nine / "q.spaseq")


def test_the_catalog_shows_checks_and_draws_a_query(nine: Path) -> None:
    file = entry(nine, query("A ; B+", f"{A} {B.replace('}', 'FILTER(?v != ?p) }')}"))
    assert "1 pattern, no fault" in run(catalog_command, "check", file).stdout
    shown = run(catalog_command, "show", "q", "--patterns", file).stdout
    assert "; B+" in shown
    assert "(?v != ?p) decided by the join with other events" in shown
    again = run(catalog_command, "show", "q", "--yaml", "--patterns", file).stdout
    (nine / "again.yaml").write_text(again)
    assert tried(nine / "again.yaml", nine / "e.jsonl") == tried(file, nine / "e.jsonl")
    run(catalog_command, "draw", "q", "--patterns", file, "-o", nine / "q.dot")
    assert '2 -> 2 [label="B again"];' in (nine / "q.dot").read_text()


MADE = "urn:foresail:query:q"
TEMPLATE = "CONSTRUCT { ?h :windAt _:w . _:w :value ?v }"
SECOND = f"""language: spaseq
name: second
says: Reads what another query makes.
query: |
  PREFIX : <http://ex/>
  SELECT ?h ?v WITHIN 1 HOUR FROM STREAM made <{MADE}>
  WHERE {{ SEQ(M) DEFINE GPM M ON made {{ ?h :windAt ?w . ?w :value ?v }} }}
"""


def test_constructed_graphs_are_events_of_a_new_stream(nine: Path) -> None:
    text = query("A ; B").replace("SELECT *", TEMPLATE)
    patterns = nine / "both"
    patterns.mkdir()
    (patterns / "second.yaml").write_text(SECOND)
    entry(patterns, text)
    done = run(
        recognise, "--engine", "local", "--patterns", patterns, "--events", nine / "e.jsonl",
        "--out", nine / "out", "--format", "jsonl", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["bindings_by_query"] == {"q": 2, "second": 2}
    rows = [json.loads(row) for row in (nine / "out/bindings.jsonl").read_text().splitlines()]
    of_second = [row for row in rows if row["query"] == "second"]
    assert [row["bindings"]["v"] for row in of_second] == ["<http://ex/Vl1>", "<http://ex/Vl2>"]
    assert [row["events"][0]["stream"] for row in of_second] == [MADE, MADE]
    # what is written is what a query reads
    again, _ = tried(patterns / "second.yaml", nine / "out/constructed.trig")
    assert [(row["time"], row["bindings"]) for row in again] == [(row["time"], row["bindings"]) for row in of_second]
    selecting = nine / "q.spaseq"
    run(recognise, "--engine", "local", "--patterns", selecting, "--events", nine / "e.jsonl", "--out", nine / "out")
    assert not (nine / "out/constructed.trig").exists()


def test_what_a_template_cannot_say_is_told(nine: Path) -> None:
    for template, fault in (
        ("CONSTRUCT { ?nobody :is :here }", "?nobody of CONSTRUCT is bound by no GPM"),
        ("CONSTRUCT { ?h :is [] }", "CONSTRUCT takes triples of plain terms"),
        ("CONSTRUCT { }", "CONSTRUCT takes triples of plain terms"),
    ):
        done = run(catalog_command, "check", entry(nine, query("A ; B").replace("SELECT *", template)))
        assert done.exit_code == 1
        assert fault in done.stderr


def test_queries_that_read_each_other_are_refused(nine: Path) -> None:
    text = query("A ; B").replace("SELECT *", TEMPLATE).replace(f"<{U1}>", f"<{MADE}>")
    with pytest.raises(InputError, match="q: reads its own graphs, through q"):
        tried(entry(nine, text), nine / "e.jsonl")
