"""Columns find what graphs find, over random tables and queries; which path is taken, and why, is told."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import foresail as fs
from foresail.patterns.errors import Place
from foresail.patterns.spaseq import engine
from foresail.patterns.spaseq.column_machine import ColumnMachine, known_rows
from foresail.patterns.spaseq.knowledge import Knowledge, KnowledgeText
from foresail.patterns.spaseq.lower import NotLowered, lower
from foresail.patterns.spaseq.machine import Machine
from foresail.patterns.spaseq.mapping import read_mapping
from foresail.patterns.spaseq.options import Options
from foresail.patterns.spaseq.plan import compile_query
from foresail.pipeline.catalogs import catalog_named
from foresail.pipeline.cli.catalog import command as catalog_command
from foresail.pipeline.cli.try_patterns import command as try_patterns
from foresail.pipeline.jobs.recognise_request import RecogniseRequest
from foresail.pipeline.languages.recognise_job import run_languages
from foresail.pipeline.languages.spaseq.mapped_tables import MappedRows, mapped_rows, schema_of, terms_of
from foresail.pipeline.languages.spaseq.results import RESULTS
from foresail.pipeline.local.frames import ArrowFrame
from foresail.pipeline.progress import open_progress

BOATS, DB = "http://harbour.org/boats", "http://harbour.org/db"
MAPPING = {
    "subject": "urn:mmsi:{mmsi}",
    "prefixes": {"p": "http://example/"},
    "columns": {
        "p:speed": "speed",
        "p:location": "location",
        "p:before": "before",
        "p:direction": "direction",
        "p:ice": "ice",
        "p:draught": {"column": "draught", "type": "double"},
        "p:zone": "http://zones/{zone}",
    },
}
KNOWLEDGE = """@prefix : <http://example/> .
<urn:mmsi:1> :name "Nea" ; :operatedBy :c1 . <urn:mmsi:2> :name "Eos", "Old Eos" ; :operatedBy :c2 .
:c1 :cname "Aegean" . :c2 :cname "Ionian" . <http://zones/z1> :kind "fishing" . "harbour" :x :y .
""".replace('"harbour" :x :y .', "")
COUNTED: Counter[str] = Counter()


def query(seq: str, gpms: list[str], partition: bool = False, within: int = 30, select: str = "*") -> str:
    by = " PARTITION BY ?v" if partition else ""
    named = "\n".join(f"DEFINE GPM {name} ON S1 {{ {body} }}" for name, body in zip("ABCDEF", gpms, strict=False))
    head = f"PREFIX p: <http://example/>\nSELECT {select} WITHIN {within} SECONDS{by} FROM STREAM S1 <{BOATS}>"
    return f"{head}\nWHERE {{ SEQ({seq})\n{named} }}"


Q6 = [
    '?v p:speed ?s1 ; p:location "harbour" ; p:direction ?d1 . FILTER(?s1 > 0)',
    "?v p:speed ?s2 ; p:location ?l ; p:direction ?d1 . FILTER(?s2 > ?s1)",
    f'?v p:speed 0 ; p:location "fishingarea" . GRAPH <{DB}> {{ ?v p:name ?n ; p:operatedBy ?c . ?c p:cname ?cname }}',
]


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    count = draw(st.integers(3, 14))

    def column(values: list[Any]) -> list[Any]:
        return draw(st.lists(st.sampled_from(values), min_size=count, max_size=count))

    times = draw(st.lists(st.integers(0, 20), min_size=count, max_size=count, unique=draw(st.booleans())))
    return pa.table(
        {
            "time": pa.array(times, pa.int64()),
            "mmsi": pa.array(column([1, 1, 2, 3, None]), pa.int64()),
            "speed": pa.array(column([0.0, 0.5, 1.25, 3.0, -0.0, None, 2.1]), pa.float64()),
            "location": pa.array(column(["harbour", "sea", 'a\t"b"\\', "fishingarea", None])),
            "before": pa.array(column(["harbour", "sea", "é", None])),
            "direction": pa.array(column([0, 1, 2, None]), pa.int64()),
            "ice": pa.array(column([True, False, None]), pa.bool_()),
            "draught": pa.array(column([0.1, 0.2, 0.30000000000000004, 5.0, float("nan")]), pa.float64()),
            "zone": pa.array(column(["z1", "z 2", "", None])),
        }
    )


BODIES = (
    "?v p:speed ?{a}",
    "?v p:speed ?{a} ; p:location ?{l}",
    '?v p:location ?{l} . FILTER(?{l} != "sea")',
    "?v p:location ?{l} ; p:before ?{l}",
    '?v p:location "harbour" ; p:speed ?{a} FILTER(?{a} > 0.5)',
    "?v p:speed 0 ; p:direction ?{d}",
    "?v p:direction ?{d} FILTER(?{d} >= 1 || ?{d} = 0)",
    "?v p:ice true ; p:direction ?{d}",
    "?v p:draught ?{u} FILTER(?{u} + 0.1e0 > 0.25)",
    "?v p:zone ?{z} ; p:speed ?{a}",
    "?v p:zone ?{z} . FILTER(?{z} != <http://zones/z1>)",
    "?v p:zone ?{z} . GRAPH <" + DB + "> {{ ?{z} p:kind ?kind }}",
    "?v p:speed ?{a} . GRAPH <" + DB + '> {{ ?v p:name ?name ; p:operatedBy ?c FILTER(?name != "Old Eos") }}',
    "?v p:speed ?{a} OPTIONAL {{ ?v p:ice ?{d} }}",
    "?w p:speed ?{a}",
)
STATEFUL = {
    "a": ("<", ">=", "=", "!="),
    "d": ("<", "!="),
    "u": ("<=", ">"),
    "l": ("=", "!="),
    "z": ("!=",),
}


@st.composite
def queries(draw: st.DrawFn) -> tuple[str, Options]:
    partition = draw(st.booleans())
    bodies: list[str] = []
    seq = ""
    bound: set[str] = set()
    for place in range(draw(st.integers(1, 4))):
        names = {kind: f"{kind}{draw(st.integers(0, 2))}" for kind in "adluz"}
        body = draw(st.sampled_from(BODIES[:-1] if partition else BODIES)).format(**names)
        own = {name for name in names.values() if f"?{name}" in body}
        for name in sorted(own):
            others = sorted(other for other in bound - own if other[0] == name[0])
            if others and draw(st.booleans()):
                sign = draw(st.sampled_from(STATEFUL[name[0]]))
                body += f" FILTER(?{name} {sign} ?{draw(st.sampled_from(others))})"
        bodies.append(body)
        bound |= own
        kind = draw(st.sampled_from(["", "", "+", "|", "&"]))
        said = "ABCDEF"[len(bodies) - 1]
        if kind in ("|", "&") and len(bodies) < 5:
            bodies.append(f"?v p:direction ?d{place}")
            said = f"({said} {kind} {'ABCDEF'[len(bodies) - 1]})"
        kind = "+" if kind == "+" else ""
        seq += (draw(st.sampled_from([", ", " ; ", " : "])) if seq else "") + said + kind
        if len(bodies) > 4:
            break
    options = Options(
        draw(st.sampled_from(["tumbling", "per_run"])),
        draw(st.sampled_from([None, None, 0, 3_000_000])),
        draw(st.sampled_from(["last", "formal"])),
        draw(st.sampled_from(["set", "per_mapping"])),
        draw(st.sampled_from(["trace", "bindings"])),
        draw(st.booleans()),
    )
    return query(seq, bodies, partition, draw(st.sampled_from([4, 30]))), options


def rows_of(table: pa.Table) -> tuple[MappedRows, dict[str, Any]]:
    frame, mapping = ArrowFrame(table), read_mapping(MAPPING, "m.yaml")
    terms = terms_of(mapping, schema_of(frame, mapping.names), "m.yaml")
    return mapped_rows(frame, mapping, terms, "time", "s"), terms


@given(tables(), queries())
@settings(max_examples=250, deadline=None)
def test_columns_find_what_graphs_find(table: pa.Table, asked: tuple[str, Options]) -> None:
    text, options = asked
    rows, terms = rows_of(table)
    plan = compile_query(text, Place("q"), options)
    knowledge = Knowledge({DB: [KnowledgeText("kb", KNOWLEDGE)]})
    try:
        lowered = lower(plan, terms)
    except NotLowered as reason:
        COUNTED[str(reason)] += 1
        return
    columns = rows.by_subject() if lowered.partitioned else rows.by_time()
    if columns is None:
        COUNTED["instants"] += 1
        return
    start_us = options.start_us if options.start_us is not None else int(rows.times.min(initial=2**62))
    found, cut_off = ColumnMachine(lowered, known_rows(lowered, knowledge)).results(columns, start_us)
    machine = Machine(plan, knowledge)
    read = machine.advance(machine.fresh(), list(rows.graphs(BOATS)))
    assert not read.rejected
    assert not cut_off
    assert {one.binding_id: one for one in found} == {one.binding_id: one for one in read.results}, text
    COUNTED["with results" if found else "without results"] += 1


def test_the_random_queries_reach_columns_often_enough() -> None:
    assert COUNTED["with results"] >= 20, COUNTED


POSITIONS = """track,time,mmsi,speed,location,direction
a,2024-05-01T00:00:01Z,1,5,harbour,90
b,2024-05-01T00:00:01Z,2,5,harbour,45
a,2024-05-01T00:00:02Z,1,8.5,sea,90
b,2024-05-01T00:00:02Z,2,4,sea,45
a,2024-05-01T00:00:03Z,1,9,sea,90
a,2024-05-01T00:00:04Z,1,0,fishingarea,10
a,2024-05-01T00:00:04Z,1,7,fishingarea,10
,2024-05-01T00:00:05Z,,7,fishingarea,10
a,soon,1,7,fishingarea,10
"""
COLUMNS = "columns: {p:speed: speed, p:location: location, p:direction: direction}\n"


@pytest.fixture
def boats(tmp_path: Path) -> Path:
    (tmp_path / "positions.csv").write_text(POSITIONS)
    (tmp_path / "m.yaml").write_text(f'subject: "urn:mmsi:{{mmsi}}"\nprefixes: {{p: http://example/}}\n{COLUMNS}')
    (tmp_path / "kb.ttl").write_text(KNOWLEDGE)
    entry(tmp_path, query("A, B+, C", Q6, partition=True, select="?v ?n ?cname"))
    return tmp_path


def entry(folder: Path, text: str, **keys: Any) -> Path:
    indented = "".join(f"  {row}\n" for row in text.splitlines())
    held = {"streams": {BOATS: "m.yaml"}, "knowledge": {DB: "kb.ttl"}} | keys
    said = "".join(f"{key}: {json.dumps(value)}\n" for key, value in held.items())
    file = folder / "catch.yaml"
    file.write_text(f"language: spaseq\nname: catch\nsays: A catch.\nquery: |\n{indented}{said}")
    return file


def run(command: Any, *arguments: object) -> Any:
    return CliRunner().invoke(command, [str(a) for a in arguments], catch_exceptions=False)


def tried(boats: Path) -> tuple[list[dict[str, Any]], str]:
    done = run(try_patterns, "--patterns", boats / "catch.yaml", "--events", boats / "positions.csv", "--json")
    assert done.exit_code == 0, done.stderr
    return [json.loads(row) for row in done.stdout.splitlines()], done.stderr


def test_a_query_over_a_table_of_positions(boats: Path) -> None:
    (row,), said = tried(boats)
    assert row["bindings"] == {"v": "<urn:mmsi:1>", "n": '"Nea"', "cname": '"Aegean"'}
    assert [one["gpm"] for one in row["events"]] == ["A", "B", "B", "C"]
    assert "over graphs" not in said
    for reason in ("row 6: left out, second graph", "row 7: left out, no subject", "row 8: left out, no time"):
        assert reason in said


def test_graphs_answer_what_columns_cannot_with_the_same_rows(boats: Path) -> None:
    over_columns, _ = tried(boats)
    gpms = [Q6[0], Q6[1], Q6[2].replace("GRAPH", "OPTIONAL { ?v p:ice ?ice } GRAPH")]
    entry(boats, query("A, B+, C", gpms, partition=True, select="?v ?n ?cname"))
    over_graphs, said = tried(boats)
    assert over_graphs == over_columns
    assert "catch is answered over graphs: C is more than plain triples" in said


def test_several_rows_of_one_instant_are_one_graph(boats: Path) -> None:
    entry(boats, query("A", ["?v p:speed ?s . ?w p:speed ?s FILTER(?v != ?w)"], select="?v ?w"))
    rows, _ = tried(boats)
    assert {row["bindings"]["v"] + row["bindings"]["w"] for row in rows} == {
        "<urn:mmsi:1><urn:mmsi:2>",
        "<urn:mmsi:2><urn:mmsi:1>",
    }
    entry(boats, query("A", ["?v p:speed ?s FILTER(?s > 8)"], select="?v"))
    rows, said = tried(boats)
    assert len(rows) == 2
    assert "several rows are of one instant; with PARTITION BY" in said


def test_the_catalog_tells_the_path_and_why(boats: Path) -> None:
    shown = run(catalog_command, "show", "catch", "--patterns", boats / "catch.yaml").stdout
    assert "columns" in shown
    assert "stars around the subject that it is partitioned by" in " ".join(shown.split())
    entry(boats, query("A", ["?v p:speed/p:x ?s"]))
    shown = run(catalog_command, "show", "catch", "--patterns", boats / "catch.yaml").stdout
    assert "graphs" in shown
    assert "A is more than plain triples: only graphs answer it" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("subject: urn:mmsi\ncolumns: {p:a: b}\n", "'urn:mmsi' is no template of an IRI"),
        ("columns: {}\n", "subject: or columns: is missing"),
        ('subject: "urn:mmsi:{mmsi}"\ncolumns: {p:a: b}\n', "'p:a' is no IRI"),
        ('subject: "urn:mmsi:{mmsi}"\ncolumn: {}\n', "unknown key 'column'. Did you mean 'columns'"),
        ('subject: "urn:mmsi:{mmsi}"\ncolumns: {http://example/a: {column: b, type: text}}\n', "unknown type 'text'"),
        ('subject: "urn:mmsi:{mmsi}"\ncolumns: {http://example/a: [1]}\n', "names no column"),
    ],
)
def test_a_faulty_mapping_is_told(boats: Path, written: str, fault: str) -> None:
    (boats / "m.yaml").write_text(written)
    done = run(catalog_command, "check", boats / "catch.yaml")
    assert done.exit_code == 1
    assert "m.yaml: " in done.stderr
    assert fault in done.stderr


def test_a_column_that_is_not_there_is_told(boats: Path) -> None:
    mapping = (boats / "m.yaml").read_text()
    (boats / "m.yaml").write_text(mapping.replace("p:speed: speed", "p:speed: sped"))
    with pytest.raises(fs.InputError, match=r"m\.yaml: the events have no column 'sped'\. Did you mean 'speed'"):
        tried(boats)


def test_columns_need_no_engine_of_graphs(boats: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = [Q6[0], Q6[1], Q6[2].partition(" . GRAPH")[0]]
    entry(boats, query("A, B+, C", plain, partition=True, select="?v"), knowledge={})
    expected, _ = tried(boats)
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    engine.oxigraph.cache_clear()
    try:
        assert tried(boats)[0] == expected
        entry(boats, query("A", ["?v p:speed ?s OPTIONAL { ?v p:ice ?i }"]))
        with pytest.raises(engine.MissingEngineError, match="Install it: pip install 'foresail"):
            tried(boats)
    finally:
        engine.oxigraph.cache_clear()


def test_a_frame_of_positions_is_searched(boats: Path) -> None:
    frame = pa.csv.read_csv(boats / "positions.csv").slice(0, 6)
    found = fs.find(frame, boats / "catch.yaml")
    assert found.column("time").to_pylist()[0].second == 4
    assert len(found) == 1


def test_numbers_without_a_term_are_no_triples() -> None:
    table = pa.table(
        {
            **{name: pa.array([None] * 4, pa.string()) for name in ("location", "before", "zone")},
            "time": [1, 2, 3, 4],
            "mmsi": [1.0, 1.0, 1.0, None],
            "speed": [np.inf, 1e300, 0.1 + 0.2, 1.0],
            "direction": pa.array([2**60, 1, 1, 1]),
            "ice": [True] * 4,
            "draught": pa.array([None] * 4, pa.float64()),
        }
    )
    rows, _ = rows_of(table)
    said = [graph.text for graph in rows.graphs(BOATS)]
    assert "speed" not in said[0] + said[1]
    assert "direction" not in said[0]
    assert '"0.3"^^<http://www.w3.org/2001/XMLSchema#decimal>' in said[2]
    assert "<urn:mmsi:1>" in said[2]


@pytest.mark.spark
def test_spark_finds_the_same_rows(boats: Path, spark: Any) -> None:
    expected, _ = tried(boats)
    request = RecogniseRequest(
        [str(boats / "positions.csv")],
        catalog_named([str(boats / "catch.yaml")], None, {}, languages=True),
        boats / "out",
    )
    summary = run_languages(request, open_progress(quiet=True), spark)
    assert (summary["engine"], summary["bindings"], summary["events"], summary["rejected"]) == ("spark", 1, 7, 3)
    assert list(RESULTS.rows(pq.read_table(boats / "out" / "bindings"))) == expected
